"""Gaps in the annotation filled, for learners that cannot sum over them.

Exponentiated gradient has a dual for every arc that is not gold, so it needs whole trees from the
beginning. A likelihood, which can sum, learns a little from what is known, and its best completion
is taken for gold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arbora.scoring.linear import Weights
from arbora.training.trainer import ArcProblem, Trainer, batches
from arbora.training.treebank import Treebank

__all__ = ["completed", "filled", "has_gaps"]

_PASSES = 2
_AT_ONCE = 64  # sentences, where the weights do not change


def has_gaps(problem: ArcProblem) -> bool:
    """Whether the annotation leaves several structures possible."""
    everything = np.arange(len(problem.treebank))
    return not problem.gold(problem.treebank.batch(everything)).complete


def completed(problem: ArcProblem, guide: Trainer, seed: int) -> Treebank:
    """The treebank with the best completion of each sentence, when `guide` has learnt a little."""
    treebank = problem.treebank
    for number in range(_PASSES):
        order = np.random.default_rng([seed, number]).permutation(len(treebank))
        guide.run_pass(order, lambda _: None)
    return filled(problem, guide.parameters())


def filled(problem: ArcProblem, weights: Weights) -> Treebank:
    """The treebank with the best completion of each sentence under the given weights."""
    treebank = problem.treebank
    heads, labels = treebank.heads.copy(), treebank.labels.copy()
    for batch in batches(treebank, np.arange(len(treebank)), _AT_ONCE):
        scores, gold = problem.scores(weights, batch), problem.gold(batch)
        found = problem.distribution(gold.restrict(scores), batch).argmax()
        words = treebank.words(batch.sentences)
        heads[words] = np.concatenate([tree.heads for tree in found])
        named = [tree.labels for tree in found if tree.labels is not None]
        if named:
            labels[words] = np.concatenate(named)
    return replace(treebank, heads=heads, labels=labels)
