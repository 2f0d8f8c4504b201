"""Random scores for many sentences, with the scores of all trees over a few words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from arbora.scores import KINDS, PartKind, Scores
from arbora.testing.enumeration import enumerate_trees
from arbora.types import FloatArray, IntArray, Root, TreeClass

__all__ = ["RandomInstances"]


class RandomInstances:
    """Random scores for every part of `count` sentences of n words, and all trees' scores.

    A share `forbidden` of the arcs is forbidden, but one projective single-root tree is always
    allowed. With `ties`, scores are small whole numbers, otherwise normal numbers of several
    scales.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        count: int,
        n_words: int,
        kinds: Sequence[PartKind],
        *,
        forbidden: float = 0.0,
        ties: bool = False,
    ) -> None:
        self.n_words, self.kinds = n_words, tuple(kinds)
        side = n_words + 1
        scale = 1.0 if ties else rng.choice([0.1, 1.0, 10.0], size=(count, 1))

        def draw(size: int) -> FloatArray:
            shape = (count, size)
            drawn = rng.integers(-2, 3, shape) if ties else rng.normal(size=shape)
            return np.asarray(scale * drawn, dtype=np.float64)

        self.arcs = draw(side * side)
        self.tables = {kind: draw(len(self._full.tables[kind])) for kind in self.kinds}
        gone = rng.random((count, side, side)) < forbidden
        possible = enumerate_trees(n_words, "projective", "single")
        kept = possible[rng.integers(len(possible), size=count)]
        gone[np.arange(count)[:, None], kept, np.arange(1, side)] = False
        gone[:, :, 0] = gone[:, np.arange(side), np.arange(side)] = True
        self.arcs[gone.reshape(count, -1)] = -np.inf

    @cached_property
    def _full(self) -> Scores:
        """The parts of a sentence without forbidden arcs."""
        return Scores.over(np.zeros((self.n_words + 1) ** 2), np.array([self.n_words]), self.kinds)

    def packed(self, threads: int = 1) -> Scores:
        count = len(self.arcs)
        n_words = np.full(count, self.n_words)
        packed = Scores.over(self.arcs.reshape(-1), n_words, self.kinds, threads)
        for kind in self.kinds:
            for i in range(count):
                columns = packed.columns(kind, i).reshape(-1)
                numbers = self._full.index.numbers(KINDS.index(kind), 0, columns)
                packed.piece(kind, i)[:] = self.tables[kind][i, numbers]
        return packed

    def scores(self, trees: TreeClass, root: Root) -> tuple[NDArray[np.int64], FloatArray]:
        """All trees of a class, and their scores in every sentence: (sentences, trees)."""
        every = enumerate_trees(self.n_words, trees, root)
        cells = every * (self.n_words + 1) + np.arange(1, self.n_words + 1)
        total = self.arcs[:, cells].sum(axis=2)
        for kind in self.kinds:
            places = np.array([self._full.of_tree(kind, 0, heads) for heads in _rows(every)])
            total += self.tables[kind][:, places].sum(axis=2)
        return every, total


def _rows(trees: NDArray[np.int64]) -> list[IntArray]:
    return list(trees.astype(np.int32))
