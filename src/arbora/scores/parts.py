"""Scores of second order: arcs, and parts of a few arcs that are scored together.

`Parts` is the form for users, one sentence: index arrays and scores. `Scores` is the form for the
kernels, many sentences: for every kind one flat array, in which the parts of a head form small
dense tables (`cpp/include/arbora/tree/part_index.hpp`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._core import scores as kernels
from arbora.arrays import as_array, as_heads, as_real
from arbora.errors import ArgumentError, NoTreeError, ScoreError, ShapeError
from arbora.scores.kinds import KINDS, PART_KINDS, PartKind, kind_number
from arbora.types import FloatArray

__all__ = ["PartList", "Parts", "part_batch"]

_COLUMNS = {kind.name: kind.columns for kind in PART_KINDS}
_RULES = {kind.name: kind.rule for kind in PART_KINDS}


class PartList(NamedTuple):
    """Parts of one kind: a row of numbers and a score for each."""

    rows: NDArray[np.int64]
    scores: FloatArray


class Parts:
    """Scores of a sentence's arcs and of parts of two or three arcs.

    `arcs[h, m]`, shape (n+1, n+1), is the score of an arc; -inf forbids it. Each kind of parts is a
    pair of an integer index array (k, columns) and scores (k,); parts that are not listed score 0.
    Columns:

    - consecutive_siblings: (head, side, previous, next), modifiers that follow each other outwards
      from the head; side 0 is left, 1 right; -1 is START as previous and END as next.
    - siblings: (head, modifier, modifier), any two modifiers of a head, the smaller first.
    - grandparents: (grandparent, head, modifier).
    - grandsiblings: (grandparent, head, side, previous, next).
    - head_bigrams: (modifier, head of the word before, head), for the second and all later words.

    The grandparent of the root is -1. A tree's score is the sum over its arcs and parts.
    """

    def __init__(
        self,
        arcs: ArrayLike,
        consecutive_siblings: tuple[ArrayLike, ArrayLike] | None = None,
        siblings: tuple[ArrayLike, ArrayLike] | None = None,
        grandparents: tuple[ArrayLike, ArrayLike] | None = None,
        grandsiblings: tuple[ArrayLike, ArrayLike] | None = None,
        head_bigrams: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        self.arcs = _checked_arcs(arcs)
        given = (consecutive_siblings, siblings, grandparents, grandsiblings, head_bigrams)
        self._lists: dict[PartKind, PartList] = {
            kind: _checked_list(kind, pair)
            for kind, pair in zip(KINDS, given, strict=True)
            if pair is not None
        }
        kept = (self.arcs > -np.inf).view(np.uint8).reshape(-1)
        self._index = part_batch(kept, [self.n_words], self.kinds, 1)
        self._numbers = {kind: self._checked_numbers(kind) for kind in self._lists}

    @property
    def n_words(self) -> int:
        """Number of words, n."""
        return len(self.arcs) - 1

    @property
    def kinds(self) -> tuple[PartKind, ...]:
        """The kinds of parts that were given."""
        return tuple(self._lists)

    @property
    def consecutive_siblings(self) -> PartList | None:
        """Rows (head, side, previous, next), int64 (k, 4), and scores (k,); None if not given."""
        return self._lists.get("consecutive_siblings")

    @property
    def siblings(self) -> PartList | None:
        """Rows (head, modifier, modifier), int64 (k, 3), and scores (k,); None if not given."""
        return self._lists.get("siblings")

    @property
    def grandparents(self) -> PartList | None:
        """Rows (grandparent, head, modifier), int64 (k, 3), and scores (k,); None if not given."""
        return self._lists.get("grandparents")

    @property
    def grandsiblings(self) -> PartList | None:
        """Rows (grandparent, head, side, previous, next), int64 (k, 5), and scores (k,)."""
        return self._lists.get("grandsiblings")

    @property
    def head_bigrams(self) -> PartList | None:
        """Rows (modifier, head of the word before, head), int64 (k, 3), and scores (k,)."""
        return self._lists.get("head_bigrams")

    def score(self, heads: ArrayLike) -> float:
        """The score of a tree; -inf if it has a forbidden arc."""
        array = as_heads(heads, self.n_words).astype(np.int32)
        if array.ndim != 1:
            raise ShapeError(
                f"heads must be of one tree, shape ({self.n_words},), not {array.shape}."
            )
        total = float(self.arcs[array, np.arange(1, self.n_words + 1)].sum())
        if np.isneginf(total):
            return total
        index, tables = self.tables()
        for kind in self.kinds:
            total += float(tables[kind][index.of_tree(kind_number(kind), 0, array)].sum())
        return total

    def tables(self) -> tuple[kernels.PartBatch, dict[PartKind, FloatArray]]:
        """The index of all parts over the allowed arcs, and their scores: 0 if not given."""
        tables = {}
        for kind, (_, scores) in self._lists.items():
            table = np.zeros(self._index.first(kind_number(kind), 1))
            table[self._numbers[kind]] = scores
            tables[kind] = table
        return self._index, tables

    def listed(self, kind: PartKind, values: FloatArray) -> FloatArray:
        """The values of a table of this sentence, in the order in which the parts were given."""
        return values[self._numbers[kind]]

    def __reduce__(self) -> tuple[Any, ...]:
        return Parts, (self.arcs, *(self._lists.get(kind) for kind in KINDS))

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(given.scores)} {kind}" for kind, given in self._lists.items())
        return f"Parts({self.n_words} words{', ' + counts if counts else ''})"

    def _checked_numbers(self, kind: PartKind) -> NDArray[np.int64]:
        index = self._lists[kind].rows
        numbers = self._index.numbers(kind_number(kind), 0, index.reshape(-1))
        bad = np.flatnonzero(numbers < 0)
        if len(bad):
            row = index[bad[0]]
            why = {
                -1: f"a number is out of range: words are 1 to {self.n_words}, 0 is the root; "
                + _RULES[kind],
                -2: "it has an arc that is forbidden (-inf in arcs): leave the part out",
                -3: "its numbers are in the wrong order: " + _RULES[kind],
            }[int(numbers[bad[0]])]
            raise ArgumentError(f"{kind}[{bad[0]}] is {_shown(kind, row)}, but {why}.")
        ordered = np.argsort(numbers, kind="stable")
        again = np.flatnonzero(np.diff(numbers[ordered]) == 0)
        if len(again):
            first, second = sorted(ordered[again[0] : again[0] + 2].tolist())
            raise ArgumentError(
                f"{kind}[{second}] is {_shown(kind, index[second])}, the same part as "
                f"{kind}[{first}]: give each part once."
            )
        return numbers


def part_batch(
    kept: NDArray[np.uint8],
    n_words: Sequence[int] | NDArray[np.int64],
    kinds: Sequence[PartKind],
    threads: int,
) -> kernels.PartBatch:
    """The index of all parts of the given kinds over the kept arcs."""
    counts = np.asarray(n_words, dtype=np.int64)
    return kernels.part_batch(kept, counts, [kind_number(kind) for kind in kinds], threads)


def _checked_arcs(arcs: ArrayLike) -> FloatArray:
    array = as_real(arcs, "arcs")
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise ShapeError(f"arcs must have shape (n+1, n+1) with n at least 1, not {array.shape}.")
    scores = np.array(array, dtype=np.float64)
    scores[:, 0] = -np.inf
    np.fill_diagonal(scores, -np.inf)
    bad = np.argwhere(~(np.abs(scores) <= kernels.LARGEST_SCORE) & ~np.isneginf(scores))
    if len(bad):
        h, m = bad[0].tolist()
        raise ScoreError(
            f"arcs[{h}, {m}] is {scores[h, m]}: scores are numbers up to "
            f"{kernels.LARGEST_SCORE:g} in magnitude, or -inf."
        )
    problem, word = kernels.problem(scores.reshape(-1), len(scores) - 1)
    if problem:
        why = "has no possible head" if problem == 1 else "cannot be reached from the root"
        raise NoTreeError(f"there is no tree: word {word} {why} over the allowed arcs.", word)
    scores.setflags(write=False)
    return scores


def _checked_list(kind: PartKind, pair: tuple[ArrayLike, ArrayLike]) -> PartList:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ArgumentError(f"{kind} must be a pair of an index array and a score array.")
    index, scores = as_array(pair[0], f"{kind} index"), as_real(pair[1], f"{kind} scores")
    width = len(_COLUMNS[kind])
    if index.size == 0:
        index = np.zeros((0, width), dtype=np.int64)
    if index.dtype.kind not in "iu" or index.ndim != 2 or index.shape[1] != width:
        columns = ", ".join(_COLUMNS[kind])
        raise ShapeError(
            f"the index of {kind} must be whole numbers of shape (k, {width}), columns "
            f"({columns}), not {index.dtype} of shape {index.shape}."
        )
    if scores.shape != (len(index),):
        raise ShapeError(
            f"{kind} has {len(index)} parts and scores of shape {scores.shape}: give one each."
        )
    values = np.array(scores, dtype=np.float64)
    bad = np.flatnonzero(~(np.abs(values) <= kernels.LARGEST_SCORE))
    if len(bad):
        raise ScoreError(
            f"the score of {kind}[{bad[0]}] is {values[bad[0]]}: parts score finite numbers up to "
            f"{kernels.LARGEST_SCORE:g} in magnitude; forbid arcs, not parts."
        )
    answer = PartList(np.array(index, dtype=np.int64), values)
    for array in answer:
        array.setflags(write=False)
    return answer


def _shown(kind: PartKind, row: NDArray[np.int64]) -> str:
    pairs = zip(_COLUMNS[kind], row.tolist(), strict=True)
    return "(" + ", ".join(f"{name} {value}" for name, value in pairs) + ")"
