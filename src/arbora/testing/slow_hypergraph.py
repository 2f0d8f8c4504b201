"""Reference implementation of hypergraph sums: inside, outside and adjoints as in the paper.

Gormley, Dredze & Eisner (2015), section 5.4. Weights are multiplied edge by edge without scaling,
so graphs and scores must be small.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from arbora.inference import Hypergraph
from arbora.types import FloatArray

__all__ = ["SlowHypergraph", "enumerate_derivations"]


class SlowHypergraph:
    """Sums over the derivations of a hypergraph (Gormley et al. 2015, Eqs. 13-15), with gradients.

    `beta` and `alpha` are the inside and outside sums of all nodes, `p` their marginals. `w[e]` is
    the weight of an edge, not its logarithm; it is 1 for an edge without a weight.
    """

    def __init__(self, graph: Hypergraph, scores: ArrayLike) -> None:
        self.graph = graph
        self.edges = [
            (int(head), [int(j) for j in tails if j >= 0])
            for head, tails in zip(graph.heads, graph.tails, strict=True)
        ]
        values = np.append(np.asarray(scores, dtype=np.float64), 0.0)  # the last is that of -1
        self.w = np.exp(values[graph.weights])
        self.order = np.argsort(graph.heads, kind="stable").tolist()
        self.beta = np.zeros(graph.n_nodes)
        for e in self.order:  # Eq. 13
            head, tails = self.edges[e]
            self.beta[head] += self.w[e] * np.prod(self.beta[tails])
        self.alpha = np.zeros(graph.n_nodes)
        self.alpha[graph.goal] = 1.0
        for e in reversed(self.order):  # Eq. 14, whose index should be the tail's
            head, tails = self.edges[e]
            for place, j in enumerate(tails):
                self.alpha[j] += self.w[e] * self.alpha[head] * self._others(tails, place)
        self.p = self.alpha * self.beta / self.beta[graph.goal]  # Eq. 15

    @property
    def log_partition(self) -> float:
        return float(np.log(self.beta[self.graph.goal]))

    def node_adjoints(self, d_p: FloatArray) -> FloatArray:
        """d_scores, for a function of the node marginals with gradient d_p (Eqs. 16-19)."""
        goal, total = self.graph.goal, self.beta[self.graph.goal]
        d_alpha = d_p * self.beta / total
        for e in self.order:  # Eq. 16, bottom-up: a head after its tails
            head, tails = self.edges[e]
            for place, j in enumerate(tails):
                d_alpha[head] += d_alpha[j] * self.w[e] * self._others(tails, place)
        d_beta = d_p * self.alpha / total
        d_beta[goal] -= np.sum(d_p * self.p) / total  # Eq. 17, with the goal's own term
        d_w = np.zeros(len(self.edges))
        for e in reversed(self.order):  # Eqs. 18 and 19, top-down: a tail after its heads
            head, tails = self.edges[e]
            d_w[e] += d_beta[head] * np.prod(self.beta[tails])
            for place, j in enumerate(tails):
                d_beta[j] += d_beta[head] * self.w[e] * self._others(tails, place)
                d_w[e] += d_alpha[j] * self.alpha[head] * self._others(tails, place)
                for other, k in enumerate(tails):
                    if other != place:  # alpha of the other tail has beta of this one in it
                        d_beta[j] += d_alpha[k] * self.w[e] * self.alpha[head]
        return self._of_weights(d_w * self.w)

    @property
    def marginals(self) -> FloatArray:
        """The expected number of uses of every weight."""
        return self._of_weights(self.edge_marginals)

    @property
    def edge_marginals(self) -> FloatArray:
        total = self.beta[self.graph.goal]
        inner = [np.prod(self.beta[tails]) for _, tails in self.edges]
        outer = self.alpha[[head for head, _ in self.edges]]
        return np.asarray(self.w * outer * inner / total)

    def _others(self, tails: list[int], place: int) -> float:
        """The product of the inside sums of the other tails; an edge has at most two."""
        return float(np.prod([self.beta[k] for i, k in enumerate(tails) if i != place]))

    def _of_weights(self, of_edges: FloatArray) -> FloatArray:
        answer = np.zeros(self.graph.n_weights + 1)
        np.add.at(answer, self.graph.weights, of_edges)
        return answer[:-1]


def enumerate_derivations(graph: Hypergraph) -> list[list[int]]:
    """The edges of every derivation of the goal."""

    def of_node(node: int) -> Iterator[list[int]]:
        for e in np.flatnonzero(graph.heads == node).tolist():
            tails = [of_node(int(j)) for j in graph.tails[e] if j >= 0]
            for below in itertools.product(*tails):
                yield [e, *itertools.chain(*below)]

    return list(of_node(graph.goal))
