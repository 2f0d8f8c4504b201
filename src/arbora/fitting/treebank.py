"""Encoded sentences with their annotation, for training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.features import Encoded, Encoder
from arbora.losses import Gold
from arbora.scoring import Batch
from arbora.types import IntArray

__all__ = [
    "KeptArcs",
    "Tick",
    "Treebank",
    "batches",
    "by_length",
    "gold_of",
    "hold_out",
    "label_names",
]

_TOO_FEW = 20  # sentences, to hold any out

Tick = Callable[[int], None]  # called with the number of sentences processed


@dataclass(frozen=True)
class Treebank:
    """Sentences of a block with heads and label indices; -1 is unknown.

    Heads and labels are flat arrays over all sentences. They are the training targets and may
    differ from the block's.
    """

    encoded: Encoded
    heads: IntArray
    labels: IntArray
    kept: KeptArcs | None = None  # None: all arcs

    @classmethod
    def from_block(
        cls,
        block: Block,
        encoder: Encoder,
        label_names: list[str],
        sentences: NDArray[np.int64] | None = None,
    ) -> Treebank:
        """All sentences of a block, or the given ones."""
        whole = cls(
            encoder.encode(block, sentences), np.array(block.heads), block.label_ids(label_names)
        )
        if sentences is None:
            return whole
        counts = block.n_words
        words = _runs((np.cumsum(counts) - counts)[sentences], counts[sentences])
        return cls(whole.encoded, whole.heads[words], whole.labels[words])

    @cached_property
    def first_word(self) -> NDArray[np.int64]:
        """The index of each sentence's first word, and the number of words."""
        return np.concatenate([[0], np.cumsum(self.encoded.n_words)])

    def __len__(self) -> int:
        return len(self.encoded)

    def words(self, sentences: NDArray[np.int64]) -> NDArray[np.int64]:
        """The indices of the given sentences' words in flat arrays."""
        return _runs(self.first_word[sentences], self.encoded.n_words[sentences])

    def heads_of(self, sentence: int) -> IntArray:
        """The heads of one sentence, (n,); -1 is unknown."""
        return self.heads[self.first_word[sentence] : self.first_word[sentence + 1]]

    def with_heads(self, heads: IntArray) -> Treebank:
        """The same sentences with other heads (a flat array)."""
        return replace(self, heads=heads)

    def hiding_words(self, amount: float, seed: int) -> Treebank:
        """The same sentences with some words hidden; see `Encoded.hiding`."""
        return replace(self, encoded=self.encoded.hiding(amount, seed))

    def batch(self, sentences: NDArray[np.int64]) -> Batch:
        """A batch of the given sentences."""
        words = self.words(sentences)
        kept = self.kept.of(sentences) if self.kept is not None else np.zeros(0, dtype=np.uint8)
        return Batch(self.encoded, sentences, self.heads[words], self.labels[words], kept)


class KeptArcs:
    """Masks of the arcs of each sentence that are left after pruning."""

    def __init__(self, n_words: NDArray[np.int64]) -> None:
        self._first = np.concatenate([[0], np.cumsum((n_words + 1) ** 2)])
        self._kept = np.zeros(int(self._first[-1]), dtype=np.uint8)

    def put(self, sentences: NDArray[np.int64], kept: NDArray[np.uint8]) -> None:
        """Sets the masks of some sentences."""
        start = 0
        for i in sentences.tolist():
            size = int(self._first[i + 1] - self._first[i])
            self._kept[self._first[i] : self._first[i + 1]] = kept[start : start + size]
            start += size

    def of(self, sentences: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The concatenated masks of some sentences."""
        pieces = [self._kept[self._first[i] : self._first[i + 1]] for i in sentences.tolist()]
        return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.uint8)


def gold_of(batch: Batch, n_labels: int | None, hidden: bool = False) -> Gold:
    """The annotation for scores with `n_labels` outcomes per arc, hidden or annotated."""
    if n_labels is None:
        return Gold(batch.layout, batch.heads)
    labels = np.full_like(batch.heads, -1) if hidden else batch.labels
    return Gold(batch.layout, batch.heads, labels, n_labels)


def batches(
    treebank: Treebank, order: NDArray[np.int64], size: int, tick: Tick | None = None
) -> Iterator[Batch]:
    """The sentences in the given order, `size` at a time; calls `tick` after each batch."""
    for start in range(0, len(order), size):
        batch = treebank.batch(order[start : start + size])
        yield batch
        if tick is not None:
            tick(len(batch))


def by_length(
    n_words: NDArray[np.int64], order: NDArray[np.int64], size: int
) -> list[NDArray[np.int64]]:
    """Batches of sentences of similar lengths, with as many words as `size` sentences on average.

    Their number and their lengths are the same for every order; their order is that of their
    first sentences.
    """
    ordered = order[np.argsort(n_words[order], kind="stable")]
    words = np.cumsum(n_words[ordered])
    count = -(-len(order) // size)
    marks = np.searchsorted(words, words[-1] * np.arange(1, count) / count, side="left") + 1
    found = [piece for piece in np.split(ordered, np.unique(marks)) if len(piece)]
    place = np.empty(len(n_words), dtype=np.int64)
    place[order] = np.arange(len(order))
    return sorted(found, key=lambda piece: int(place[piece[0]]))


def label_names(block: Block) -> list[str]:
    """The labels of words that have a head.

    In CoNLL-U `_` is a missing label unless there is no other; elsewhere it is an ordinary label.
    """
    names = [name for name, _ in block.column_names(7)]
    ids = np.asarray(block.label_ids(names))
    used = np.unique(ids[np.asarray(block.heads) >= 0])
    found = [names[i] for i in used.tolist()]
    if not block.layout.universal:
        return found
    return [name for name in found if name != "_"] or found


def hold_out(train: Block, dev: Block | None, share: float) -> tuple[NDArray[np.int64] | None, ...]:
    """The sentences to train on (None: all), and those held out for early stopping, if any.

    Without dev data the last sentences are held out, by default a tenth.
    """
    kept = len(train) - int(share * len(train))
    if dev is not None or len(train) < _TOO_FEW or kept == len(train):
        return None, None
    return np.arange(kept), np.arange(kept, len(train))


def _runs(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """first[0], first[0] + 1, ... (counts[0] numbers), first[1], ..."""
    return np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
