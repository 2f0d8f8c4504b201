"""The value and the gradient of a loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora.scores import Scores
from arbora.types import FloatArray

__all__ = ["Loss"]


class Loss(NamedTuple):
    """One number per sentence, and the derivative of their sum with respect to every score.

    `values` has shape (sentences,); `d_scores` has the arcs and tables of the scores.
    """

    values: FloatArray
    d_scores: Scores

    def without_tiny(self, smallest: float) -> Loss:
        """The same with 0 for derivatives below `smallest`, in place.

        Most arcs of a trained model are nearly impossible. Ignoring them changes each weight's
        gradient by less than `smallest` per arc and saves most of the work. The labels or clusters
        of an arc are all kept or all ignored.
        """
        of_arcs = self.d_scores.arcs.reshape(-1, self.d_scores.depth)
        of_arcs[np.abs(of_arcs).sum(axis=1) < smallest] = 0.0
        for values in self.d_scores.tables.values():
            values[np.abs(values) < smallest] = 0.0
        return self
