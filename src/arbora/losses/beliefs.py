"""Losses of beliefs: how far the probabilities of arcs, exact or approximate, are from gold.

Beliefs come as a pack whose numbers are probabilities, -inf where there is no arc: its best trees
are those with most expected correct arcs. A loss gives the derivative by every belief, which
`losses/through.py` takes back to scores. Words whose head (or label) is unknown contribute nothing:
neither their own arcs nor what is expected of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.inference.layout import Places
from arbora.inference.packed import Packed
from arbora.losses.gold import Gold
from arbora.losses.loss import Loss

__all__ = ["BeliefLoss", "annealed_risk", "l2_distance"]

BeliefLoss = Callable[[Packed, Gold], Loss]


def l2_distance(beliefs: Packed, gold: Gold) -> Loss:
    """The squared distance of the beliefs from gold (Gormley et al. 2015, Eq. 12).

    The sum goes over the arcs that are there and over both states of each, on and off, so every
    arc counts twice. A gold arc that is not there is no variable, and adds nothing.
    """
    known, cells = _annotation(beliefs, gold)
    is_counted = np.isfinite(beliefs.flat) & _columns(gold, known)
    distance = np.where(is_counted, beliefs.flat, 0.0)
    distance[cells[np.isfinite(beliefs.flat[cells])]] -= 1.0
    totals = np.add.reduceat(distance * distance, beliefs.cells[:-1])
    return Loss(2.0 * totals, 4.0 * distance)


def annealed_risk(beliefs: Packed, gold: Gold, temperature: float) -> Loss:
    """Minus the expected number of correct heads, of trees drawn by beliefs / temperature.

    Gormley et al. (2015, Eqs. 10-11): the trees follow a first-order model whose arc scores are the
    beliefs over the temperature. As it goes to zero they become the trees with most expected
    correct arcs, and the risk their loss. Backwards it is the gradient through the marginals of
    that model (which is symmetric), over the temperature.
    """
    if not isinstance(temperature, int | float) or not 0.0 < temperature < math.inf:
        raise ArgumentError(f"the temperature of a risk is a number above 0, not {temperature!r}.")
    drawn = beliefs.with_scores(beliefs.flat / temperature)
    marginals = drawn.sums(marginals=True).marginals
    known, cells = _annotation(beliefs, gold)
    found = np.zeros(len(known))
    found[known] = marginals[cells]
    d_marginals = np.zeros(len(marginals))
    d_marginals[cells] = -1.0
    gradient = np.concatenate([one.reshape(-1) for one in drawn.vjp(marginals, d_marginals)])
    return Loss(-gold.layout.per_sentence(found), gradient / temperature)


def _annotation(beliefs: Packed, gold: Gold) -> tuple[NDArray[np.bool_], Places]:
    """Which words are annotated, and the cells of their arcs."""
    if (beliefs.n_labels or 1) != gold.n_labels:
        raise ArgumentError("beliefs and gold trees have different numbers of labels.")
    known = gold.heads >= 0
    if gold.labels is not None:
        known = known & (gold.labels >= 0)
    return known, gold.cells()[known]


def _columns(gold: Gold, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The cells of the arcs into known words."""
    closed = gold.layout.columns(known)
    return closed if gold.labels is None else np.repeat(closed, gold.n_labels)
