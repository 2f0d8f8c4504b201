"""Losses of scores and beliefs, with their gradients; scorers and learners are not their business.

Losses of scores look at trees: the likelihood, the best tree. Losses of beliefs look at what an
inference makes of the scores, and their gradients go back through it.
"""

from arbora.losses.beliefs import BeliefLoss, annealed_risk, l2_distance
from arbora.losses.gold import Gold
from arbora.losses.likelihood import negative_log_likelihood
from arbora.losses.loss import Loss, PartLoss
from arbora.losses.margin import best_gold_tree, cost_augmented, perceptron_loss
from arbora.losses.through import (
    loss_of_arcs,
    loss_of_parts,
    part_beliefs,
    part_likelihood,
)

__all__ = [
    "BeliefLoss",
    "Gold",
    "Loss",
    "PartLoss",
    "annealed_risk",
    "best_gold_tree",
    "cost_augmented",
    "l2_distance",
    "loss_of_arcs",
    "loss_of_parts",
    "negative_log_likelihood",
    "part_beliefs",
    "part_likelihood",
    "perceptron_loss",
]
