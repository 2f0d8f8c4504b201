"""What the annotation says about a batch: everything, or only some heads and labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora.inference.layout import Layout, Places
from arbora.types import FloatArray, IntArray

__all__ = ["Gold"]


class Gold(NamedTuple):
    """Heads and label numbers of all words of a batch; -1 is unknown. No labels: None.

    Scores with outcomes that the annotation does not know, such as hidden clusters, come with
    labels that are all -1.
    """

    layout: Layout
    heads: IntArray
    labels: IntArray | None = None
    n_labels: int = 1

    @property
    def complete(self) -> bool:
        """Whether there is just one structure that agrees with the annotation."""
        known = bool((self.heads >= 0).all())
        return known and (self.labels is None or bool((self.labels >= 0).all()))

    def cells(self) -> Places:
        """The cell of each word's arc (and label); only if complete."""
        return self.labelled(self.heads, self.labels)

    def labelled(self, heads: IntArray, labels: IntArray | None) -> Places:
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
