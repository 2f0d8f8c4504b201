"""Single factors against the enumerated table, graphs against enumeration, and one's own factor."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

from arbora import ArgumentError, FactorGraph, LoopyTrees, NoTreeError, ScoreError, ShapeError
from arbora.inference.factors import (
    AtMostOne,
    Chain,
    ExactlyOne,
    Head,
    Pair,
    Table,
    TreeFactor,
    _Compiled,
)
from arbora.scores import Scores
from arbora.testing import enumerate_trees, finite_difference, random_parts


class Valency:
    """Scores how many of its variables are on: `scores[count]`."""

    def __init__(self, variables, scores):
        self.variables = np.asarray(variables)
        self.scores = np.asarray(scores, dtype=float)

    @staticmethod
    def _sums(scores, incoming):
        """log Z, P(on) of every variable, and P(count), by adding one variable after the other."""
        k = len(incoming)
        before, after = np.full((2, k + 1, k + 1), -np.inf)  # log sums over the first or last i
        before[0, 0] = after[k, 0] = 0.0
        for i, x in enumerate(incoming):
            before[i + 1] = np.logaddexp(before[i], x + np.append(-np.inf, before[i, :-1]))
        for i in reversed(range(k)):
            more = np.append(-np.inf, after[i + 1, :-1])
            after[i] = np.logaddexp(after[i + 1], incoming[i] + more)
        weights = before[k] + scores
        total = np.logaddexp.reduce(weights)
        on = np.zeros(k)
        for i, (a, b) in itertools.product(range(k), itertools.product(range(k), repeat=2)):
            if a + b < k:
                on[i] += np.exp(before[i, a] + incoming[i] + after[i + 1, b]
                                + scores[a + b + 1] - total)  # fmt: skip
        return total, on, np.exp(weights - total)

    def log_partition(self, incoming):
        return self._sums(self.scores, incoming)[0]

    def messages(self, incoming):
        return np.array([
            self._sums(self.scores[1:], others)[0] - self._sums(self.scores[:-1], others)[0]
            for others in (np.delete(incoming, i) for i in range(len(incoming)))
        ])  # fmt: skip

    def pullback(self, incoming, d_messages):
        d_incoming, d_scores = np.zeros(len(incoming)), np.zeros(len(self.scores))
        for i, d in enumerate(d_messages):
            others = np.delete(incoming, i)
            _, on_if_on, counts_if_on = self._sums(self.scores[1:], others)
            _, on_if_off, counts_if_off = self._sums(self.scores[:-1], others)
            d_incoming += d * np.insert(on_if_on - on_if_off, i, 0.0)
            d_scores[1:] += d * counts_if_on
            d_scores[:-1] -= d * counts_if_off
        return d_incoming, d_scores


def states(count):
    return np.array(list(itertools.product([False, True], repeat=count)))


def walk_score(scores, left, right, links, state):
    """The score of a configuration of a head's automaton; -inf if it is none."""
    choice = np.flatnonzero(state[left + right :])
    if links and len(choice) != 1:
        return -np.inf
    pairs = [(k + 1) * (k + 2) // 2 for k in (left, right)]
    first = (int(choice[0]) if links else 0) * sum(pairs)
    total = 0.0
    for k, begin, on in ((left, first, state[:left]),
                         (right, first + pairs[0], state[left : left + right])):  # fmt: skip
        path = [0, *(np.flatnonzero(on) + 1), k + 1]
        for previous, following in itertools.pairwise(path):
            row = following - 1
            total += scores[begin + row * (row + 1) // 2 + previous]
    return total


def examples(rng):
    """A factor of every kind, and the scores of all its configurations."""
    yield Pair(0, 1, 1.3), lambda on: 1.3 * on.all()
    yield ExactlyOne([0, 1, 2, 3]), lambda on: 0.0 if on.sum() == 1 else -np.inf
    yield AtMostOne([0, 1, 2]), lambda on: 0.0 if on.sum() <= 1 else -np.inf
    scores = rng.normal(size=10)
    yield Chain([0, 1, 2], scores), lambda on: walk_score([*scores, 0.0], 3, 0, 0, on)
    steps = rng.normal(size=6 + 6)
    yield Head([0, 1], [2, 3], steps), lambda on: walk_score(steps, 2, 2, 0, on)
    grand = rng.normal(size=3 * (6 + 3))
    yield Head([0, 1], [2], grand, [3, 4, 5]), lambda on: walk_score(grand, 2, 1, 3, on)
    for trees, root in itertools.product(("nonprojective", "projective"), ("single", "multi")):
        arcs = [(h, m) for m in (1, 2, 3) for h in range(4) if h != m]
        every = {tuple(heads) for heads in enumerate_trees(3, trees, root).tolist()}

        def score(on, arcs=arcs, every=every):
            heads = tuple(h for (h, _), is_on in zip(arcs, on, strict=True) if is_on)
            counts = np.bincount([m for (_, m), is_on in zip(arcs, on, strict=True) if is_on],
                                 minlength=4)  # fmt: skip
            return 0.0 if (counts[1:] == 1).all() and heads in every else -np.inf

        yield TreeFactor(np.arange(9), arcs, trees, root), score
    counts = rng.normal(size=5)
    yield Valency([0, 1, 2, 3], counts), lambda on: counts[on.sum()]


def test_every_factor_is_its_table(rng):
    for factor, score in examples(rng):
        k = len(factor.variables)
        table = Table(factor.variables, np.reshape([score(on) for on in states(k)], (2,) * k))
        order = table.variables  # backwards
        for scale in (1.0, 5.0):
            incoming = scale * rng.normal(size=k)
            assert factor.log_partition(incoming) == pytest.approx(
                table.log_partition(incoming[order]), abs=1e-10
            )
            messages = factor.messages(incoming)
            assert np.abs(messages[order] - table.messages(incoming[order])).max() < 1e-9
            direction = rng.normal(size=k)
            d_incoming, d_scores = factor.pullback(incoming, direction)
            slow, _ = table.pullback(incoming[order], direction[order])
            assert np.abs(d_incoming[order] - slow).max() < 1e-8
            assert d_scores.shape == factor.scores.shape


def with_scores(factor, scores):
    """The same factor with other scores."""
    if isinstance(factor, Valency):
        return Valency(factor.variables, scores)
    moved = _Compiled.__new__(type(factor))
    moved._kernel, moved.variables, moved.scores = factor._kernel, factor.variables, scores
    return moved


def test_gradients_of_every_factor(rng):
    table = Table([0, 1, 2], rng.normal(size=(2, 2, 2)))
    for factor in (table, *(factor for factor, _ in examples(rng))):
        incoming, direction = rng.normal(size=(2, len(factor.variables)))
        d_incoming, d_scores = factor.pullback(incoming, direction)
        slow = finite_difference(lambda x, f=factor, d=direction: d @ f.messages(x), incoming)
        assert np.abs(d_incoming - slow).max() < 1e-7
        slow = finite_difference(
            lambda s, f=factor, d=direction, x=incoming: d @ with_scores(f, s).messages(x),
            factor.scores.copy(),
        )
        assert np.abs(d_scores - slow).max(initial=0.0) < 1e-7


def test_messages_do_not_depend_on_what_their_receivers_said(rng):
    for factor, _ in examples(rng):
        incoming = rng.normal(size=len(factor.variables))
        before = factor.messages(incoming)
        for i in range(len(incoming)):
            moved = incoming.copy()
            moved[i] += 7.0
            assert factor.messages(moved)[i] == pytest.approx(before[i], abs=1e-9)


def test_messages_to_variables_that_left_no_chance_for_the_contrary(rng):
    steps, grand = rng.normal(size=6 + 6), rng.normal(size=3 * (6 + 3))
    for factor, modifiers, score in (
        (Head([0, 1], [2, 3], steps), 4, lambda on: walk_score(steps, 2, 2, 0, on)),
        (Head([0, 1], [2], grand, [3, 4, 5]), 3, lambda on: walk_score(grand, 2, 1, 3, on)),
    ):
        k = len(factor.variables)
        table = Table(factor.variables, np.reshape([score(on) for on in states(k)], (2,) * k))
        order, direction = table.variables, rng.normal(size=k)
        for i, huge in itertools.product(range(modifiers), (-900.0, 900.0)):
            incoming = rng.normal(size=k)
            incoming[i] = huge
            messages, slow = factor.messages(incoming), table.messages(incoming[order])
            d_incoming, _ = factor.pullback(incoming, direction)
            d_slow, _ = table.pullback(incoming[order], direction[order])
            assert np.abs(messages[order] - slow).max() < 1e-9
            assert np.abs(d_incoming[order] - d_slow).max() < 1e-8


def test_what_is_certain_outweighs_every_score():
    for factor in (ExactlyOne([0]), Table([0], [-np.inf, 0.0]), TreeFactor([0], [(0, 1)])):
        assert FactorGraph([-500.0], [factor]).beliefs[0] == pytest.approx(1.0)
    assert FactorGraph([500.0], [Table([0], [0.0, -np.inf])]).beliefs[0] < 1e-20


@pytest.mark.parametrize(
    "make",
    [
        lambda: Table([0], [-np.inf, -np.inf]),
        lambda: ExactlyOne([]),
        lambda: Head([0], [], [-np.inf, -np.inf, -np.inf, 0.0]),
    ],
)
def test_factors_that_forbid_everything_are_refused(make):
    with pytest.raises(ScoreError, match="forbids every configuration"):
        make()


def test_no_walk_is_possible_under_what_came_in():
    head = Head([0], [], [0.0, -np.inf, 0.0, 0.0])  # no step from START to END
    incoming = np.array([-np.inf])
    assert head.log_partition(incoming) == -np.inf
    assert not np.isnan(head.messages(incoming)).any()
    assert not np.isnan(head.pullback(incoming, np.ones(1))[0]).any()


def enumerated(scores, factors):
    """P(on) of every variable, and log Z."""
    every = states(len(scores))
    weights = every @ scores
    for factor in factors:
        table = [factor.scores[on.sum()] if isinstance(factor, Valency)
                 else factor.scores[int("".join(map(str, on[::-1].astype(int))), 2)]
                 for on in every[:, factor.variables]]  # fmt: skip
        weights = weights + np.array(table)
    total = np.logaddexp.reduce(weights)
    return np.exp(weights - total) @ every, total


@pytest.mark.parametrize("schedule", ["serial", "parallel", [[2, 0], [1]]])
def test_graphs_without_cycles_are_exact(schedule, rng):
    """With a factor of one's own among those of the library."""
    scores = rng.normal(size=6)
    factors = [
        Table([0, 1], rng.normal(size=(2, 2))),
        Valency([1, 2, 3, 4], 2 * rng.normal(size=5)),
        Table([5, 4], rng.normal(size=(2, 2))),
    ]
    graph = FactorGraph(scores, factors, 8, schedule=schedule)
    beliefs, log_partition = enumerated(scores, factors)
    assert np.abs(graph.beliefs - beliefs).max() < 1e-10
    assert graph.log_partition == pytest.approx(log_partition, abs=1e-10)
    assert graph.residuals[-1] < 1e-10


@pytest.mark.parametrize("iterations", [1, 2, 3, 4])
@pytest.mark.parametrize("schedule", ["serial", "parallel"])
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_gradients_of_graphs(iterations, schedule, damping, rng):
    arcs = [(h, m) for m in (1, 2, 3) for h in range(4) if h != m]
    scores = rng.normal(size=9)
    factors = [
        Pair(0, 5, 1.0), Pair(1, 3, -2.0), Valency([3, 4, 7, 8], rng.normal(size=5)),
        AtMostOne([2, 6, 8]), TreeFactor(np.arange(9), arcs),
    ]  # fmt: skip
    direction = rng.normal(size=9)

    def loss(scores, factors):
        graph = FactorGraph(scores, factors, iterations, damping, schedule)
        return float(direction @ graph.beliefs)

    gradient = FactorGraph(scores, factors, iterations, damping, schedule).vjp(direction)
    slow = finite_difference(lambda x: loss(x, factors), scores)
    assert np.abs(gradient.scores - slow).max() < 1e-7
    for i in (0, 1, 2):
        slow = finite_difference(
            lambda s, i=i: loss(
                scores, [*factors[:i], with_scores(factors[i], s), *factors[i + 1 :]]
            ),
            factors[i].scores.copy(),
        )
        assert np.abs(gradient.factors[i] - slow).max() < 1e-7


@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_the_graph_of_a_sentence_is_that_of_loopy_trees(trees, root, rng):
    parts = random_parts(rng, 4, ("siblings", "consecutive_siblings"), forbidden=0.1)
    arcs = [(int(h), int(m)) for h, m in np.argwhere(parts.arcs > -np.inf)]
    number = {arc: i for i, arc in enumerate(arcs)}
    factors = [
        Pair(number[h, a], number[h, b], score)
        for (h, a, b), score in zip(*map(np.ndarray.tolist, parts.siblings), strict=True)
    ]
    packed = Scores.from_parts(parts)
    for h in range(5):
        left = [number[h, m] for m in range(h - 1, 0, -1) if (h, m) in number]
        right = [number[h, m] for m in range(h + 1, 5) if (h, m) in number]
        here = packed.columns("consecutive_siblings", 0)[:, 0] == h
        factors.append(Head(left, right, packed.tables["consecutive_siblings"][here]))
    factors.append(TreeFactor(np.arange(len(arcs)), arcs, trees, root))
    groups = [list(range(len(factors) - 1)), [len(factors) - 1]]
    scores = np.array([parts.arcs[arc] for arc in arcs])
    graph = FactorGraph(scores, factors, 3, 0.1, groups)
    whole = LoopyTrees(parts, trees, root, 3, 0.1)
    for arc, belief in zip(arcs, graph.beliefs, strict=True):
        assert whole.marginals[arc] == pytest.approx(belief, abs=1e-11)
    assert graph.log_partition == pytest.approx(whole.bethe_log_partition, abs=1e-9)


def test_bad_graphs_are_told_in_one_sentence():
    with pytest.raises(ArgumentError, match="factor 0 has variable 3, but variables are 0 to 1"):
        FactorGraph([0.0, 1.0], [Pair(0, 3, 1.0)])
    with pytest.raises(ArgumentError, match="each of its variables once"):
        Pair(1, 1, 0.0)
    with pytest.raises(ShapeError, match="finite numbers"):
        FactorGraph([0.0], []).vjp([np.nan])
    with pytest.raises(ArgumentError, match="contain each factor, 0 to 0, once"):
        FactorGraph([0.0, 0.0], [Pair(0, 1, 1.0)], schedule=[[0], [0]])
    with pytest.raises(ArgumentError, match="schedule must be"):
        FactorGraph([0.0], [], schedule="random")
    with pytest.raises(ScoreError, match="the score of variable 1 is -inf"):
        FactorGraph([0.0, -np.inf], [])
    with pytest.raises(ScoreError, match="numbers up to 1e"):
        FactorGraph([1e300], [])
    with pytest.raises(ArgumentError, match="factor 1, of type int, has no variables"):
        FactorGraph([0.0, 0.0], [Pair(0, 1, 1.0), 3])
    with pytest.raises(ArgumentError, match="a list of factors, not NoneType"):
        FactorGraph([0.0], None)
    with pytest.raises(ArgumentError, match="has variable -1"):
        FactorGraph([0.0, 0.0], [Valency([-1, 0], np.zeros(3))])
    with pytest.raises(ArgumentError, match="lists of factor numbers"):
        FactorGraph([0.0], [], schedule=[["a"]])
    with pytest.raises(ShapeError, match="one number per variable"):
        FactorGraph([[0.0]], [])
    with pytest.raises(ShapeError, match="Chain needs 6 scores, not 1"):
        Chain([0, 1], [1.0])
    with pytest.raises(ShapeError, match=r"a table of 2 variables must have shape \(2,\) \* 2"):
        Table([0, 1], [1.0, 2.0])
    with pytest.raises(ArgumentError, match="1 to 20 variables"):
        Table(np.arange(21), [])
    with pytest.raises(ScoreError, match="nan"):
        Pair(0, 1, float("nan"))
    with pytest.raises(NoTreeError, match="word 2 has no possible head"):
        TreeFactor([0, 1], [(0, 1), (2, 1)])
    with pytest.raises(ArgumentError, match="given twice"):
        TreeFactor([0, 1], [(0, 1), (0, 1)])
    with pytest.raises(ShapeError, match="arcs"):
        TreeFactor([0], [(0, 1), (1, 2)])
    assert "2 variables, 1 factors" in repr(FactorGraph([0.0, 0.0], [Pair(0, 1, 1.0)]))


def test_factors_are_told_what_they_were_asked_wrongly():
    pair = Pair(0, 1, 1.0)
    with pytest.raises(ShapeError, match=r"incoming must have 2 numbers for Pair\(\[0, 1\]\)"):
        pair.messages(np.zeros(3))
    with pytest.raises(ShapeError, match="d_messages must have 2 numbers"):
        pair.pullback([0.0, 0.0], [1.0])
    for value in ("nan", "1e300"):
        with pytest.raises(ScoreError, match="incoming must be numbers up to 1e"):
            pair.log_partition([0.0, float(value)])
    with pytest.raises(ScoreError, match="d_messages must be numbers up to 1e"):
        pair.pullback([0.0, 0.0], [0.0, np.inf])


def test_graphs_travel_between_processes(rng):
    factors = [
        Pair(0, 1, 1.0), Table([0, 2], rng.normal(size=(2, 2))), AtMostOne([0, 2]),
        Chain([0, 1], rng.normal(size=6)), ExactlyOne([1, 2]),
        TreeFactor([0, 1, 2], [(0, 1), (1, 2), (2, 1)], "projective", "multi"),
    ]  # fmt: skip
    graph = FactorGraph(rng.normal(size=3), factors)
    again = pickle.loads(pickle.dumps(graph))
    assert (again.beliefs == graph.beliefs).all()
    assert (again.vjp([1.0, 2.0, 3.0]).scores == graph.vjp([1.0, 2.0, 3.0]).scores).all()
