"""Calibrated scores."""

from __future__ import annotations

from arbora.scores import Layout, Scores
from arbora.types import IntArray

__all__ = ["at_temperature"]


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
