"""Losses of arc scores, each with its gradient; scorers and learners are not their business."""

from arbora.losses.gold import Gold
from arbora.losses.likelihood import negative_log_likelihood
from arbora.losses.loss import Loss
from arbora.losses.margin import best_gold_tree, cost_augmented, perceptron_loss

__all__ = [
    "Gold",
    "Loss",
    "best_gold_tree",
    "cost_augmented",
    "negative_log_likelihood",
    "perceptron_loss",
]
