"""The distribution over trees with parts as an explicit table, for up to about six words."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.scores import PartKind, Parts
from arbora.testing.enumeration import enumerate_trees
from arbora.testing.slow_parts import part_rows_of_tree, score_parts_slowly
from arbora.types import FloatArray, Root, TreeClass

__all__ = ["EnumeratedParts"]


class EnumeratedParts:
    """Every tree with its score; has the methods of the fast classes."""

    def __init__(
        self, parts: Parts, trees: TreeClass = "projective", root: Root = "single"
    ) -> None:
        self.parts = parts
        every = enumerate_trees(parts.n_words, trees, root)
        scores = np.array([score_parts_slowly(parts, heads) for heads in every.tolist()])
        self.heads = every[scores > -np.inf]
        self.tree_scores: FloatArray = scores[scores > -np.inf]

    @property
    def log_partition(self) -> float:
        top = self.tree_scores.max()
        return float(top + math.log(math.fsum(np.exp(self.tree_scores - top))))

    @property
    def probabilities(self) -> FloatArray:
        weights = np.exp(self.tree_scores - self.tree_scores.max())
        return np.asarray(weights / math.fsum(weights))

    def has_arcs(self) -> FloatArray:
        """Indicators of the arcs of every tree: (trees, n+1, n+1)."""
        count, n_words = self.heads.shape
        answer = np.zeros((count, n_words + 1, n_words + 1))
        answer[np.arange(count)[:, None], self.heads, np.arange(1, n_words + 1)] = 1.0
        return answer

    def has_parts(self, kind: PartKind) -> FloatArray:
        """Indicators of the parts of every tree, in the given order: (trees, parts)."""
        rows = [tuple(row) for row in getattr(self.parts, kind).rows.tolist()]
        found = (part_rows_of_tree(kind, heads) for heads in self.heads.tolist())
        return np.array([[float(row in has) for row in rows] for has in found]).reshape(
            len(self.heads), len(rows)
        )

    @property
    def marginals(self) -> FloatArray:
        return np.asarray(np.tensordot(self.probabilities, self.has_arcs(), axes=1))

    @property
    def part_marginals(self) -> dict[PartKind, FloatArray]:
        return {kind: self.probabilities @ self.has_parts(kind) for kind in self.parts.kinds}

    def vjp(
        self, d_marginals: FloatArray, d_part_marginals: dict[PartKind, ArrayLike]
    ) -> tuple[FloatArray, dict[PartKind, FloatArray]]:
        """The covariance of an additive function with every arc and part."""
        p = self.probabilities
        values = np.tensordot(self.has_arcs(), d_marginals, axes=2)
        for kind, given in d_part_marginals.items():
            values += self.has_parts(kind) @ np.asarray(given)
        weighted: NDArray[np.float64] = p * (values - float(np.sum(p * values)))
        of_parts = {kind: weighted @ self.has_parts(kind) for kind in self.parts.kinds}
        return np.asarray(np.tensordot(weighted, self.has_arcs(), axes=1)), of_parts

    def entropy(self) -> float:
        p = self.probabilities
        used = p > 0
        return float(-np.sum(p[used] * np.log(p[used])))
