"""Distributions over the derivations of a hypergraph (Gormley, Dredze & Eisner 2015, 5.4).

Hidden Markov models, context-free grammars and Eisner's chart are hypergraphs: edges state which
item is built from which. `Derivations` has the methods of the distributions over trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._core import inference as kernels
from arbora.errors import ArgumentError, NoTreeError, ScoreError, ShapeError, TooLargeError
from arbora.inference.arguments import LARGEST_VALUE, as_array, as_count, as_real, as_seed
from arbora.inference.packed import physical_memory, read_only
from arbora.types import FloatArray

__all__ = ["Derivation", "Derivations", "Hypergraph"]

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Derivation:
    """The edges of one derivation, from the goal down, and its score."""

    edges: Numbers
    score: float


class Hypergraph:
    """Nodes, and edges that build them.

    Parameters
    ----------
    heads
        `heads[e]` is the node that edge e builds. Nodes are numbered from 0 in topological order.
    tails
        Shape (edges, 0 to 2): the nodes that edge e builds it from, each less than its head; -1
        is no tail.
    weights
        `weights[e]` is the number of the edge's weight, which several edges may share; -1 is none.
        By default every edge has its own.
    goal
        The node whose derivations are summed over; by default the last one.
    """

    def __init__(
        self,
        heads: ArrayLike,
        tails: ArrayLike,
        weights: ArrayLike | None = None,
        goal: int | None = None,
    ) -> None:
        self.heads = _numbers(heads, "heads")
        count = len(self.heads)
        if count == 0:
            raise ShapeError("a hypergraph needs at least one edge.")
        self.tails = _tails(tails, count)
        self.weights = _numbers(np.arange(count) if weights is None else weights, "weights")
        if len(self.weights) != count:
            raise ShapeError(
                f"there are {count} edges, but {len(self.weights)} weights: give one each."
            )
        self._check()
        self.n_nodes = int(self.heads.max()) + 1
        self.n_weights = int(self.weights.max()) + 1
        self.goal = self.n_nodes - 1 if goal is None else as_count(goal, "goal", least=0)
        if not self.goal < self.n_nodes:
            raise ArgumentError(f"the goal is node {goal}, but nodes are 0 to {self.n_nodes - 1}.")
        self._order = np.argsort(self.heads, kind="stable")  # groups edges by head
        tails_in_order = (self.tails[self._order] + 1).astype(np.int32)
        self._kernel = kernels.Hypergraph(
            np.bincount(self.heads, minlength=self.n_nodes),
            np.ascontiguousarray(tails_in_order[:, 0]),
            np.ascontiguousarray(tails_in_order[:, 1]),
            (self.weights[self._order] + 1).astype(np.int32),
        )

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.heads)

    def __repr__(self) -> str:
        return f"Hypergraph({self.n_nodes} nodes, {self.n_edges} edges, {self.n_weights} weights)"

    def derivations(self, scores: ArrayLike) -> Derivations:
        """The distribution under a score per weight, in the log domain; -inf forbids."""
        return Derivations(self, scores)

    def _check(self) -> None:
        highest = np.iinfo(np.int32).max - 1
        for what, values in (("head", self.heads), ("weight", self.weights)):
            low = 0 if what == "head" else -1
            bad = np.flatnonzero((values < low) | (values > highest))
            if len(bad):
                raise ArgumentError(
                    f"the {what} of edge {bad[0]} is {values[bad[0]]}, not from {low} to {highest}."
                )
        wrong = (self.tails < -1) | (self.tails >= self.heads[:, None])
        if wrong.any():
            edge, place = (int(i) for i in np.argwhere(wrong)[0])
            raise ArgumentError(
                f"edge {edge} builds node {self.heads[edge]} from node {self.tails[edge, place]}: "
                "number the nodes so that tails come before their heads; -1 is no tail."
            )


class Derivations:
    """The derivations of a hypergraph's goal; P(derivation) is proportional to exp(score).

    The score of a derivation is the sum of the scores of its edges' weights. All answers are exact.
    A node that a derivation uses twice is derived twice, independently.
    """

    exact = True

    def __init__(self, graph: Hypergraph, scores: ArrayLike) -> None:
        self.graph = graph
        self.scores = _scores(scores, graph.n_weights)
        padded = np.concatenate([[0.0], self.scores])
        self._kernel = graph._kernel.weighted(padded, graph.goal + 1)
        if not self._kernel.is_possible():
            raise NoTreeError(
                "there is no derivation: each has a score of -inf, or a node without an edge."
            )
        _counted(self.log_partition)

    def __repr__(self) -> str:
        return f"Derivations of {self.graph!r}"

    @property
    def log_partition(self) -> float:
        """log Z: the logarithm of the sum of exp(score) over all derivations."""
        return self._kernel.log_partition

    @property
    def marginals(self) -> FloatArray:
        """The expected number of uses of every weight: P(weight) if it is used once at most."""
        return read_only(_counted(self._kernel.marginals()[1:]))

    @property
    def node_marginals(self) -> FloatArray:
        """The expected number of uses of every node (Gormley et al. 2015, Eq. 15)."""
        return read_only(_counted(self._kernel.node_marginals()[1:]))

    @property
    def edge_marginals(self) -> FloatArray:
        """The expected number of uses of every edge."""
        local = np.empty(self.graph.n_edges)
        local[self.graph._order] = self._kernel.local()
        return read_only(local * self.node_marginals[self.graph.heads])

    def entropy(self) -> float:
        """The entropy of the distribution over derivations, in nats."""
        return float(_counted(self._kernel.entropy()))

    def expect(self, values: ArrayLike) -> float:
        """The expectation of an additive function: the sum of `values` over the weights used."""
        return float(np.sum(self.marginals * _directions(values, self.scores, "values")))

    def variance(self, values: ArrayLike) -> float:
        """The variance of an additive function."""
        return max(0.0, self.covariance(values, values))

    def covariance(self, a: ArrayLike, b: ArrayLike) -> float:
        """The covariance of two additive functions."""
        return float(np.sum(_directions(a, self.scores, "a") * self.vjp(b)))

    def vjp(self, d_marginals: ArrayLike) -> FloatArray:
        """The gradient through the marginals, by dual numbers: d_scores for a given d_marginals.

        Also the Jacobian times d_marginals: the Jacobian is a covariance matrix, so symmetric.
        """
        direction = _directions(d_marginals, self.scores, "d_marginals")
        return read_only(_counted(self._kernel.vjp(np.concatenate([[0.0], direction]))[1:]))

    def argmax(self) -> Derivation:
        """The best derivation; of equals, the one whose edges were given first."""
        edges, score = _unfolded(self._kernel.argmax)
        return self._derivation(edges, score)

    def best_with(self) -> FloatArray:
        """For every weight, the score of the best derivation that uses it; -inf if none does."""
        return read_only(self._kernel.best_with()[1:])

    def kbest(self, k: int) -> list[Derivation]:
        """The k best derivations, distinct, best first (Huang & Chiang 2005); all if fewer."""
        count = as_count(k, "k")
        self._check_memory(count, at_most=True)
        edges, counts, scores = _unfolded(lambda: self._kernel.kbest(count))
        pieces = np.split(edges, np.cumsum(counts)[:-1])
        return [self._derivation(*pair) for pair in zip(pieces, scores.tolist(), strict=True)]

    def sample(self, k: int = 1, seed: int | None = None) -> list[Derivation]:
        """k independent exact draws; draw i depends on the seed and on i only."""
        count, key = as_count(k, "k"), as_seed(seed)
        self._check_memory(count)
        edges, counts = _unfolded(lambda: self._kernel.sample(count, key))
        drawn = (self.graph._order[piece] for piece in np.split(edges, np.cumsum(counts)[:-1]))
        return [Derivation(read_only(piece), self.score(piece)) for piece in drawn]

    def score(self, edges: ArrayLike) -> float:
        """The score of a derivation, given its edges."""
        numbers = _numbers(edges, "edges")
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < self.graph.n_edges:
            raise ArgumentError(f"edges must be numbers from 0 to {self.graph.n_edges - 1}.")
        used = self.graph.weights[numbers]
        return float(self.scores[used[used >= 0]].sum())

    def _check_memory(self, count: int, at_most: bool = False) -> None:
        """Raises if the derivations exceed memory; `at_most`: there may be fewer than `count`."""
        if count < _NEVER_TOO_MANY:
            return
        size = len(self.argmax().edges)
        if at_most and count * _bytes(size) > physical_memory():
            number = Derivations(self.graph, np.where(np.isneginf(self.scores), -np.inf, 0.0))
            count = int(np.exp(min(number.log_partition, np.log(count))))
        if count * _bytes(size) > physical_memory():
            raise TooLargeError(
                f"{count} derivations of about {size} edges need {count * _bytes(size) / 1e9:.1f} "
                f"GB, and this machine has {physical_memory() / 1e9:.1f} GB: ask for fewer, "
                f"{physical_memory() // _bytes(size)} at most."
            )

    def _derivation(self, edges: Numbers, score: float) -> Derivation:
        return Derivation(read_only(self.graph._order[edges]), score)


_NEVER_TOO_MANY = 1 << 14  # derivations; the core checks the size of huge ones


def _bytes(size: int) -> int:
    """Bytes of a derivation with `size` edges, in the core and here."""
    return 40 * size + 400


Answer = TypeVar("Answer", FloatArray, float)


def _counted(answer: Answer) -> Answer:
    """The same; raises if it overflowed."""
    if not np.isfinite(answer).all():
        raise TooLargeError(
            "the answer overflows float64: nodes are used too often, or scores are too large."
        )
    return answer


Edges = TypeVar("Edges")


def _unfolded(answer: Callable[[], Edges]) -> Edges:
    """The edges of derivations; raises if they exceed memory."""
    try:
        return answer()
    except MemoryError:
        raise TooLargeError(
            "a derivation uses nodes repeatedly and has more edges than fit into memory."
        ) from None


def _numbers(values: ArrayLike, what: str) -> Numbers:
    array = as_array(values, what)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ShapeError(f"{what} must be a row of whole numbers, not {array.dtype} {array.shape}.")
    return read_only(array.astype(np.int64) if array.size else np.empty(0, dtype=np.int64))


def _tails(tails: ArrayLike, count: int) -> Numbers:
    array = as_array(tails, "tails")
    if array.ndim != 2 or array.shape[0] != count or array.shape[1] > 2:
        raise ShapeError(
            f"tails must have shape ({count}, 2), -1 for no tail, not {array.shape}: "
            "split an edge with more tails into two edges with a node between."
        )
    if array.size and array.dtype.kind not in "iu":
        raise ShapeError(f"tails must be whole numbers, not {array.dtype}.")
    answer = np.full((count, 2), -1, dtype=np.int64)
    answer[:, : array.shape[1]] = array
    return read_only(answer)


def _scores(scores: ArrayLike, count: int) -> FloatArray:
    array = as_real(scores, "scores")
    if array.shape != (count,):
        raise ShapeError(
            f"there are {count} weights, but scores of shape {array.shape}: give one each."
        )
    answer = array.astype(np.float64)
    bad = ~((np.abs(answer) <= kernels.LARGEST_SCORE) | np.isneginf(answer))
    if bad.any():
        place = int(np.argmax(bad))
        raise ScoreError(
            f"scores[{place}] is {answer[place]}: scores are numbers up to "
            f"{kernels.LARGEST_SCORE:g} in magnitude, or -inf."
        )
    return read_only(answer)


def _directions(values: ArrayLike, scores: FloatArray, what: str) -> FloatArray:
    """Finite numbers, one per weight; set to 0 where the score is -inf."""
    array: NDArray[Any] = as_real(values, what).astype(np.float64)
    if array.shape != scores.shape:
        raise ShapeError(f"{what} must have shape {scores.shape}, not {array.shape}.")
    array = np.where(np.isneginf(scores), 0.0, array)
    if not (np.abs(array) <= LARGEST_VALUE).all():
        raise ShapeError(f"{what} must be finite numbers, at most {LARGEST_VALUE:g} in magnitude.")
    return array
