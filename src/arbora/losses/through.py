"""From losses of beliefs to gradients of scores: back through the inference that made the beliefs.

Scores go in, beliefs come out, a loss looks at the beliefs; its derivative goes back through the
inference's `vjp`, whichever inference it is: sums over trees of first order, over projective trees
of second order, or belief propagation. So scores are learnt that are right for the answers that the
inference will really give (Gormley et al. 2015), and whatever made the scores can be trained.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from arbora.errors import ArgumentError
from arbora.inference.automata import tree_parts
from arbora.inference.decoding import risk_scores
from arbora.inference.packed import Packed
from arbora.inference.part_inference import PartInference
from arbora.losses.beliefs import BeliefLoss
from arbora.losses.gold import Gold, check_heads
from arbora.losses.loss import Loss, PartLoss
from arbora.parts import PackedParts, PartKind
from arbora.types import FloatArray, IntArray, Root, TreeClass

__all__ = ["loss_of_arcs", "loss_of_parts", "part_beliefs", "part_likelihood"]


def loss_of_arcs(trees: Packed, gold: Gold, loss: BeliefLoss) -> Loss:
    """A loss of the marginals of first-order trees, with its gradient by their scores."""
    gold.check(trees.n_words)
    marginals = trees.sums(marginals=True).marginals
    values, d_beliefs = loss(risk_scores(trees, marginals), gold)
    pieces = trees.vjp(marginals, d_beliefs)
    return Loss(values, np.concatenate([piece.reshape(-1) for piece in pieces]))


def loss_of_parts(
    model: PartInference, gold: Gold, loss: BeliefLoss, trees: TreeClass, root: Root
) -> PartLoss:
    """A loss of the beliefs in arcs, with its gradient by the scores of arcs and parts."""
    gold.check(model.parts.n_words)
    values, d_beliefs = loss(part_beliefs(model, trees, root, way_back=True), gold)
    return PartLoss(values, _with_copies(model.parts, *model.vjp(d_beliefs)))


def part_beliefs(
    model: PartInference, trees: TreeClass, root: Root, *, way_back: bool = False
) -> Packed:
    """Beliefs in arcs as a pack of trees, whose best have most expected correct arcs."""
    parts = model.parts
    beliefs = model.arc_beliefs(way_back=way_back)
    beliefs = np.where(parts.arcs > -np.inf, beliefs, -np.inf)
    return Packed(beliefs, parts.n_words, None, trees, root, parts.threads)


def part_likelihood(model: PartInference, heads: IntArray) -> PartLoss:
    """log Z minus the score of the gold trees; the gradient is marginals minus gold parts.

    With exact sums it is the likelihood. With belief propagation it is its surrogate: beliefs in
    place of marginals, and Bethe's approximation in place of log Z, which the gradient belongs to
    where the propagation has converged (Gormley et al. 2015, section 6).
    """
    check_heads(heads, model.parts.n_words)
    if (heads < 0).any():
        raise ArgumentError("a likelihood of parts needs the head of every word: fill in gaps.")
    log_partition, marginals = model.sums()
    expected = _with_copies(model.parts, *marginals)
    d_scores, gold = tree_parts(model.parts, heads, -1.0, into=expected)
    return PartLoss(log_partition - gold, d_scores)


def _with_copies(
    parts: PackedParts, arcs: FloatArray, tables: Mapping[PartKind, FloatArray]
) -> PackedParts:
    """The same parts with other numbers, to be written to."""
    return parts.with_scores(arcs.copy(), {kind: table.copy() for kind, table in tables.items()})
