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
from arbora.inference.part_inference import Infer
from arbora.inference.pruning import Pruning, likely_arcs
from arbora.losses import part_beliefs
from arbora.parsers.model import Model
from arbora.scores import Scores
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

    `infer` makes sums over trees, exact or approximate, and with them probabilities of the same
    order; dual decomposition has none. `exact` says that the sums are those of all trees.
    """

    def __init__(self, model: Model, threads: int, trees: TreeClass) -> None:
        self.model, self.trees = model, trees
        inference = model.settings.inference
        self.exact = inference == "exact"
        self.infer: Infer | None = None
        if inference in ("exact", "bp"):
            self.infer = model.part_inference("exact" if inference == "exact" else "bp")
        self._scorer = model.part_scorer(threads)

    def parts(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        first_order: Packed,
        temperature: float = 1.0,
    ) -> Scores:
        """Scores of the arcs and parts that survive the pruner's distribution."""
        kept = prune(self.model, first_order).kept
        return self._scorer.scores(self.model.weights, encoded, sentences, kept, 1.0 / temperature)

    def best(self, parts: Scores, decode: str) -> PartAnswers:
        """The best trees, or (mbr) those with most expected correct arcs."""
        root = self.model.root
        if self.infer is None:
            settings = self.model.settings
            found = decode_dual(parts, self.trees, root, settings.max_iterations, settings.solver)
            return PartAnswers(found.heads, found.certified, found.bounds - found.scores)
        if decode == "mbr":
            beliefs = part_beliefs(self.infer(parts), self.trees, root)
            heads = np.concatenate([tree.heads for tree in beliefs.argmax()])
        else:
            heads, _ = PackedSecondOrder(parts, root).argmax()
        # Of the best trees by approximate beliefs nothing is known.
        gaps = np.full(len(parts), 0.0 if self.exact else np.inf)
        return PartAnswers(heads, np.full(len(parts), self.exact), gaps)

    def sums(self, parts: Scores) -> SecondOrderSums:
        """log Z and marginals, or their approximations."""
        assert self.infer is not None
        return self.infer(parts).sums()

    def kbest(self, parts: Scores, k: int) -> tuple[IntArray, NDArray[np.int64]]:
        """Heads of each sentence's k best trees under an exact model, and how many it has."""
        heads, _, counts = PackedSecondOrder(parts, self.model.root).kbest(k)
        return heads, counts

    def sample(
        self, parts: Scores, count: int, seed: int, keys: NDArray[np.int64]
    ) -> IntArray:
        """Heads of exact draws from an exact model."""
        return PackedSecondOrder(parts, self.model.root).sample(count, seed, keys)

    def tree_scores(
        self, parts: Scores, heads: IntArray, counts: NDArray[np.int64] | None
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
