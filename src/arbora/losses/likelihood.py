"""Conditional likelihood, also of partial annotation."""

from __future__ import annotations

import numpy as np

from arbora.inference.automata import walk_sums
from arbora.inference.engines import SummingEngine
from arbora.inference.tree_parts import tree_parts
from arbora.losses.gold import Gold
from arbora.losses.loss import Loss
from arbora.losses.margin import Rivals, minus_gold
from arbora.scores import Scores

__all__ = ["composite_likelihood", "negative_log_likelihood"]


def negative_log_likelihood(scores: Scores, gold: Gold, engine: SummingEngine) -> Loss:
    """-log P(annotation), where words without a head or label are summed over.

    The gradient is the marginals minus the marginals given the annotation (Koo et al. 2007, section
    4.1). With complete annotation the latter are the gold tree. With approximate engines this is
    the surrogate likelihood: beliefs replace marginals, and Bethe's approximation replaces log Z.
    The beliefs are its gradient if propagation has converged (Gormley et al. 2015, section 6).
    """
    gold.check(scores.n_words)
    free = engine.infer(scores)
    log_partition, marginals = free.log_partition, free.marginals
    expected = scores.with_values(
        np.array(marginals.arcs),
        {kind: np.array(table) for kind, table in marginals.tables.items()},
    )
    if gold.complete:
        d_scores, value = tree_parts(
            scores, gold.heads, gold.labels, amount=-1.0, into=expected, threads=engine.threads
        )
        return Loss(log_partition - value, d_scores)
    agreeing = engine.infer(scores.with_values(gold.restrict(scores.arcs)))
    difference = expected + agreeing.marginals.scaled(-1.0)
    return Loss(log_partition - agreeing.log_partition, difference)


def composite_likelihood(scores: Scores, gold: Gold, threads: int = 1) -> Loss:
    """-log P of every head's modifiers, independently: a product of sums over head automata.

    Gold trees must be complete. Every word also chooses its own head, so arcs count twice.
    """
    expected, log_sums = walk_sums(scores, threads)
    return minus_gold(scores, gold, Rivals(expected, log_sums, np.ones(len(scores))), threads)
