"""Positions in flat arrays of many sentences' scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.types import FloatArray, IntArray

__all__ = ["Layout"]

Places = NDArray[np.int64]


class Layout:
    """The cells of a batch: (n+1) x (n+1) per sentence, one sentence after the other.

    With `counts`, sentence i has `counts[i]` trees, which share its cells.
    """

    def __init__(self, n_words: Places, counts: Places | None = None) -> None:
        sides = n_words + 1
        cells = sides * sides
        self.n_cells = cells
        first_cell = np.cumsum(cells) - cells
        if counts is not None:
            n_words, sides, first_cell = (
                np.repeat(of_each, counts) for of_each in (n_words, sides, first_cell)
            )
        self.n_words = n_words
        self.first_word = np.cumsum(n_words) - n_words
        self._side = np.repeat(sides, n_words)
        word = np.arange(int(n_words.sum())) - np.repeat(self.first_word, n_words) + 1
        self._base = np.repeat(first_cell, n_words) + word  # of each word's arc from the root

    @property
    def size(self) -> int:
        """Number of cells of all sentences."""
        return int(self.n_cells.sum())

    def arcs(self, heads: IntArray) -> Places:
        """The cell of each word's arc from the given head."""
        return self._base + heads * self._side

    def per_sentence(self, of_words: NDArray[np.generic]) -> FloatArray:
        """Sums over each sentence's words."""
        return np.add.reduceat(np.asarray(of_words, dtype=np.float64), self.first_word)

    def indicator(self, cells: Places, depth: int = 1) -> FloatArray:
        """1 in the given cells (of `depth` numbers per arc), 0 elsewhere."""
        answer = np.zeros(self.size * depth)
        answer[cells] = 1.0
        return answer

    def fixed_heads(self, heads: IntArray) -> NDArray[np.bool_]:
        """The cells that given heads leave open: all cells of words whose head is -1."""
        known = heads >= 0
        allowed = ~self.columns(known)
        allowed[self.arcs(heads)[known]] = True
        return allowed

    def columns(self, words: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The cells of all arcs into the chosen words: side cells each, `side` apart."""
        inside = np.zeros(self.size, dtype=bool)
        sides = self._side[words]
        column = np.repeat(self._base[words], sides)
        row = np.arange(len(column)) - np.repeat(np.cumsum(sides) - sides, sides)
        inside[column + row * np.repeat(sides, sides)] = True
        return inside
