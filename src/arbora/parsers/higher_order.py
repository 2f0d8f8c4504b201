"""Decoding of higher order: prune with the first-order model inside, score parts, find the tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.features import Encoded
from arbora.inference.automata import tree_parts
from arbora.inference.dual import decode_dual
from arbora.inference.packed import Packed
from arbora.inference.packed_second_order import PackedSecondOrder, SecondOrderSums
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
    """A model of higher order ready to decode what its pruner has scored.

    `exact` says that trees are summed over: then there are probabilities of the same order too.
    """

    def __init__(self, model: Model, threads: int, trees: TreeClass) -> None:
        self.model, self.trees = model, trees
        self.exact = model.settings.inference == "exact"
        self._scorer = model.part_scorer(threads)

    def parts(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        first_order: Packed,
        temperature: float = 1.0,
    ) -> PackedParts:
        """Scores of the arcs and parts that survive the pruner's distribution."""
        kept = prune(self.model, first_order).kept
        return self._scorer.scores(self.model.weights, encoded, sentences, kept, 1.0 / temperature)

    def best(
        self, encoded: Encoded, sentences: NDArray[np.int64], first_order: Packed, decode: str
    ) -> PartAnswers:
        """The best trees, or (mbr) those with most expected correct arcs."""
        parts = self.parts(encoded, sentences, first_order)
        if not self.exact:
            settings, root = self.model.settings, self.model.root
            found = decode_dual(parts, self.trees, root, settings.max_iterations, settings.solver)
            return PartAnswers(found.heads, found.certified, found.bounds - found.scores)
        second_order = PackedSecondOrder(parts, self.model.root)
        if decode == "mbr":
            marginals = np.where(parts.arcs > -np.inf, second_order.sums().marginals.arcs, -np.inf)
            trees = Packed(
                marginals, parts.n_words, None, "projective", self.model.root, parts.threads
            )
            heads = np.concatenate([tree.heads for tree in trees.argmax()])
        else:
            heads, _ = second_order.argmax()
        return PartAnswers(heads, np.ones(len(parts), dtype=np.bool_), np.zeros(len(parts)))

    def sums(self, parts: PackedParts) -> SecondOrderSums:
        """log Z and marginals of an exact model."""
        return PackedSecondOrder(parts, self.model.root).sums()

    def kbest(self, parts: PackedParts, k: int) -> tuple[IntArray, NDArray[np.int64]]:
        """Heads of each sentence's k best trees under an exact model, and how many it has."""
        heads, _, counts = PackedSecondOrder(parts, self.model.root).kbest(k)
        return heads, counts

    def sample(
        self, parts: PackedParts, count: int, seed: int, keys: NDArray[np.int64]
    ) -> IntArray:
        """Heads of exact draws from an exact model."""
        return PackedSecondOrder(parts, self.model.root).sample(count, seed, keys)

    def tree_scores(
        self, parts: PackedParts, heads: IntArray, counts: NDArray[np.int64] | None
    ) -> FloatArray:
        """Scores of given trees, so many of each sentence, one after the other; by default one."""
        if counts is None:
            return tree_parts(parts, heads)[1]
        second_order = PackedSecondOrder(parts, self.model.root)
        scores, start = [], 0
        for i, (n, count) in enumerate(zip(parts.n_words.tolist(), counts.tolist(), strict=True)):
            end = start + count * n
            scores.append(second_order.tree_scores(i, heads[start:end].reshape(count, n)))
            start = end
        return np.concatenate(scores)
