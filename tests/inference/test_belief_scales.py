"""Belief propagation against enumeration in logarithms, at every scale that scores may have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from arbora import (
    FactorGraph,
    LoopyTrees,
    NoTreeError,
    Parts,
    ProjectiveTrees,
    SecondOrderTrees,
    SpanningTrees,
)
from arbora.errors import ConstraintError
from arbora.inference.factors import AtMostOne, Chain, ExactlyOne, Pair, Table, TreeFactor
from arbora.testing import (
    EnumeratedFactor,
    RandomFactorGraph,
    RandomSentence,
    SlowGraph,
    SlowLoopy,
    random_factor,
    random_parts,
)
from tests.helpers import level_scores, random_scores

SCALES = (1.0, 100.0, 1000.0, 3000.0, 10000.0)


@pytest.mark.parametrize("kind", [RandomSentence, RandomFactorGraph])
def test_random_graphs_at_all_scales(kind, rng):
    """`benchmarks/check_beliefs.py` compares many more."""
    for _ in range(200):
        graph = kind.draw(rng)
        assert graph.error() < 1e-6, graph


def test_single_messages_at_all_scales(rng):
    """And their gradients, also where incoming messages are infinite."""
    for scale, _ in itertools.product(SCALES, range(60)):
        factor = random_factor(rng, 9)
        slow, k = EnumeratedFactor.of(factor), len(factor.variables)
        incoming = scale * rng.normal(size=k)
        if rng.random() < 0.3:
            incoming[rng.integers(k)] = rng.choice([-np.inf, np.inf])
        told = incoming.astype(np.longdouble)
        if (slow.weights(told) == -np.inf).all():
            assert factor.log_partition(incoming) == -np.inf
            continue
        messages, expected = factor.messages(incoming), slow.messages(told)
        infinite = np.isinf(expected)
        assert (messages[infinite] == expected[infinite]).all()
        assert np.abs(messages[~infinite] - expected[~infinite]).max(initial=0.0) < 1e-7
        direction = rng.normal(size=k)
        for fast, exact in zip(
            factor.pullback(incoming, direction), slow.pullback(told, direction), strict=True
        ):
            assert np.abs(fast - exact).max(initial=0.0) < 1e-6


CLASSES = {"nonprojective": SpanningTrees, "projective": ProjectiveTrees}


@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
@pytest.mark.parametrize("scale", [10.0, 30.0, 100.0, 300.0, 1000.0, 10000.0])
def test_messages_of_trees_are_ratios_of_sums(trees, root, scale, rng):
    """Plain marginals, logarithms of plain numbers and wide numbers take over from each other."""
    for n_words, mask in ((5, 0.0), (8, 0.6), (13, 0.0), (13, 0.8)):
        for scores in (random_scores(rng, n_words, scale, mask),
                       level_scores(rng, n_words, scale, mask)):  # fmt: skip
            scores[:, 0] = scores[np.arange(n_words + 1), np.arange(n_words + 1)] = -np.inf
            arcs = np.argwhere(scores > -np.inf)
            incoming = scores[tuple(arcs.T)]
            try:
                factor = TreeFactor(np.arange(len(arcs)), arcs, trees, root)
            except NoTreeError:
                continue
            messages = factor.messages(incoming)
            for i in rng.permutation(len(arcs))[:12]:
                expected = _log_odds(scores, tuple(arcs[i]), trees, root) - incoming[i]
                assert messages[i] == pytest.approx(expected, abs=1e-6)


def _log_odds(scores, arc, trees, root):
    """log of the sums over trees with and without an arc."""
    logs = []
    for forbidden in (np.arange(len(scores)) != arc[0], np.arange(len(scores)) == arc[0]):
        given = scores.copy()
        given[forbidden, arc[1]] = -np.inf
        try:
            logs.append(CLASSES[trees](given, root).log_partition)
        except NoTreeError:
            logs.append(-np.inf)
    return logs[0] - logs[1]


@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_single_kinds_of_factors_at_large_scales(trees, rng):
    """One factor and the tree: graphs in which a wrong message shows at once."""
    for scale, kind in itertools.product((1000.0, 10000.0), ("consecutive_siblings", "siblings")):
        for _ in range(15):
            parts = random_parts(rng, 3, (kind,), scale=scale)
            fast, slow = LoopyTrees(parts, trees), SlowLoopy(parts, trees)
            assert np.abs(fast.marginals - slow.marginals).max() < 1e-6


def test_a_chain_does_not_turn_a_preference_into_an_impossibility():
    assert FactorGraph([2000.0], [Chain([0], [-1000.0, 0.0, 0.0])]).beliefs[0] == 1.0
    arcs = np.zeros((3, 3))
    arcs[0, 1] = 2000.0
    parts = Parts(arcs, consecutive_siblings=([[0, 1, -1, 1]], [-1000.0]))
    exact = SecondOrderTrees(parts).marginals
    for trees in ("nonprojective", "projective"):
        assert np.abs(LoopyTrees(parts, trees).marginals - exact).max() < 1e-9


@pytest.mark.parametrize("scale", [1000.0, 3000.0, 10000.0])
def test_a_single_chain_is_exact(scale, rng):
    for _ in range(100):
        k = int(rng.integers(1, 5))
        scores = scale * rng.normal(size=k)
        chain = Chain(np.arange(k), scale * rng.normal(size=(k + 1) * (k + 2) // 2))
        difference = FactorGraph(scores, [chain]).beliefs - SlowGraph(scores, [chain]).beliefs
        assert np.abs(difference).max() < 1e-6


def test_projective_trees_hear_what_makes_up_for_next_to_nothing():
    arcs = np.zeros((3, 3))
    arcs[0, 1], arcs[0, 2], arcs[1, 2], arcs[2, 1] = -2000.0, -3000.0, 1000.0, -3000.0
    parts = Parts(arcs, grandparents=([[0, 2, 1], [0, 1, 2]], [4300.0, -1700.0]))
    beliefs = LoopyTrees(parts, "projective")
    assert beliefs.marginals[0, 1:] == pytest.approx([0.0, 1.0])
    assert np.abs(beliefs.marginals - SlowLoopy(parts, "projective").marginals).max() < 1e-9


@pytest.mark.parametrize("schedule", ["serial", "parallel"])
@pytest.mark.parametrize("score", [-10000.0, -1000.0, -100.0, 0.0, 1000.0])
def test_hard_constraints_outweigh_every_score(schedule, score):
    for iterations in (1, 2, 3, 4):
        graph = FactorGraph(
            [score], [ExactlyOne([0]), ExactlyOne([0])], iterations, schedule=schedule
        )
        assert graph.beliefs[0] == 1.0
        assert graph.log_partition == score


def test_what_follows_from_hard_constraints_is_certain():
    """Variable 0 is on, so 1 is off, so 2 is on, whatever their scores."""
    factors = [ExactlyOne([0]), AtMostOne([0, 1]), Table([1, 2], [[-np.inf, 0.0], [0.0, 0.0]])]
    for schedule in ("serial", "parallel"):
        graph = FactorGraph([-900.0, 5000.0, -7000.0], factors, 5, schedule=schedule)
        assert graph.beliefs.tolist() == [1.0, 0.0, 1.0]
        assert graph.log_partition == pytest.approx(-900.0 - 7000.0)
        assert (graph.vjp([1.0, 1.0, 1.0]).scores == 0.0).all()
        assert graph.residuals[-1] == 0.0


@pytest.mark.parametrize(
    ("factors", "text"),
    [
        ([ExactlyOne([0]), Table([0], [0.0, -np.inf])], r"variables \[0\] leave no configuration"),
        ([ExactlyOne([0]), ExactlyOne([1]), AtMostOne([0, 1])], r"configuration of AtMostOne"),
        ([ExactlyOne([0]), ExactlyOne([1]), TreeFactor([0, 1], [(0, 1), (0, 2)], root="multi"),
          Pair(0, 1, -np.inf)], "contradict"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("schedule", ["serial", "parallel"])
def test_contradictions_are_errors(factors, text, schedule):
    with pytest.raises(ConstraintError, match=text):
        FactorGraph([0.0, 0.0], factors, schedule=schedule)
    with pytest.raises(ConstraintError, match="variable 0 would have to be on and off"):
        FactorGraph([0.0], [ExactlyOne([0]), Table([0], [0.0, -np.inf])], 1, schedule="parallel")


class Both:
    """Scores both of two variables, in Python; a factor that does not take infinities."""

    def __init__(self, score):
        self.variables, self.scores = np.array([0, 1]), np.array([score])
        self._pair = Pair(0, 1, score)

    def log_partition(self, incoming):
        assert np.isfinite(incoming).all()
        return self._pair.log_partition(incoming)

    def messages(self, incoming):
        assert np.isfinite(incoming).all()
        return self._pair.messages(incoming)

    def pullback(self, incoming, d_messages):
        assert np.isfinite(incoming).all()
        return self._pair.pullback(incoming, d_messages)


@pytest.mark.parametrize("score", [-3.0, 4000.0])
def test_factors_in_python_hear_numbers_instead_of_infinities(score):
    scores = np.array([-500.0, 3.0 - score])
    graphs = [FactorGraph(scores, [ExactlyOne([0]), factor]) for factor in
              (Both(score), Pair(0, 1, score))]  # fmt: skip
    assert np.abs(graphs[0].beliefs - graphs[1].beliefs).max() < 1e-9
    assert graphs[0].log_partition == pytest.approx(graphs[1].log_partition)
    gradients = [graph.vjp([1.0, 1.0]) for graph in graphs]
    assert gradients[0].scores == pytest.approx(gradients[1].scores)
    assert gradients[0].factors[1] == pytest.approx(gradients[1].factors[1])


def _along(loss, step=2.0**-12):
    """The derivative of a function of a number at 0."""
    return float((loss(step) - loss(-step)) / (2 * step))


def test_gradients_of_sentences_at_all_scales(rng):
    """Along a random direction, against differences of the slow twin in extended precision."""
    nonzero = 0
    for _ in range(60):
        parts, settings, _ = RandomSentence.draw(rng)
        lists = {kind: getattr(parts, kind) for kind in parts.kinds}
        direction = np.where(parts.arcs > -np.inf, rng.normal(size=parts.arcs.shape), 0.0)
        moves = {kind: rng.normal(size=len(given.scores)) for kind, given in lists.items()}
        d_arcs = rng.normal(size=parts.arcs.shape)

        def loss(step, at=(parts, lists, direction, moves, d_arcs, settings)):
            parts, lists, direction, moves, d_arcs, settings = at
            moved = {k: (given.rows, given.scores + step * moves[k]) for k, given in lists.items()}
            slow = SlowLoopy(Parts(parts.arcs + step * direction, **moved), *settings)
            return np.sum(d_arcs * slow.marginals)

        gradient = LoopyTrees(parts, *settings).vjp(d_arcs)
        found = np.sum(gradient.arcs * direction)
        found += sum(np.sum(gradient.parts[kind] * moves[kind]) for kind in moves)
        expected = _along(loss)
        assert found == pytest.approx(expected, abs=2e-5)
        nonzero += abs(expected) > 1e-3
    assert nonzero > 10


def test_gradients_of_graphs_at_all_scales(rng):
    nonzero = 0
    for _ in range(80):
        graph = RandomFactorGraph.draw(rng)
        direction, d_beliefs = rng.normal(size=(2, len(graph.scores)))
        how = (graph.factors, graph.iterations, graph.damping, graph.groups())

        def loss(step, scores=graph.scores, direction=direction, d=d_beliefs, how=how):
            return np.sum(d * SlowGraph(scores + step * direction, *how).beliefs)

        try:
            found = direction @ FactorGraph(graph.scores, *how).vjp(d_beliefs).scores
        except ConstraintError:
            continue
        expected = _along(loss)
        assert found == pytest.approx(expected, abs=2e-5)
        nonzero += abs(expected) > 1e-3
    assert nonzero > 10
