"""Pruning for higher-order models: keeps the arcs that a first-order model finds likely.

Gormley et al. (2015, section 7.1): an arc stays if its probability is at least `threshold` times
that of its word's likeliest head and it is among the word's `heads` likeliest. The arcs of the tree
with most expected correct arcs stay, and those of the chain 0 -> 1 -> 2 -> ..., which is a tree of
every class, so every sentence keeps a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.inference.decoding import possible_marginals
from arbora.inference.engines import FirstOrderEngine
from arbora.scores import Layout, Scores
from arbora.types import IntArray

__all__ = ["LONG_SENTENCE", "Pruning", "likely_arcs"]


@dataclass(frozen=True)
class Pruning:
    """The cells that are kept, and statistics of them."""

    kept: NDArray[np.uint8]  # of the flat scores: 1 or 0
    layout: Layout

    @property
    def arcs_per_word(self) -> float:
        """Mean number of heads that are kept per word."""
        return float(self.kept.sum()) / max(1, int(self.layout.n_words.sum()))

    def oracle(self, heads: IntArray) -> float:
        """The share of the known heads that are kept."""
        known = heads >= 0
        left = self.kept[self.layout.arcs(np.maximum(heads, 0))] != 0
        return float(left[known].mean()) if known.any() else 1.0

    def with_arcs(self, heads: IntArray) -> Pruning:
        """The same with the given arcs kept, as in training; -1 is no head."""
        kept = self.kept.copy()
        known = heads >= 0
        kept[self.layout.arcs(np.maximum(heads, 0))[known]] = 1
        return Pruning(kept, self.layout)


class Limits(NamedTuple):
    """What stays of a word's arcs: those of a relative probability, and at most so many."""

    threshold: float = 1e-4
    heads: int = 10


# Parts of two or three arcs of one head grow with the square of the number of its possible
# modifiers, which grows with the length; and sentences that long are usually no sentences.
LONG_SENTENCE = 200  # words
_OF_LONG = Limits(1e-2, 3)


def likely_arcs(
    scores: Scores, engine: FirstOrderEngine, threshold: float = 1e-4, heads: int = 10
) -> Pruning:
    """Prunes unlabelled first-order scores; sentences above `LONG_SENTENCE` keep fewer arcs."""
    packed = engine.packed(scores)
    marginals = packed.sums(marginals=True).marginals
    best = engine.decode(possible_marginals(scores, marginals)).heads
    kept = packed.prune(marginals, best, threshold, heads)
    is_long = scores.n_words > LONG_SENTENCE
    if is_long.any():
        limits = Limits(max(threshold, _OF_LONG.threshold), min(heads, _OF_LONG.heads))
        few = packed.prune(marginals, best, *limits)
        kept = np.where(np.repeat(is_long, (scores.n_words + 1) ** 2), few, kept)
    return Pruning(kept, scores.layout)
