"""Enumeration of all trees, the reference for all other methods, for up to about six words."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.types import FloatArray, Root, TreeClass

__all__ = ["EnumeratedTrees", "count_trees", "enumerate_trees"]


@lru_cache(maxsize=64)
def enumerate_trees(n_words: int, trees: TreeClass, root: Root) -> NDArray[np.int64]:
    """The heads of all trees of a class, one tree per row, in lexicographic order."""
    found = [
        heads
        for heads in itertools.product(range(n_words + 1), repeat=n_words)
        if _leads_to_root(heads)
        and (root == "multi" or heads.count(0) == 1)
        and (trees == "nonprojective" or not _has_crossing(heads))
    ]
    answer = np.array(found, dtype=np.int64).reshape(len(found), n_words)
    answer.setflags(write=False)
    return answer


def count_trees(n_words: int, trees: TreeClass, root: Root) -> int:
    """The number of trees: Cayley's formula, and its projective counterparts."""
    n = n_words
    if trees == "nonprojective":
        return int((n + 1) ** (n - 1) if root == "multi" else n ** (n - 1))
    if root == "multi":
        return math.comb(3 * n, n) // (2 * n + 1)
    return math.comb(3 * n - 2, n - 1) // n


class EnumeratedTrees:
    """The distribution over trees as an explicit table; has the methods of the fast classes."""

    def __init__(
        self, scores: ArrayLike, trees: TreeClass = "nonprojective", root: Root = "single"
    ) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        n_words = self.scores.shape[0] - 1
        n_labels = self.scores.shape[2] if self.scores.ndim == 3 else 1
        shapes = enumerate_trees(n_words, trees, root)
        labellings = np.array(list(itertools.product(range(n_labels), repeat=n_words)))
        heads = np.repeat(shapes, len(labellings), axis=0)
        labels = np.tile(labellings, (len(shapes), 1))
        index = self._cells(heads, labels)
        tree_scores = np.asarray(self.scores[index].sum(axis=1))
        possible = ~np.isneginf(tree_scores)
        self.heads, self.labels = heads[possible], labels[possible]
        self.tree_scores: FloatArray = tree_scores[possible]

    def _cells(self, heads: NDArray[np.int64], labels: NDArray[np.int64]) -> tuple[NDArray, ...]:  # type: ignore[type-arg]  # integers of any width
        words = np.broadcast_to(np.arange(1, heads.shape[1] + 1), heads.shape)
        return (heads, words) if self.scores.ndim == 2 else (heads, words, labels)

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def log_partition(self) -> float:
        top = self.tree_scores.max()
        return float(top + math.log(math.fsum(np.exp(self.tree_scores - top))))

    @property
    def probabilities(self) -> FloatArray:
        weights = np.exp(self.tree_scores - self.tree_scores.max())
        return np.asarray(weights / math.fsum(weights))

    @property
    def marginals(self) -> FloatArray:
        return self.weighted_arcs(self.probabilities)

    def weighted_arcs(self, weights: FloatArray) -> FloatArray:
        """For every arc, the sum of the weights of the trees that contain it."""
        answer = np.zeros(self.scores.shape)
        index = self._cells(self.heads, self.labels)
        np.add.at(answer, index, weights[:, None])
        return answer

    def values_of(self, values: FloatArray) -> FloatArray:
        """The value of an additive function for every tree."""
        return np.asarray(values[self._cells(self.heads, self.labels)].sum(axis=1))

    def vjp(self, d_marginals: FloatArray) -> FloatArray:
        """Covariance of an additive function with every arc."""
        p, values = self.probabilities, self.values_of(d_marginals)
        return self.weighted_arcs(p * (values - float(np.sum(p * values))))

    def entropy(self) -> float:
        log_p = self.tree_scores - self.log_partition
        return float(-np.sum(np.exp(log_p) * log_p))

    def sorted_scores(self) -> FloatArray:
        return np.sort(self.tree_scores)[::-1]


def _leads_to_root(heads: tuple[int, ...]) -> bool:
    for word in range(1, len(heads) + 1):
        here, steps = word, 0
        while here != 0:
            here, steps = heads[here - 1], steps + 1
            if steps > len(heads):
                return False
    return True


def _has_crossing(heads: tuple[int, ...]) -> bool:
    spans = [(min(head, word), max(head, word)) for word, head in enumerate(heads, start=1)]
    return any(a < c < b < d for (a, b), (c, d) in itertools.permutations(spans, 2))
