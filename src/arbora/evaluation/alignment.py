"""Gold and system side by side: the same words, as flat arrays over all sentences."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.arrays import as_iterator
from arbora.data import read_conllu
from arbora.data.source import ReadPath
from arbora.data.whole import is_file
from arbora.errors import AlignmentError, ArgumentError
from arbora.evaluation.counts import TreeFaults
from arbora.evaluation.rules import Rule, rule_for
from arbora.evaluation.words import first_difference
from arbora.types import IntArray

__all__ = ["Aligned", "ParsedSentence", "Source", "align"]


class ParsedSentence(Protocol):
    """What evaluation reads of a sentence."""

    @property
    def forms(self) -> Sequence[str]:
        """The form of every word."""
        ...

    @property
    def xpos(self) -> Sequence[str]:
        """The language-specific tag of every word."""
        ...

    @property
    def heads(self) -> ArrayLike:
        """The head of every word, (n,); -1 is missing."""
        ...

    @property
    def labels(self) -> Sequence[str]:
        """The label of every word."""
        ...

    @property
    def format(self) -> str:
        """The name of the file format, which chooses the rule."""
        ...


Source = ReadPath | Iterable[ParsedSentence]

_READ = ("forms", "xpos", "heads", "labels", "format")


@dataclass(frozen=True)
class Aligned:
    """All words of all sentences in one row.

    `heads` and `labels` have one row for gold and one for each system; labels are numbers into
    `names`. `starts` holds each sentence's first word and, last, the number of words. `notes` are
    sentences about what the figures depend on.
    """

    rule: Rule
    heads: IntArray
    labels: IntArray
    names: list[str]
    punctuation: NDArray[np.bool_]
    starts: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    @property
    def annotated(self) -> NDArray[np.bool_]:
        """The words that have a head in gold."""
        known: NDArray[np.bool_] = self.heads[0] >= 0
        return known

    @property
    def counted(self) -> NDArray[np.bool_]:
        """The words that the rule scores and gold knows."""
        return self.annotated if self.rule.everything else self.annotated & ~self.punctuation

    @property
    def whole(self) -> NDArray[np.bool_]:
        """The words of sentences whose every word has a head in gold."""
        gaps = np.bincount(self.sentence, ~self.annotated, len(self.lengths))
        return np.asarray(gaps == 0)[self.sentence]

    def check_counted(self) -> None:
        """Refuses to score nothing at all."""
        if not self.counted.any():
            why = f"rule {self.rule.name!r} leaves every word out"
            if not self.annotated.any():
                why = "no word has a head in the gold"
            raise ArgumentError(f"there is nothing to score: {why}")

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words of each sentence."""
        return np.diff(self.starts)

    @property
    def sentence(self) -> NDArray[np.int64]:
        """The sentence of each word."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)

    def compared_labels(self) -> tuple[IntArray, list[str]]:
        """The labels as the rule sees them, with their names."""
        names: dict[str, int] = {}
        parts = [names.setdefault(self.rule.label(name), len(names)) for name in self.names]
        return np.array(parts, dtype=np.int32)[self.labels], list(names)

    def right_heads(self, system: int = 1) -> NDArray[np.bool_]:
        """Words whose head is gold's; a missing head is never right."""
        right: NDArray[np.bool_] = (self.heads[0] == self.heads[system]) & self.annotated
        return right

    def tree_faults(self, system: int = 1) -> TreeFaults:
        """How many sentences of a system are no trees, or trees with several roots."""
        heads, n_words = self.heads[system], len(self.sentence)
        # Every word goes up to its head and from there twice as far each time: the root, where
        # missing heads lead too, is left by nobody, and whoever does not come there is on a cycle.
        above = np.where(heads > 0, self.starts[self.sentence] + heads - 1, n_words)
        above = np.append(np.minimum(above, n_words), n_words)
        for _ in range(int(self.lengths.max()).bit_length()):
            above = above[above]
        roots = np.bincount(self.sentence, heads == 0, len(self.lengths))
        return TreeFaults(
            cycles=len(np.unique(self.sentence[above[:-1] < n_words])),
            several_roots=int((roots > 1).sum()),
            missing_heads=len(np.unique(self.sentence[heads < 0])),
        )

    def notes_on(self, system: int, name: str) -> tuple[str, ...]:
        """The notes, and what is to be said of a system's trees."""
        said = self.tree_faults(system).in_words(name, self.rule.single_root)
        return (*self.notes, said) if said else self.notes


