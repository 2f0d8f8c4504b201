"""Statistics of treebanks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from arbora._core import data as _core
from arbora.data.block import Block
from arbora.data.blocks import OnError, read_blocks
from arbora.data.sentence import Sentence
from arbora.data.source import ReadPath

__all__ = ["TreebankStats", "treebank_stats"]

_DEPREL = 7


@dataclass(frozen=True)
class TreebankStats:
    """Counts over sentences; two of them add up.

    A non-projective arc has a word strictly between its ends that its head does not dominate; arcs
    from the root are never counted. A crossing arc crosses at least one other, arcs from the root
    (left of the sentence) included. A sentence is non-projective if it has a non-projective arc and
    multi-root if several words have head 0. Shares of arcs are shares of words. In sentences
    with missing heads no arc counts as non-projective or crossing.
    """

    sentences: int = 0
    tokens: int = 0
    nonprojective_arcs: int = 0
    crossing_arcs: int = 0
    nonprojective_sentences: int = 0
    multiroot_sentences: int = 0
    missing_heads: int = 0
    label_counts: dict[str, int] = field(default_factory=dict)
    length_histogram: dict[int, int] = field(default_factory=dict)

    @property
    def labels(self) -> int:
        """Number of different labels."""
        return len(self.label_counts)

    @property
    def mean_length(self) -> float:
        """Mean number of words per sentence."""
        return self.tokens / max(self.sentences, 1)

    @property
    def max_length(self) -> int:
        """Number of words of the longest sentence."""
        return max(self.length_histogram, default=0)

    @property
    def nonprojective_arcs_percent(self) -> float:
        """Percentage of words whose arc is non-projective."""
        return 100 * self.nonprojective_arcs / max(self.tokens, 1)

    @property
    def crossing_arcs_percent(self) -> float:
        """Percentage of words whose arc crosses another."""
        return 100 * self.crossing_arcs / max(self.tokens, 1)

    @property
    def nonprojective_sentences_percent(self) -> float:
        """Percentage of sentences with a non-projective arc."""
        return 100 * self.nonprojective_sentences / max(self.sentences, 1)

    @property
    def multiroot_sentences_percent(self) -> float:
        """Percentage of sentences with several roots."""
        return 100 * self.multiroot_sentences / max(self.sentences, 1)

    def to_dict(self) -> dict[str, Any]:
        """All statistics, ready for JSON."""
        return {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "labels": self.labels,
            "nonprojective_arcs": self.nonprojective_arcs,
            "nonprojective_arcs_percent": self.nonprojective_arcs_percent,
            "crossing_arcs": self.crossing_arcs,
            "crossing_arcs_percent": self.crossing_arcs_percent,
            "nonprojective_sentences": self.nonprojective_sentences,
            "nonprojective_sentences_percent": self.nonprojective_sentences_percent,
            "multiroot_sentences": self.multiroot_sentences,
            "multiroot_sentences_percent": self.multiroot_sentences_percent,
            "missing_heads": self.missing_heads,
            "mean_length": self.mean_length,
            "max_length": self.max_length,
            "length_histogram": {str(k): v for k, v in self.length_histogram.items()},
            "label_counts": self.label_counts,
        }

    def __add__(self, other: TreebankStats) -> TreebankStats:
        return TreebankStats(
            self.sentences + other.sentences,
            self.tokens + other.tokens,
            self.nonprojective_arcs + other.nonprojective_arcs,
            self.crossing_arcs + other.crossing_arcs,
            self.nonprojective_sentences + other.nonprojective_sentences,
            self.multiroot_sentences + other.multiroot_sentences,
            self.missing_heads + other.missing_heads,
            _added(self.label_counts, other.label_counts),
            _added(self.length_histogram, other.length_histogram),
        )


def treebank_stats(
    source: ReadPath | Iterable[Sentence],
    *,
    format: str | None = None,  # noqa: A002  # as in read_conllu
    skip_bad: bool = False,
    on_error: OnError | None = None,
) -> TreebankStats:
    """Counts a file (whose heads must be trees; options as in `read_conllu`) or sentences."""
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        total = TreebankStats()
        path = cast(ReadPath, source)
        for chunk in read_blocks(path, format, skip_bad, on_error, trees=True):
            total += _of_block(chunk.block)
        return total
    labels: Counter[str] = Counter()
    shapes, lengths, missing = [], [], 0
    for sentence in source:
        heads = sentence.heads
        gaps = int((heads < 0).sum())
        shapes.append(_core.tree_shape(heads) if not gaps else (0, 0, int((heads == 0).sum())))
        lengths.append(len(heads))
        missing += gaps
        labels.update(sentence.labels)
    nonprojective, crossing, roots = np.array(shapes, dtype=np.int64).reshape(-1, 3).T
    return _counted(
        np.array(lengths, dtype=np.int64), nonprojective, crossing, roots, missing, labels
    )


def _of_block(block: Block) -> TreebankStats:
    lengths = block.n_words
    gaps = np.add.reduceat((block.heads < 0).astype(np.int64), np.cumsum(lengths) - lengths)
    nonprojective, crossing, roots = block.tree_shapes()
    nonprojective, crossing = (np.where(gaps == 0, x, 0) for x in (nonprojective, crossing))
    labels = dict(block.column_names(_DEPREL))
    return _counted(lengths, nonprojective, crossing, roots, int(gaps.sum()), labels)


def _counted(
    lengths: Any, nonprojective: Any, crossing: Any, roots: Any, missing: int,
    labels: dict[str, int],
) -> TreebankStats:  # fmt: skip
    values, counts = np.unique(lengths, return_counts=True)
    return TreebankStats(
        sentences=len(lengths),
        tokens=int(lengths.sum()),
        nonprojective_arcs=int(nonprojective.sum()),
        crossing_arcs=int(crossing.sum()),
        nonprojective_sentences=int((nonprojective > 0).sum()),
        multiroot_sentences=int((roots > 1).sum()),
        missing_heads=missing,
        label_counts=dict(sorted(labels.items())),
        length_histogram=dict(zip(values.tolist(), counts.tolist(), strict=True)),
    )


def _added(one: dict[Any, int], other: dict[Any, int]) -> dict[Any, int]:
    return dict(sorted((Counter(one) + Counter(other)).items()))
