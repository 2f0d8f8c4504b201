"""Any sum over a hypergraph can be a factor (Gormley et al. 2015, section 8)."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import FactorGraph
from arbora.inference.factors import Pair, TreeFactor
from tests.inference.test_hypergraph import eisner

WORDS = 3
ARCS = [(h, m) for m in range(1, WORDS + 1) for h in range(WORDS + 1) if h != m]


class HypergraphFactor:
    """Variables are weights of a hypergraph: on in a derivation that uses them."""

    def __init__(self, graph, variables, weights):
        self.graph, self.variables, self.weights = graph, np.asarray(variables), weights
        self.scores = np.empty(0)

    def derivations(self, incoming):
        scores = np.zeros(self.graph.n_weights)
        scores[self.weights] = incoming  # the ratios of the messages (G15, figure 2, C.1)
        return self.graph.derivations(scores)

    def log_partition(self, incoming):
        return self.derivations(incoming).log_partition

    def messages(self, incoming):
        on = self.derivations(incoming).marginals[self.weights]
        return np.log(on) - np.log1p(-on) - incoming

    def pullback(self, incoming, d_messages):
        sums, d_on = self.derivations(incoming), np.zeros(self.graph.n_weights)
        on = sums.marginals[self.weights]
        d_on[self.weights] = d_messages / (on * (1.0 - on))
        return sums.vjp(d_on)[self.weights] - d_messages, self.scores


@pytest.mark.parametrize("iterations", [1, 3])
def test_eisners_chart_is_the_projective_tree_factor(root, iterations, rng):
    scores, direction = rng.normal(size=(2, len(ARCS)))
    pairs = [Pair(0, 5, 1.0), Pair(1, 3, -2.0), Pair(4, 8, 1.5)]
    variables = np.arange(len(ARCS))
    chart = HypergraphFactor(eisner(WORDS, root), variables, [4 * h + m for h, m in ARCS])
    built_in = TreeFactor(variables, ARCS, "projective", root)
    one, other = (
        FactorGraph(scores, [*pairs, tree], iterations, schedule=[[0, 1, 2], [3]])
        for tree in (chart, built_in)
    )
    np.testing.assert_allclose(one.beliefs, other.beliefs, atol=1e-11)
    assert one.log_partition == pytest.approx(other.log_partition, abs=1e-10)
    gradients = [graph.vjp(direction) for graph in (one, other)]
    np.testing.assert_allclose(gradients[0].scores, gradients[1].scores, atol=1e-9)
    for i in range(len(pairs)):
        np.testing.assert_allclose(*(one.factors[i] for one in gradients), atol=1e-9)