def align(
    gold: Source,
    *systems: Source,
    punctuation: str | None = None,
    format: str | None = None,  # noqa: A002  # the public name
) -> Aligned:
    """Reads gold and systems in step; refuses them at the first word that differs."""
    sources = [gold, *systems]
    names = _names(sources)
    heads: list[list[NDArray[np.int32]]] = [[] for _ in sources]
    labels: list[list[int]] = [[] for _ in sources]
    ids: dict[str, int] = {}
    is_punctuation: list[bool] = []
    lengths: list[int] = []
    rule = None
    readers = [_sentences(source, format) for source in sources]
    rows = zip_longest(*readers)
    for number, row in enumerate(rows, start=1):
        _check_same_words(number, row, names)
        if rule is None:
            rule = rule_for(punctuation, row[0].format)
        is_punctuation += rule.punctuation(row[0])
        lengths.append(len(row[0].forms))
        for k, sentence in enumerate(row):
            heads[k].append(np.asarray(sentence.heads, dtype=np.int32))
            labels[k] += [ids.setdefault(label, len(ids)) for label in sentence.labels]
    if rule is None or not any(lengths):
        raise ArgumentError(f"there is nothing to score: {names[0]} holds no words")
    return Aligned(
        rule=rule,
        heads=np.array([np.concatenate(column) for column in heads]),
        labels=np.array(labels, dtype=np.int32),
        names=list(ids),
        punctuation=np.array(is_punctuation),
        starts=np.cumsum([0, *lengths]),
        notes=_notes_on_format(readers[0], names[0]) if punctuation is None else (),
    )


def _sentences(source: Source, file_format: str | None) -> Iterator[ParsedSentence]:
    if is_file(source):
        return read_conllu(cast("ReadPath", source), file_format)
    return _checked(cast("Iterable[object]", source))


def _checked(source: Iterable[object]) -> Iterator[ParsedSentence]:
    for sentence in as_iterator(source, "sentences come from a path, an open file or a list"):
        if not all(hasattr(sentence, name) for name in _READ):
            raise ArgumentError(
                f"what is scored are sentences with heads and labels, not {type(sentence).__name__}"
            )
        yield cast("ParsedSentence", sentence)


def _notes_on_format(gold: Iterator[ParsedSentence], name: str) -> tuple[str, ...]:
    if getattr(gold, "format_known", True):
        return ()
    return (
        f"nothing in {name} tells CoNLL-U from CoNLL-X, so it is scored by the rule of CoNLL-U; "
        "give the format or the rule if it is CoNLL-X.",
    )


def _names(sources: Sequence[Source]) -> list[str]:
    """What messages call each source: its path, or its part."""
    parts = ["the gold", "the system"]
    if len(sources) > 2:
        parts = ["the gold", "system A", "system B"]
    return [
        _file_name(source) if isinstance(source, str | os.PathLike) else part
        for source, part in zip(sources, parts, strict=True)
    ]


def _file_name(path: str | os.PathLike[str]) -> str:
    return "standard input" if path == "-" else os.fspath(path)


def _check_same_words(
    number: int, row: Sequence[ParsedSentence | None], names: Sequence[str]
) -> None:
    gold = row[0]
    for system, name in zip(row[1:], names[1:], strict=True):
        if gold is None or system is None:
            short, long = (names[0], name) if gold is None else (name, names[0])
            place = _line(gold or system)
            raise AlignmentError(
                f"{short} ends after {number - 1} sentences, but {long} goes on{place}"
            )
        word = first_difference(gold, system)
        if word is not None:
            ours, theirs = (_quoted(sentence.forms, word) for sentence in (gold, system))
            raise AlignmentError(
                f"sentence {number}, word {word} is {ours} in {names[0]}{_line(gold)} "
                f"but {theirs} in {name}{_line(system)}: "
                "both must hold the same words in the same order"
            )


def _quoted(forms: Sequence[str], word: int) -> str:
    return "missing" if word > len(forms) else f"“{forms[word - 1]}”"


def _line(sentence: object) -> str:
    """Where the sentence begins, if it knows."""
    line = getattr(sentence, "line", None)
    return "" if line is None else f" (sentence at line {line})"
