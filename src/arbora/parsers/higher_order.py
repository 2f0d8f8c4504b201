"""Decoding of higher order: prune with the first-order model inside, score parts, find the tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.features import Encoded
from arbora.inference.dual import decode_dual
from arbora.inference.packed import Packed
from arbora.inference.pruning import Pruning, likely_arcs
from arbora.parsers.model import Model
from arbora.parts import PackedParts
from arbora.types import FloatArray, IntArray, TreeClass

__all__ = ["PartAnswers", "PartDecoder", "prune"]


@dataclass(frozen=True)
class PartAnswers:
    """Trees of many sentences and, for each, whether it is certainly the best, and the gap."""

    heads: IntArray
    certified: NDArray[np.bool_]
    gaps: FloatArray


def prune(model: Model, first_order: Packed) -> Pruning:
    """The arcs that the model's settings keep of what the pruner finds likely."""
    return likely_arcs(first_order, model.settings.prune_threshold, model.settings.prune_heads)


class PartDecoder:
    """A model of higher order ready to decode what its pruner has scored."""

    def __init__(self, model: Model, threads: int, trees: TreeClass) -> None:
        self.model, self.trees = model, trees
        self._scorer = model.part_scorer(threads)

    def parts(
        self, encoded: Encoded, sentences: NDArray[np.int64], first_order: Packed
    ) -> PackedParts:
        """Scores of the arcs and parts that survive the pruner's distribution."""
        kept = prune(self.model, first_order).kept
        return self._scorer.scores(self.model.weights, encoded, sentences, kept)

    def __call__(
        self, encoded: Encoded, sentences: NDArray[np.int64], first_order: Packed
    ) -> PartAnswers:
        parts = self.parts(encoded, sentences, first_order)
        settings = self.model.settings
        answer = decode_dual(
            parts, self.trees, self.model.root, settings.max_iterations, settings.solver
        )
        return PartAnswers(answer.heads, answer.certified, answer.bounds - answer.scores)
