"""Gaps in the annotation filled, for learners that cannot sum over them.

Exponentiated gradient has a dual for every arc that is not gold, so it needs whole trees from the
beginning. A likelihood, which can sum, learns a little from what is known, and its best completion
is taken for gold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arbora.fitting.trainer import Problem, Trainer
from arbora.fitting.treebank import Treebank, batches
from arbora.losses import completed_gold

__all__ = ["completed", "filled", "has_gaps"]

_PASSES = 2
_AT_ONCE = 64  # sentences, where the weights do not change


def has_gaps(problem: Problem) -> bool:
    """Whether the annotation leaves several structures possible."""
    everything = np.arange(len(problem.treebank))
    return not problem.gold(problem.treebank.batch(everything)).complete


def completed(problem: Problem, guide: Trainer, seed: int) -> Treebank:
    """The treebank with the best completion of each sentence, when `guide` has learnt a little."""
    for number in range(_PASSES):
        order = np.random.default_rng([seed, number]).permutation(len(problem.treebank))
        guide.run_pass(order, lambda _: None)
    scorer = problem.scorer.with_parameters(guide.parameters())
    return filled(replace(problem, scorer=scorer))


def filled(problem: Problem) -> Treebank:
    """The treebank with the best completion of each sentence under the scorer's parameters."""
    treebank = problem.treebank
    heads, labels = treebank.heads.copy(), treebank.labels.copy()
    for batch in batches(treebank, np.arange(len(treebank)), _AT_ONCE):
        scores, _ = problem.scorer.scores(batch)
        found = completed_gold(scores, problem.gold(batch), problem.engine)
        words = treebank.words(batch.sentences)
        heads[words] = found.heads
        if found.labels is not None:
            labels[words] = found.labels
    return replace(treebank, heads=heads, labels=labels)
