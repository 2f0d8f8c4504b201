"""The values that every layer understands."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FloatArray", "IntArray", "Root", "Samples", "Tree", "TreeClass"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Root = Literal["single", "multi"]
TreeClass = Literal["nonprojective", "projective"]


class Tree:
    """A tree and its score.

    `heads[m - 1]` is the head of word m and 0 is the root symbol, as in a HEAD column; `labels`
    is None without labels; `score` is the model's score, the sum of the scores of the arcs.
    A value: both arrays are read-only, and trees with the same heads and labels are equal.
    `np.asarray(tree)` is `tree.heads`.
    """

    __slots__ = ("_heads", "_labels", "_score")

    def __init__(self, heads: IntArray, labels: IntArray | None, score: float) -> None:
        self._heads = heads
        self._labels = labels
        self._score = score

    @property
    def heads(self) -> IntArray:
        return self._heads

    @property
    def labels(self) -> IntArray | None:
        return self._labels

    @property
    def score(self) -> float:
        return self._score

    def __repr__(self) -> str:
        labels = "" if self.labels is None else f", labels={self.labels.tolist()}"
        return f"Tree(heads={self.heads.tolist()}{labels}, score={self.score:.6g})"

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """The arcs as pairs (head, modifier), in word order."""
        return [(int(head), word) for word, head in enumerate(self.heads, start=1)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _tree, (self.heads, self.labels, self.score)

    def __len__(self) -> int:
        return len(self.heads)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.heads, dtype=dtype, copy=True if copy is None else copy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bytes, bytes | None]:
        return self.heads.tobytes(), None if self.labels is None else self.labels.tobytes()


def _tree(heads: IntArray, labels: IntArray | None, score: float) -> Tree:
    """A tree from a pickle, out of which arrays come writable."""
    heads.setflags(write=False)
    if labels is not None:
        labels.setflags(write=False)
    return Tree(heads, labels, score)


class Samples(NamedTuple):
    """Draws with labels: both arrays have one row per draw and one column per word."""

    heads: IntArray
    labels: IntArray
