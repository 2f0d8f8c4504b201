"""Conditional likelihood, also of annotation with gaps."""

from __future__ import annotations

import numpy as np

from arbora.inference.packed import Packed
from arbora.losses.gold import Gold
from arbora.losses.loss import Loss

__all__ = ["negative_log_likelihood"]


def negative_log_likelihood(trees: Packed, gold: Gold) -> Loss:
    """-log P(annotation), where words without a head or label are summed over.

    The gradient is what the model expects minus what it expects given the annotation (Koo et al.
    2007, section 4.1; ALGORITHMS 2.19). With everything annotated the second is the gold tree.
    """
    free = trees.sums(marginals=True)
    d_scores = np.array(free.marginals)
    if gold.complete:
        cells = gold.cells()
        d_scores[cells] -= 1.0
        score = gold.layout.per_sentence(trees.flat[cells])
        return Loss(free.log_partition - score, d_scores)
    agreeing = trees.with_scores(gold.restrict(trees.flat)).sums(marginals=True)
    d_scores -= agreeing.marginals
    return Loss(free.log_partition - agreeing.log_partition, d_scores)
