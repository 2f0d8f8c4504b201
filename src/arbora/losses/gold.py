"""The annotation of a batch: complete, or only some heads and labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ShapeError
from arbora.scores import Layout, Places
from arbora.types import FloatArray, IntArray

__all__ = ["Gold", "check_heads"]


class Gold(NamedTuple):
    """Heads and label numbers of all words of a batch, (words,); -1 is unknown. No labels: None.

    For outcomes that are not annotated, such as hidden clusters, all labels are -1.
    """

    layout: Layout
    heads: IntArray
    labels: IntArray | None = None
    n_labels: int = 1

    def check(self, n_words: Places) -> None:
        """Raises unless the sentences have these lengths."""
        lengths = self.layout.n_words
        if not np.array_equal(lengths, n_words):
            raise ShapeError(
                "gold trees and scores are of sentences of different lengths: use the same batch."
            )
        check_heads(self.heads, n_words)

    @property
    def annotated(self) -> NDArray[np.bool_]:
        """Which words have a head and, if there are labels, a label, (words,)."""
        known = self.heads >= 0
        return known if self.labels is None else known & (self.labels >= 0)

    @property
    def complete(self) -> bool:
        """Whether every word is annotated."""
        return bool(self.annotated.all())

    def cells(self) -> Places:
        """The cell of each word's arc (and label), (words,); meaningless for unannotated words."""
        return self.labelled(self.heads, self.labels)

    def labelled(self, heads: IntArray, labels: IntArray | None) -> Places:
        """The cell of each word's arc from a head, with a label if there are labels."""
        cells = self.layout.arcs(heads)
        return cells if labels is None else cells * self.n_labels + labels

    def restrict(self, scores: FloatArray) -> FloatArray:
        """The scores with everything forbidden that contradicts the annotation."""
        allowed = self.layout.fixed_heads(self.heads)
        if self.labels is None:
            return np.where(allowed, scores, -np.inf)
        allowed = np.repeat(allowed[:, None], self.n_labels, axis=1)
        known = np.flatnonzero((self.heads >= 0) & (self.labels >= 0))
        rows = self.layout.arcs(self.heads)[known]
        allowed[rows] = False
        allowed[rows, self.labels[known]] = True
        return np.where(allowed.reshape(-1), scores, -np.inf)


def check_heads(heads: IntArray, n_words: Places) -> None:
    """Raises for heads outside their sentence; -1 is unknown."""
    if heads.shape != (int(n_words.sum()),):
        raise ShapeError(
            f"heads must have one entry for each of {int(n_words.sum())} words, not {heads.shape}."
        )
    bad = np.flatnonzero((heads < -1) | (heads > np.repeat(n_words, n_words)))
    if len(bad):
        raise ShapeError(
            f"the head of word {bad[0] + 1} of the batch is {heads[bad[0]]}: it must be a word "
            "of its sentence, 0 or -1."
        )
