"""Gradients of losses of marginals by the scores: backpropagation through inference.

The derivative of the loss is backpropagated through the engine's `vjp`: sums over first-order
trees, over projective second-order trees, or belief propagation. So training takes the
approximations of the inference into account (Gormley et al. 2015), with any differentiable scorer.
"""

from __future__ import annotations

import numpy as np

from arbora.inference.decoding import possible_marginals
from arbora.inference.engines import SummingEngine, first_order_engine
from arbora.losses.beliefs import BeliefLoss
from arbora.losses.gold import Gold
from arbora.losses.loss import Loss
from arbora.scores import Scores

__all__ = ["marginal_loss"]


def marginal_loss(scores: Scores, gold: Gold, engine: SummingEngine, loss: BeliefLoss) -> Loss:
    """A loss of the marginals of arcs, with its gradient with respect to all scores."""
    gold.check(scores.n_words)
    inferred = engine.infer(scores, gradient=True)
    trees = first_order_engine(engine.trees, engine.root, engine.threads)
    values, d_marginals = loss(possible_marginals(scores, inferred.arcs), gold, trees)
    gradient = inferred.vjp(d_marginals)
    writable = {kind: np.array(table) for kind, table in gradient.tables.items()}
    return Loss(values, gradient.with_values(np.array(gradient.arcs), writable))
