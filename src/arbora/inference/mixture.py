"""Mixtures of distributions over trees (Smith & Smith 2007, section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arbora.arrays import as_list
from arbora.errors import ArgumentError, ShapeError
from arbora.inference.arguments import as_count, as_real, as_seed
from arbora.inference.decoding import minimum_bayes_risk
from arbora.inference.distribution import TreeDistribution
from arbora.inference.packed import check_draws, read_only
from arbora.inference.risk import ArcLoss, expected_costs, least_cost
from arbora.inference.seen import SeenTrees
from arbora.types import FloatArray, Root, Samples, Tree

__all__ = ["Mixture"]


class Mixture(SeenTrees):
    """A weighted average of distributions over trees of the same words.

    Parameters
    ----------
    components
        Distributions with scores of the same shape; classes and roots may differ.
    weights
        Non-negative numbers, one per component, scaled to sum to 1; equal if not given.
    """

    exact = True

    def __init__(
        self, components: Sequence[TreeDistribution], weights: ArrayLike | None = None
    ) -> None:
        if isinstance(components, TreeDistribution):
            raise ArgumentError("a mixture needs a list of distributions, not a single one.")
        self.components = tuple(as_list(components, "a mixture needs a list of distributions"))
        if not self.components:
            raise ArgumentError("a mixture needs at least one component.")
        for i, component in enumerate(self.components):
            if not isinstance(component, TreeDistribution):
                raise ArgumentError(
                    f"component {i} is a {type(component).__name__}, not a distribution over trees."
                )
            if component.scores.shape != self.components[0].scores.shape:
                raise ShapeError(
                    f"component {i} has scores of shape {component.scores.shape}, "
                    f"component 0 of shape {self.components[0].scores.shape}: they must agree."
                )
        self.weights = _as_weights(weights, len(self.components))

    def __repr__(self) -> str:
        return f"Mixture({list(self.components)!r}, weights={self.weights.tolist()})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        read_only(self.weights)  # arrays come out of a pickle writable

    @property
    def n_words(self) -> int:
        """Number of words, n."""
        return self.components[0].n_words

    @property
    def n_labels(self) -> int | None:
        """Number of labels, L, or None."""
        return self.components[0].n_labels

    @property
    def marginals(self) -> FloatArray:
        """P(arc): the average of the components' marginals."""
        pairs = zip(self.weights, self.components, strict=True)
        return read_only(np.sum([w * c.marginals for w, c in pairs if w > 0], axis=0))

    def log_prob(self, heads: ArrayLike, labels: ArrayLike | None = None) -> Any:
        """log P of a tree, -inf if no component has it; an array for heads of shape (k, n)."""
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        terms = [
            log_weight + np.asarray(component.log_prob(heads, labels))
            for log_weight, component in zip(log_weights, self.components, strict=True)
        ]
        answer = np.logaddexp.reduce(terms, axis=0)
        return float(answer) if answer.ndim == 0 else read_only(answer)

    def mbr(self, loss: ArcLoss | None = None) -> Tree:
        """The tree with the least expected loss: by default, the number of wrong arcs.

        It is the best of the smallest class that contains the trees of all components. If their
        classes differ, it may be a tree that no component has. A mixture has no scores: the tree's
        `score` is its log-probability.
        """
        used = [c for w, c in zip(self.weights, self.components, strict=True) if w > 0]
        # The smallest class with the trees of all components.
        widest = min(used, key=lambda c: c.trees == "projective")
        # An arc is excluded only if every component forbids it.
        allowed = np.max([c.scores for c in used], axis=0)
        root: Root = "multi" if any(c.root == "multi" for c in used) else "single"
        packed = widest._packed.with_scores(allowed.ravel(), root)
        if loss is None:
            tree = minimum_bayes_risk(packed, self.marginals.ravel())[0]
        else:
            tree = least_cost(packed, expected_costs(loss, allowed, self.marginals))
        return Tree(tree.heads, tree.labels, self.log_prob(tree.heads, tree.labels))

    def sample(self, k: int = 1, seed: int | None = None) -> Any:
        """k independent exact draws: heads of shape (k, n), or `Samples` with labels."""
        count, key = as_count(k, "k"), as_seed(seed)
        # Heads and labels of the mixture and of a component, and which component each draw is of.
        check_draws(count, self.n_words, bytes_per_word=16 + 32 // self.n_words)
        chosen = np.random.default_rng(key).choice(len(self.weights), size=count, p=self.weights)
        heads = np.empty((count, self.n_words), dtype=np.int32)
        labels = np.empty_like(heads)
        for i, component in enumerate(self.components):
            rows = np.flatnonzero(chosen == i)
            if not len(rows):
                continue
            drawn = component.sample(len(rows), seed=(key + i * 0x9E3779B97F4A7C15) % 2**64)
            heads[rows] = drawn.heads if isinstance(drawn, Samples) else drawn
            if isinstance(drawn, Samples):
                labels[rows] = drawn.labels
        if self.n_labels is None:
            return read_only(heads)
        return Samples(read_only(heads), read_only(labels))


def _as_weights(weights: ArrayLike | None, count: int) -> FloatArray:
    if weights is None:
        return read_only(np.full(count, 1.0 / count))
    array = as_real(weights, "weights").astype(np.float64)
    if array.shape != (count,):
        raise ShapeError(
            f"there are {count} components, but weights of shape {array.shape}: give one each."
        )
    if not np.isfinite(array).all() or (array < 0).any() or array.max() <= 0:
        raise ArgumentError("weights must be non-negative finite numbers, not all of them 0.")
    array = array / array.max()  # so that the sum does not overflow
    return read_only(array / array.sum())
