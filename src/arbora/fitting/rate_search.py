"""A step size for a learner, found on a part of the treebank before learning begins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arbora.fitting.trainer import Trainer

__all__ = ["best_rate"]

_SHARE = 10  # a tenth of the sentences
_FEWEST = 100  # sentences, if there are so many
_MOST_RATES = 10


def best_rate(
    trainer_at: Callable[[float], Trainer], sentences: int, first: float, seed: int
) -> float:
    """Doubles the rate as long as that helps, or else halves it (Gormley et al. 2015, 7.1).

    Every rate makes one pass over the same tenth of the sentences, from the same weights. What is
    compared is the loss of each sentence before it is learnt, so a rate that learns by heart is
    not taken for a good one.
    """
    count = min(sentences, max(_FEWEST, -(-sentences // _SHARE)))
    sample = np.random.default_rng([seed, sentences]).permutation(sentences)[:count]

    def loss(rate: float) -> float:
        value = trainer_at(rate).run_pass(sample, lambda _: None).loss
        return value if np.isfinite(value) else np.inf

    best, lowest, tried = first, loss(first), 1
    for factor in (2.0, 0.5):
        while tried < _MOST_RATES:
            value = loss(best * factor)
            tried += 1
            if value >= lowest:
                break
            best, lowest = best * factor, value
        if best != first:
            break
    return best
