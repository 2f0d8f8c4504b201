"""Losses of scores and of marginals: functions of scores and an engine, with gradients.

Losses of scores compare trees: the likelihood, or the gold tree with a rival. Losses of marginals
backpropagate through the engine. No loss depends on the scorer.
"""

from arbora.losses.beliefs import (
    BeliefLoss,
    BeliefLossValue,
    annealed_risk,
    l2_distance,
    mixed_loss,
)
from arbora.losses.gold import Gold
from arbora.losses.head_selection import head_selection
from arbora.losses.likelihood import composite_likelihood, negative_log_likelihood
from arbora.losses.loss import Loss
from arbora.losses.margin import (
    Rival,
    Rivals,
    completed_gold,
    cost_augmented,
    decoded_rival,
    hinge_loss,
    minus_gold,
    perceptron_loss,
)
from arbora.losses.marginals import marginal_loss

__all__ = [
    "BeliefLoss",
    "BeliefLossValue",
    "Gold",
    "Loss",
    "Rival",
    "Rivals",
    "annealed_risk",
    "completed_gold",
    "composite_likelihood",
    "cost_augmented",
    "decoded_rival",
    "head_selection",
    "hinge_loss",
    "l2_distance",
    "marginal_loss",
    "minus_gold",
    "mixed_loss",
    "negative_log_likelihood",
    "perceptron_loss",
]
