"""Losses of the best tree: perceptron and hinge."""

from __future__ import annotations

import numpy as np

from arbora.inference.layout import Places
from arbora.inference.packed import Packed
from arbora.losses.gold import Gold
from arbora.losses.loss import Loss
from arbora.types import FloatArray, Tree

__all__ = [
    "best_gold_tree",
    "cells_of",
    "chosen_cells",
    "cost_augmented",
    "perceptron_loss",
    "tree_loss",
]


def cells_of(chosen: list[Tree], gold: Gold) -> Places:
    """The cells of trees' arcs, sentence by sentence."""
    heads = np.concatenate([tree.heads for tree in chosen])
    labels = [tree.labels for tree in chosen if tree.labels is not None]
    return gold.labelled(heads, np.concatenate(labels) if labels else None)


def chosen_cells(trees: Packed, gold: Gold) -> Places:
    """The cells of the best trees' arcs."""
    return cells_of(trees.argmax(), gold)


def best_gold_tree(trees: Packed, gold: Gold) -> Places:
    """The cells of the gold tree; where the annotation has gaps, of its best completion."""
    if gold.complete:
        return gold.cells()
    return chosen_cells(trees.with_scores(gold.restrict(trees.flat)), gold)


def cost_augmented(scores: FloatArray, right: Places) -> FloatArray:
    """Scores plus 1 for every arc that is not right: what a margin has to be won against."""
    augmented = scores + 1.0
    augmented[right] -= 1.0
    return augmented


def tree_loss(gold: Gold, scores: FloatArray, chosen: Places, right: Places) -> Loss:
    """Score of the chosen trees minus that of the right ones."""
    d_scores = gold.layout.indicator(chosen, gold.n_labels)
    d_scores[right] -= 1.0
    return Loss(gold.layout.per_sentence(scores[chosen] - scores[right]), d_scores)


def perceptron_loss(trees: Packed, gold: Gold) -> Loss:
    """Score of the best tree minus that of the gold tree (Collins 2002)."""
    right = best_gold_tree(trees, gold)
    return tree_loss(gold, trees.flat, chosen_cells(trees, gold), right)
