"""Losses of marginals: how far the probabilities of arcs, exact or approximate, are from gold.

A loss takes the marginals of arcs (-inf where there is no arc), the annotation, and a first-order
engine for the class of trees. It returns one number per sentence and the derivative with respect to
every marginal, from which `losses/marginals.py` computes the gradient by the scores. Words whose
head (or label) is unknown contribute nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.inference.engines import FirstOrderEngine
from arbora.losses.gold import Gold
from arbora.scores import Places, Scores
from arbora.types import FloatArray

__all__ = ["BeliefLoss", "BeliefLossValue", "annealed_risk", "l2_distance", "mixed_loss"]


class BeliefLossValue(NamedTuple):
    """One number per sentence, and the derivative of their sum with respect to every marginal.

    `values` has shape (sentences,); `d_marginals` is flat, as `Scores.arcs`.
    """

    values: FloatArray
    d_marginals: FloatArray


BeliefLoss = Callable[[Scores, Gold, FirstOrderEngine], BeliefLossValue]


def l2_distance(marginals: Scores, gold: Gold, engine: FirstOrderEngine) -> BeliefLossValue:  # noqa: ARG001
    """The squared distance of the marginals from gold (Gormley et al. 2015, Eq. 12).

    The sum is over the allowed arcs and over both states of each, on and off, so every arc counts
    twice. A forbidden gold arc is not a variable, and adds nothing.
    """
    known, cells = _annotation(marginals, gold)
    is_counted = np.isfinite(marginals.arcs) & _columns(gold, known)
    distance = np.where(is_counted, marginals.arcs, 0.0)
    distance[cells[np.isfinite(marginals.arcs[cells])]] -= 1.0
    sizes = gold.layout.n_cells * gold.n_labels
    totals = np.add.reduceat(distance * distance, np.cumsum(sizes) - sizes)
    return BeliefLossValue(2.0 * totals, 4.0 * distance)


def annealed_risk(
    marginals: Scores, gold: Gold, engine: FirstOrderEngine, temperature: float
) -> BeliefLossValue:
    """Minus the expected number of correct heads of trees drawn by marginals / temperature.

    Gormley et al. (2015, Eqs. 10-11): the trees follow a first-order model whose arc scores are the
    marginals over the temperature. As the temperature approaches 0, they become the trees with
    most expected correct arcs, and the risk becomes their loss. The gradient is backpropagated
    through that model's marginals, whose Jacobian is symmetric, and divided by the temperature.
    """
    if not isinstance(temperature, int | float) or not 0.0 < temperature < math.inf:
        raise ArgumentError(f"temperature must be a number above 0, not {temperature!r}.")
    drawn = engine.infer(marginals.with_values(marginals.arcs / temperature), gradient=True)
    known, cells = _annotation(marginals, gold)
    found = np.zeros(len(known))
    found[known] = drawn.arcs[cells]
    d_drawn = np.zeros(len(drawn.arcs))
    d_drawn[cells] = -1.0
    gradient = drawn.vjp(d_drawn).arcs
    return BeliefLossValue(-gold.layout.per_sentence(found), gradient / temperature)


def mixed_loss(one: BeliefLossValue, other: BeliefLossValue, share: float) -> BeliefLossValue:
    """`share` of one loss and the rest of another."""
    return BeliefLossValue(
        share * one.values + (1.0 - share) * other.values,
        share * one.d_marginals + (1.0 - share) * other.d_marginals,
    )


def _annotation(marginals: Scores, gold: Gold) -> tuple[NDArray[np.bool_], Places]:
    """Which words are annotated, and the cells of their arcs."""
    if marginals.depth != gold.n_labels:
        raise ArgumentError(
            f"marginals have {marginals.depth} labels per arc, but gold trees have {gold.n_labels}."
        )
    return gold.annotated, gold.cells()[gold.annotated]


def _columns(gold: Gold, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The cells of the arcs into known words."""
    closed = gold.layout.columns(known)
    return closed if gold.labels is None else np.repeat(closed, gold.n_labels)
