"""Completion of partial annotation, for learners that cannot sum over missing heads.

Exponentiated gradient has a dual variable for every arc that is not gold, so it needs complete
trees. A likelihood model is trained briefly on the known heads, and its best completions are used
as gold trees.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arbora.fitting.trainer import Problem, Trainer
from arbora.fitting.treebank import Treebank, batches
from arbora.losses import completed_gold

__all__ = ["completed", "filled", "has_gaps"]

_PASSES = 2
_AT_ONCE = 64  # sentences per batch


def has_gaps(problem: Problem) -> bool:
    """Whether the annotation allows several structures."""
    everything = np.arange(len(problem.treebank))
    return not problem.gold(problem.treebank.batch(everything)).complete


def completed(problem: Problem, guide: Trainer, seed: int) -> Treebank:
    """Trains `guide` briefly, then completes every sentence of the treebank with it."""
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
