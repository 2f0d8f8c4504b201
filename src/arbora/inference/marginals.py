"""What inference answers: marginals of arcs and parts, and the gradient through them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from arbora.inference.packed import Packed
from arbora.inference.packed_second_order import SecondOrderSums
from arbora.scores import PartKind, Scores
from arbora.types import FloatArray

__all__ = ["ArcSums", "Marginals", "tree_entropies"]


class Sums(Protocol):
    """Sums over the trees of many sentences, as the kernels make them."""

    def sums(self) -> SecondOrderSums: ...

    def arc_marginals(self, *, gradient: bool = False) -> FloatArray: ...

    def vjp(
        self, d_arcs: FloatArray, d_tables: dict[PartKind, FloatArray] | None = None
    ) -> Scores: ...


class Marginals:
    """The answer of `infer`; its numbers are computed on first use.

    `exact` is False if they are approximations.
    """

    def __init__(self, scores: Scores, sums: Sums, *, exact: bool, gradient: bool) -> None:
        self.scores = scores
        self.exact = exact
        self._kernel = sums
        self._gradient = gradient
        self._sums: SecondOrderSums | None = None
        self._arcs: FloatArray | None = None

    @property
    def log_partition(self) -> FloatArray:
        """log Z of every sentence, or its approximation, (sentences,)."""
        return self._all().log_partition

    @property
    def marginals(self) -> Scores:
        """The marginals of all arcs and parts, in the shape of the scores."""
        return self._all().marginals

    @property
    def arcs(self) -> FloatArray:
        """The marginals of arcs, flat as the scores; cheaper than those of all parts."""
        if self._sums is not None:
            return self._sums.marginals.arcs
        if self._arcs is None:
            self._arcs = self._kernel.arc_marginals(gradient=self._gradient)
        return self._arcs

    def vjp(self, d_arcs: FloatArray, d_tables: dict[PartKind, FloatArray] | None = None) -> Scores:
        """The gradient of sum(d_arcs * arcs) + sum(d_tables * tables) by all scores.

        `d_arcs` is flat as `arcs`, each of `d_tables` as the table of its kind.
        """
        return self._kernel.vjp(d_arcs, d_tables)

    def _all(self) -> SecondOrderSums:
        if self._sums is None:
            self._sums = self._kernel.sums()
        return self._sums


class ArcSums:
    """Exact sums over first-order trees."""

    def __init__(self, scores: Scores, packed: Packed) -> None:
        self._scores, self._packed = scores, packed
        self._answer: SecondOrderSums | None = None

    def sums(self) -> SecondOrderSums:
        """log Z and marginals of every sentence."""
        if self._answer is None:
            found = self._packed.sums(marginals=True)
            self._answer = SecondOrderSums(
                found.log_partition, self._scores.with_values(found.marginals)
            )
        return self._answer

    def arc_marginals(self, *, gradient: bool = False) -> FloatArray:  # noqa: ARG002
        """The marginals of arcs, flat."""
        return self.sums().marginals.arcs

    def vjp(
        self,
        d_arcs: FloatArray,
        d_tables: dict[PartKind, FloatArray] | None = None,  # noqa: ARG002  # there are none
    ) -> Scores:
        """The gradient of sum(d_arcs * marginals) by the arc scores."""
        pieces = self._packed.vjp(self.sums().marginals.arcs, d_arcs)
        flat = [piece.reshape(-1) for piece in pieces]
        return self._scores.with_values(np.concatenate(flat) if flat else np.empty(0))


def tree_entropies(marginals: Marginals) -> FloatArray:
    """The entropy of the trees of each sentence, log Z - E[score], in nats.

    With approximate marginals it is the Bethe approximation, and may be off in both directions.
    """
    scores, summed = marginals.scores, marginals.marginals
    sizes = (scores.n_words + 1) ** 2 * scores.depth
    expected = np.add.reduceat(_products(scores.arcs, summed.arcs), np.cumsum(sizes) - sizes)
    for kind in scores.kinds:
        table, ends = scores.values(kind), scores.starts(kind)
        products = np.concatenate([_products(table, summed.values(kind)), [0.0]])
        expected += np.where(np.diff(ends) > 0, np.add.reduceat(products, ends[:-1]), 0.0)
    return np.asarray(np.maximum(marginals.log_partition - expected, 0.0))


def _products(scores: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Scores times probabilities; 0 times -inf is 0."""
    return np.where(probabilities > 0.0, scores, 0.0) * probabilities
