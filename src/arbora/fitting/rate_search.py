"""Search for a learning rate on part of the treebank, before training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arbora.fitting.trainer import Trainer

__all__ = ["best_rate"]

_SHARE = 10  # a tenth of the sentences
_FEWEST = 100  # sentences, if there are enough
_MOST_RATES = 10


def best_rate(
    trainer_at: Callable[[float], Trainer], sentences: int, first: float, seed: int
) -> float:
    """Doubles the rate while the loss falls, or else halves it (Gormley et al. 2015, section 7.1).

    Each rate makes one pass over the same tenth of the sentences, from the same weights. The loss
    of each sentence is measured before its update, so that overfitting is not rewarded.
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
