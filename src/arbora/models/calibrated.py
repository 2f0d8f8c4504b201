"""Calibrated scores and their marginals."""

from __future__ import annotations

import numpy as np

from arbora.inference.marginals import Marginals
from arbora.scores import Layout, Scores
from arbora.types import FloatArray, IntArray

__all__ = ["at_temperature", "summed_over_labels"]


def at_temperature(
    scores: Scores, temperature: float, bonus: float, heads: IntArray | None
) -> Scores:
    """The scores over the temperature, plus the bonus for the arcs to these heads."""
    scaled = scores.scaled(1.0 / temperature)
    if heads is None or not bonus:
        return scaled
    arcs = scaled.arcs.copy().reshape(-1, scaled.depth)
    arcs[Layout(scores.n_words).arcs(heads)] += bonus
    return scaled.with_values(arcs.reshape(-1))


def summed_over_labels(marginals: Marginals) -> FloatArray:
    """The marginals of arcs, whatever their labels."""
    depth = marginals.scores.depth
    arcs = marginals.arcs
    return arcs if depth == 1 else np.asarray(arcs.reshape(-1, depth).sum(axis=1))
