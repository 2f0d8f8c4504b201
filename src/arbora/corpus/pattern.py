"""Patterns of words and arcs: what is searched for in trees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arbora.data.block import COLUMNS, Block
from arbora.errors import ArgumentError, PatternError

__all__ = [
    "COLUMN_NAMES",
    "Alternative",
    "Condition",
    "Pattern",
    "PatternArc",
    "PatternOrder",
    "PatternWord",
    "Values",
    "column_texts",
    "known_column",
]

# The columns that a condition may name, and their names in a sentence.
COLUMN_NAMES = {
    "form": "forms", "lemma": "lemmas", "upos": "upos", "xpos": "xpos", "feats": "feats",
    "misc": "misc",
}  # fmt: skip
_WITH_KEYS = ("feats", "misc")
_NONE = "_"


@dataclass(frozen=True)
class Alternative:
    """A value as it is written: a text, a regular expression, or a label with its subtypes."""

    text: str
    kind: str = "text"  # or "regex", "family"
    compiled: re.Pattern[str] | None = field(default=None, compare=False, repr=False)

    def fits(self, value: str) -> bool:
        """Whether a value is this one."""
        if self.kind == "family":
            return value == self.text or value.startswith(f"{self.text}:")
        if self.compiled is not None:
            return self.compiled.fullmatch(value) is not None
        return value == self.text

    def __str__(self) -> str:
        if self.kind == "regex":
            return f"/{self.text}/"
        if self.kind == "family":
            return f"{self.text}:*"
        escaped = self.text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'


@dataclass(frozen=True)
class Values:
    """Alternatives, of which one must fit, or none if they are negated."""

    alternatives: tuple[Alternative, ...]
    negated: bool = False
    at: int = field(default=0, compare=False)  # the place in the pattern

    def fit(self, value: str) -> bool:
        """Whether the value is allowed."""
        return any(one.fits(value) for one in self.alternatives) != self.negated

    def __str__(self) -> str:
        return "|".join(map(str, self.alternatives))


@dataclass(frozen=True)
class Condition:
    """What a column of a word must have; `feats.Case` and `misc.Gloss` are entries of columns."""

    column: str
    values: Values

    def __str__(self) -> str:
        return f"{self.column}{'!=' if self.values.negated else '='}{self.values}"


@dataclass(frozen=True)
class PatternWord:
    """A word, or the root symbol above the tree."""

    name: str
    conditions: tuple[Condition, ...] = ()
    is_root: bool = False

    def __str__(self) -> str:
        return "ROOT" if self.is_root else f"{self.name}:[{' & '.join(map(str, self.conditions))}]"


@dataclass(frozen=True)
class PatternArc:
    """An arc between two words of the pattern, by their places in it; None is any label."""

    head: int
    modifier: int
    label: Values | None = None


@dataclass(frozen=True)
class PatternOrder:
    """A word that comes before another, or directly before it."""

    before: int
    after: int
    adjacent: bool = False


@dataclass(frozen=True)
class Pattern:
    """Words, arcs between them, and their order in the sentence.

    A match is a choice of a different word of the sentence for each word of the pattern, so that
    all conditions hold.
    """

    text: str
    words: tuple[PatternWord, ...]
    arcs: tuple[PatternArc, ...] = ()
    orders: tuple[PatternOrder, ...] = ()

    def __str__(self) -> str:
        """The pattern in a normal form, which reads as the same pattern."""
        names = ["ROOT" if word.is_root else word.name for word in self.words]
        clauses = [str(word) for word in self.words if not word.is_root]
        for arc in self.arcs:
            label = arc.label
            middle = "" if label is None else f"-{'!' if label.negated else ''}{label}"
            clauses.append(f"{names[arc.head]} {middle}-> {names[arc.modifier]}")
        for order in self.orders:
            sign = "<" if order.adjacent else "<<"
            clauses.append(f"{names[order.before]} {sign} {names[order.after]}")
        return ", ".join(clauses)

    def place(self, name: str) -> int:
        """The place of a word by its name or its number, counted from 1."""
        for place, word in enumerate(self.words):
            if name in (word.name, str(place + 1)) and not word.is_root:
                return place
        known = [word.name for word in self.words if not word.is_root]
        raise ArgumentError(
            f"the pattern has no word {name!r}: choose {' or '.join(known)}, or a number from 1."
        )

    def allowed(self, labels: Sequence[str]) -> NDArray[np.bool_]:
        """Which labels each arc may have, (arcs, labels)."""
        rows = [
            [arc.label is None or arc.label.fit(label) for label in labels] for arc in self.arcs
        ]
        return np.array(rows, dtype=np.bool_).reshape(len(self.arcs), len(labels))

    def check_labels(self, labels: Sequence[str]) -> None:
        """Raises for an arc whose label none of these is."""
        for arc, allowed in zip(self.arcs, self.allowed(labels), strict=True):
            if arc.label is None or allowed.any():
                continue
            if not labels:
                problem = "this model has no labels, so write the arc without one, as ->"
            else:
                problem = f"the model has no such label; it has {', '.join(sorted(labels))}"
            raise PatternError(problem, self.text, arc.label.at)

    def candidates(self, block: Block) -> NDArray[np.bool_]:
        """The words of a block that each word of the pattern may be, (pattern words, words).

        The row of the root symbol is empty.
        """
        answer = np.ones((len(self.words), block.total_words), dtype=np.bool_)
        texts: dict[str, list[str]] = {}
        for row, word in zip(answer, self.words, strict=True):
            if word.is_root:
                row[:] = False
            for condition in word.conditions:
                if condition.column not in texts:
                    texts[condition.column] = column_texts(block, condition.column)
                column = texts[condition.column]
                fits = {value: condition.values.fit(value) for value in set(column)}
                row &= np.fromiter((fits[value] for value in column), np.bool_, len(column))
        return answer


def known_column(name: str) -> str | None:
    """Why a column cannot be named so; None if it can."""
    column, _, key = name.partition(".")
    if column not in COLUMN_NAMES:
        return f"there is no column {name!r}: use {', '.join(COLUMN_NAMES)} or feats.NAME"
    if "." in name and (column not in _WITH_KEYS or not key):
        return f"{name!r} is not a column: only feats and misc have entries, as in feats.Number"
    return None


def column_texts(block: Block, name: str) -> list[str]:
    """A column of all words of a block, or one entry of it (`_` if a word lacks it)."""
    column, _, key = name.partition(".")
    number = COLUMNS.index(COLUMN_NAMES[column])
    texts = [text for i in range(len(block)) for text in block.column(i, number)]
    if not key:
        return texts
    entries = {text: _entry(text, key) for text in set(texts)}
    return [entries[text] for text in texts]


def _entry(text: str, key: str) -> str:
    for entry in text.split("|"):
        name, sign, value = entry.partition("=")
        if name == key and sign:
            return value
    return _NONE
