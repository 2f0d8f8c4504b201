"""Gold and system side by side: the same words, as flat arrays over all sentences."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.arrays import as_iterator
from arbora.data import read_conllu
from arbora.data.source import ReadPath
from arbora.data.treebank import is_file
from arbora.errors import AlignmentError, ArgumentError
from arbora.evaluation.counts import TreeFaults
from arbora.evaluation.rules import EvaluationRule, rule_for
from arbora.evaluation.words import first_difference
from arbora.types import IntArray

__all__ = ["Aligned", "AnnotatedSentence", "AnnotatedSource", "align"]


class AnnotatedSentence(Protocol):
    """The columns of a sentence that evaluation reads."""

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
        """The name of the file format, which determines the rule."""
        ...


AnnotatedSource = ReadPath | Iterable[AnnotatedSentence]

_READ = ("forms", "xpos", "heads", "labels", "format")


@dataclass(frozen=True)
class Aligned:
    """The words of all sentences as flat arrays.

    `heads` and `labels` have one row for gold and one for each system; labels are indices into
    `names`. `starts` holds the index of each sentence's first word, then the number of words.
    `notes` are remarks on the figures.
    """

    rule: EvaluationRule
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
        """The words that the rule counts and gold annotates."""
        return self.annotated if self.rule.everything else self.annotated & ~self.punctuation

    @property
    def fully_annotated(self) -> NDArray[np.bool_]:
        """The words of fully annotated gold sentences."""
        gaps = np.bincount(self.sentence, ~self.annotated, len(self.lengths))
        return np.asarray(gaps == 0)[self.sentence]

    def check_counted(self) -> None:
        """Raises an error if there is no word to score."""
        if not self.counted.any():
            why = f"rule {self.rule.name!r} excludes every word"
            if not self.annotated.any():
                why = "no word has a head in gold"
            raise ArgumentError(f"there is nothing to score: {why}.")

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words of each sentence."""
        return np.diff(self.starts)

    @property
    def sentence(self) -> NDArray[np.int64]:
        """The index of each word's sentence."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)

    def compared_labels(self) -> tuple[IntArray, list[str]]:
        """The labels that the rule compares, as indices, and their names."""
        names: dict[str, int] = {}
        parts = [names.setdefault(self.rule.label(name), len(names)) for name in self.names]
        return np.array(parts, dtype=np.int32)[self.labels], list(names)

    def right_heads(self, system: int = 1) -> NDArray[np.bool_]:
        """Words with the gold head; a missing head is never right."""
        right: NDArray[np.bool_] = (self.heads[0] == self.heads[system]) & self.annotated
        return right

    def tree_faults(self, system: int = 1) -> TreeFaults:
        """The number of system sentences that are not trees or have several roots."""
        heads, n_words = self.heads[system], len(self.sentence)
        # Pointer doubling: `above` jumps 1, 2, 4, ... heads up. The root is a fixed point, and a
        # missing head counts as the root. Words that never arrive there lead into a cycle.
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
        """The notes, and one on the system's invalid trees if there are any."""
        said = self.tree_faults(system).in_words(name, self.rule.single_root)
        return (*self.notes, said) if said else self.notes


def align(
    gold: AnnotatedSource,
    *systems: AnnotatedSource,
    punctuation: str | None = None,
    format: str | None = None,  # noqa: A002  # the public name
    visit: Callable[..., object] | None = None,
    roles: Sequence[str] | None = None,
) -> Aligned:
    """Reads gold and systems in parallel; the first word that differs raises an error.

    `visit` is called with each sentence of gold and the same of the systems. `roles` name sources
    without a path in messages.
    """
    sources = [gold, *systems]
    names = _names(sources, roles)
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
        if visit is not None:
            visit(*row)
        for k, sentence in enumerate(row):
            heads[k].append(np.asarray(sentence.heads, dtype=np.int32))
            labels[k] += [ids.setdefault(label, len(ids)) for label in sentence.labels]
    if rule is None or not any(lengths):
        raise ArgumentError(f"there is nothing to score: {names[0]} has no words.")
    return Aligned(
        rule=rule,
        heads=np.array([np.concatenate(column) for column in heads]),
        labels=np.array(labels, dtype=np.int32),
        names=list(ids),
        punctuation=np.array(is_punctuation),
        starts=np.cumsum([0, *lengths]),
        notes=_notes_on_format(readers[0], names[0]) if punctuation is None else (),
    )


def _sentences(source: AnnotatedSource, file_format: str | None) -> Iterator[AnnotatedSentence]:
    if is_file(source):
        return read_conllu(cast("ReadPath", source), file_format)
    return _checked(cast("Iterable[object]", source))


def _checked(source: Iterable[object]) -> Iterator[AnnotatedSentence]:
    for sentence in as_iterator(source, "sentences come from a path, an open file or a list"):
        if not all(hasattr(sentence, name) for name in _READ):
            raise ArgumentError(
                f"sentences need heads and labels to be scored, but {type(sentence).__name__} has "
                "none."
            )
        yield cast("AnnotatedSentence", sentence)


def _notes_on_format(gold: Iterator[AnnotatedSentence], name: str) -> tuple[str, ...]:
    if getattr(gold, "format_known", True):
        return ()
    return (
        f"{name} could be CoNLL-U or CoNLL-X and is scored by the CoNLL-U rule; give the format or "
        "the rule if it is CoNLL-X.",
    )


def _names(sources: Sequence[AnnotatedSource], roles: Sequence[str] | None) -> list[str]:
    """The name of each source in messages: its path, or its role."""
    usual = ["the gold", "the system"] if len(sources) < 3 else ["the gold", "system A", "system B"]
    parts = usual if roles is None else roles
    return [
        _file_name(source) if isinstance(source, str | os.PathLike) else part
        for source, part in zip(sources, parts, strict=True)
    ]


def _file_name(path: str | os.PathLike[str]) -> str:
    return "standard input" if path == "-" else os.fspath(path)


def _check_same_words(
    number: int, row: Sequence[AnnotatedSentence | None], names: Sequence[str]
) -> None:
    gold = row[0]
    for system, name in zip(row[1:], names[1:], strict=True):
        if gold is None or system is None:
            short, long = (names[0], name) if gold is None else (name, names[0])
            place = _line(gold or system)
            raise AlignmentError(
                f"{short} ends after {number - 1} sentences, but {long} continues{place}."
            )
        word = first_difference(gold, system)
        if word is not None:
            ours, theirs = (_quoted(sentence.forms, word) for sentence in (gold, system))
            raise AlignmentError(
                f"sentence {number}, word {word} is {ours} in {names[0]}{_line(gold)} "
                f"but {theirs} in {name}{_line(system)}: "
                "both must have the same words in the same order."
            )


def _quoted(forms: Sequence[str], word: int) -> str:
    return "missing" if word > len(forms) else f"“{forms[word - 1]}”"


def _line(sentence: object) -> str:
    """The line where the sentence begins, if it is known."""
    line = getattr(sentence, "line", None)
    return "" if line is None else f" (sentence at line {line})"
