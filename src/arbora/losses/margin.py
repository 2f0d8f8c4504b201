"""Losses that compare the gold tree with a rival: perceptron and margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from arbora.errors import ArgumentError
from arbora.inference.engines import FirstOrderEngine
from arbora.inference.tree_parts import tree_parts
from arbora.losses.gold import Gold
from arbora.losses.loss import Loss
from arbora.scores import Scores
from arbora.types import FloatArray

__all__ = [
    "Rival",
    "Rivals",
    "completed_gold",
    "cost_augmented",
    "decoded_rival",
    "hinge_loss",
    "minus_gold",
    "perceptron_loss",
]


class Rivals(NamedTuple):
    """The rivals of gold trees: the arcs and parts of each sentence's rival, and its score.

    `parts` holds 1 for every arc and part of the rival (or its expectation) and 0 elsewhere;
    `scores` and `own_heads` have shape (sentences,). Where words also choose their own heads
    (`own_heads` is 1), the arcs of these choices count, too: then a tree has every arc twice.
    """

    parts: Scores
    scores: FloatArray
    own_heads: FloatArray


Rival = Callable[[Scores], Rivals]


def decoded_rival(engine: FirstOrderEngine) -> Rival:
    """The best trees of first-order scores."""

    def rival(scores: Scores) -> Rivals:
        found = engine.decode(scores)
        parts, values = tree_parts(scores, found.heads, found.labels, threads=engine.threads)
        return Rivals(parts, values, np.zeros(len(scores)))

    return rival


def completed_gold(scores: Scores, gold: Gold, engine: FirstOrderEngine) -> Gold:
    """The gold trees; for incomplete annotation, their best completions."""
    if gold.complete:
        return gold
    found = engine.decode(scores.with_values(gold.restrict(scores.arcs)))
    return gold._replace(heads=found.heads, labels=found.labels)


def minus_gold(scores: Scores, gold: Gold, rivals: Rivals, threads: int = 1) -> Loss:
    """Score of the rivals minus that of the gold trees; the gradient overwrites `rivals.parts`."""
    gold.check(scores.n_words)
    if not gold.complete:
        raise ArgumentError("this loss needs the head of every word: complete the annotation.")
    d_scores, value = tree_parts(
        scores, gold.heads, gold.labels, amount=-1.0, into=rivals.parts, threads=threads
    )
    if rivals.own_heads.any():
        arcs = gold.layout.arcs(gold.heads)
        own = np.repeat(rivals.own_heads, gold.layout.n_words)
        d_scores.arcs[arcs] -= own
        value = value + gold.layout.per_sentence(own * scores.arcs[arcs])
    return Loss(rivals.scores - value, d_scores)


def perceptron_loss(scores: Scores, gold: Gold, rival: Rival, threads: int = 1) -> Loss:
    """Score of the rival minus that of the gold tree (Collins 2002); gold trees are complete."""
    return minus_gold(scores, gold, rival(scores), threads)


def cost_augmented(scores: Scores, gold: Gold) -> Scores:
    """Cost-augmented scores: plus 1 for every arc that is not gold."""
    augmented = scores.arcs + 1.0
    augmented[gold.cells()] -= 1.0
    return scores.with_values(augmented)


def hinge_loss(scores: Scores, gold: Gold, rival: Rival, threads: int = 1) -> Loss:
    """The structured hinge (Taskar et al. 2004): the best score plus cost, minus the gold score.

    The cost of a tree is its number of arcs (with labels) that are not gold. Gold trees are
    complete. Where the rival is a bound rather than a tree, so is the loss.
    """
    augmented = cost_augmented(scores, gold)
    return minus_gold(augmented, gold, rival(augmented), threads)
