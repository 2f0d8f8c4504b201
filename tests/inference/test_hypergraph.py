"""Hypergraphs: against enumeration, the paper's adjoints, and Eisner's trees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from arbora import (
    ArgumentError,
    Hypergraph,
    NoTreeError,
    ProjectiveTrees,
    ScoreError,
    ShapeError,
    TooLargeError,
)
from arbora.testing import SlowHypergraph, enumerate_derivations, finite_difference
from tests.helpers import random_scores


def random_graph(rng, n_nodes=7, per_node=3, n_weights=6):
    """Every node can be built; nodes and weights may be used more than once in a derivation."""
    heads, tails, weights = [], [], []
    for node in range(n_nodes):
        for edge in range(int(rng.integers(1, per_node + 1))):
            count = 0 if node == 0 else int(rng.integers(1 if edge else 0, 3))
            chosen = rng.integers(max(0, node - 2), max(node, 1), size=count).tolist()
            heads.append(node)
            tails.append(chosen + [-1] * (2 - count))
            weights.append(int(rng.integers(-1, n_weights)))
    weights[0] = n_weights - 1  # so that there are so many
    order = rng.permutation(len(heads))  # edges may come in any order
    return Hypergraph(np.array(heads)[order], np.array(tails)[order], np.array(weights)[order])


def table_of(graph, scores):
    """Every derivation: its edges, its uses of each weight, its score."""
    every = enumerate_derivations(graph)
    uses = np.zeros((len(every), graph.n_weights + 1))
    for i, edges in enumerate(every):
        np.add.at(uses[i], graph.weights[edges], 1.0)
    uses = uses[:, :-1]
    used = uses > 0
    totals = np.where(used, uses * np.where(used.any(0), scores, 0), 0).sum(axis=1)
    return every, uses, totals


def small_graphs(rng, count, **options):
    """Random graphs with few enough derivations to look at all."""
    found = 0
    while found < count:
        graph = random_graph(rng, **options)
        sums = graph.derivations(np.zeros(graph.n_weights))
        if 1 < np.exp(sums.log_partition) < 400:
            found += 1
            yield graph


@pytest.mark.parametrize("scale", [0.3, 3.0, 300.0, 3000.0, 10000.0])
def test_sums_against_enumeration(scale, rng):
    for graph in small_graphs(rng, 25):
        scores = scale * rng.normal(size=graph.n_weights)
        _, uses, totals = table_of(graph, scores)
        answer = graph.derivations(scores)
        log_z = np.logaddexp.reduce(totals)
        p = np.exp(totals - log_z)
        assert answer.log_partition == pytest.approx(log_z, rel=1e-13, abs=1e-13)
        assert np.abs(answer.marginals - p @ uses).max() < 1e-10
        surprise = -np.sum(p[p > 0] * np.log(p[p > 0]))
        assert answer.entropy() == pytest.approx(surprise, abs=1e-10)
        values = rng.normal(size=graph.n_weights)
        spread = uses @ values - p @ uses @ values
        assert np.abs(answer.vjp(values) - (p * spread) @ uses).max() < 1e-10
        assert answer.expect(values) == pytest.approx(p @ uses @ values, abs=1e-10)
        assert answer.variance(values) == pytest.approx(p @ spread**2, abs=1e-9)


@pytest.mark.parametrize("ties", [False, True])
def test_derivations_against_enumeration(ties, rng):
    for graph in small_graphs(rng, 25):
        scores = rng.normal(size=graph.n_weights)
        scores = np.round(scores) if ties else scores
        every, uses, totals = table_of(graph, scores)
        answer = graph.derivations(scores)
        ranked = answer.kbest(len(every) + 3)
        assert [one.score for one in ranked] == pytest.approx(np.sort(totals)[::-1], abs=1e-12)
        assert {tuple(one.edges) for one in ranked} == {tuple(edges) for edges in every}
        assert ranked[0].edges.tolist() == answer.argmax().edges.tolist()
        assert answer.score(ranked[-1].edges) == pytest.approx(totals.min(), abs=1e-12)
        for w, best in enumerate(answer.best_with()):
            expected = totals[uses[:, w] > 0].max(initial=-np.inf)
            assert best == pytest.approx(expected, abs=1e-12)


def test_samples(rng):
    for graph in small_graphs(rng, 5):
        scores = rng.normal(size=graph.n_weights)
        every, _, totals = table_of(graph, scores)
        rows = {tuple(edges): i for i, edges in enumerate(every)}
        drawn = graph.derivations(scores).sample(5000, seed=8)
        counts = np.bincount([rows[tuple(d.edges)] for d in drawn], minlength=len(rows))
        expected = 5000 * np.exp(totals - np.logaddexp.reduce(totals))
        common = expected >= 5
        observed = np.append(counts[common], counts[~common].sum())
        wanted = np.append(expected[common], expected[~common].sum() + 1e-9)
        wanted *= observed.sum() / wanted.sum()
        if common.sum() > 1 and wanted[-1] > 1:
            assert chisquare(observed, wanted).pvalue > 1e-3
        again = graph.derivations(scores).sample(3, seed=8)
        assert [d.edges.tolist() for d in again] == [d.edges.tolist() for d in drawn[:3]]


def test_adjoints_of_the_paper(rng):
    """G15 Eqs. 16-19 are the same gradient as that by dual numbers, and as finite differences."""
    for graph in small_graphs(rng, 15, n_nodes=6):
        own = Hypergraph(graph.heads, graph.tails)  # a weight per edge
        scores = rng.normal(size=own.n_weights)
        slow, fast = SlowHypergraph(own, scores), own.derivations(scores)
        assert fast.log_partition == pytest.approx(slow.log_partition, abs=1e-12)
        assert np.abs(fast.node_marginals - slow.p).max() < 1e-12
        assert np.abs(fast.marginals - slow.marginals).max() < 1e-12
        assert np.abs(fast.edge_marginals - slow.edge_marginals).max() < 1e-12
        d_nodes = rng.normal(size=own.n_nodes)
        adjoint = slow.node_adjoints(d_nodes)
        assert np.abs(fast.vjp(d_nodes[own.heads]) - adjoint).max() < 1e-11  # nodes = their edges
        numeric = finite_difference(
            lambda s, own=own, d=d_nodes: float(d @ own.derivations(s).node_marginals), scores
        )
        assert np.abs(adjoint - numeric).max() < 1e-9


def eisner(n_words, root):
    """Eisner's (1996) chart over all arcs; weight h * (n + 1) + m is the arc from h to m."""
    edges, nodes = [], {}

    def build(item, ways):
        """A node, if there is a way to build it from what there is."""
        ways = [(tails, w) for tails, w in ways if all(t in nodes for t in tails)]
        if ways:
            nodes[item] = len(nodes)
        for tails, w in ways:
            edges.append((nodes[item], [nodes[t] for t in tails], w))

    for s in range(n_words + 1):
        build(("right", s, s), [((), -1)])
        build(("left", s, s), [((), -1)])
    for width in range(1, n_words + 1):
        for s in range(n_words + 1 - width):
            t = s + width
            splits = [(("right", s, k), ("left", k + 1, t)) for k in range(s, t)]
            if s == 0 and root == "single":
                splits = splits[:1]
            build(("open right", s, t), [(pair, s * (n_words + 1) + t) for pair in splits])
            if s > 0:
                build(("open left", s, t), [(pair, t * (n_words + 1) + s) for pair in splits])
            build(("right", s, t), [((("open right", s, k), ("right", k, t)), -1)
                                    for k in range(s + 1, t + 1)])  # fmt: skip
            build(("left", s, t), [((("left", s, k), ("open left", k, t)), -1)
                                   for k in range(s, t)])  # fmt: skip
    heads, tails, weights = zip(*edges, strict=True)
    padded = [list(t) + [-1] * (2 - len(t)) for t in tails]
    goal = nodes[("right", 0, n_words)]
    return Hypergraph(heads, padded, weights, goal=goal)


def heads_of(graph, derivation, n_words):
    used = graph.weights[derivation.edges]
    h, m = np.divmod(used[used >= 0], n_words + 1)
    heads = np.zeros(n_words, dtype=int)
    heads[m - 1] = h
    return heads.tolist()


@pytest.mark.parametrize("scale", [1.0, 100.0, 10000.0])
@pytest.mark.parametrize("n_words", [1, 4, 9])
def test_eisners_trees(root, n_words, scale, rng):
    graph = eisner(n_words, root)
    scores = random_scores(rng, n_words, scale, 0.2)
    trees = ProjectiveTrees(scores, root)
    answer = graph.derivations(trees.scores.ravel()[: graph.n_weights])
    assert answer.log_partition == pytest.approx(trees.log_partition, rel=1e-13, abs=1e-13)
    missing = (n_words + 1) ** 2 - graph.n_weights

    def square(values):
        return np.append(values, np.zeros(missing)).reshape(n_words + 1, n_words + 1)

    assert np.abs(square(answer.marginals) - trees.marginals).max() < 1e-11
    assert heads_of(graph, answer.argmax(), n_words) == trees.argmax().heads.tolist()
    expected = [tree.heads.tolist() for tree in trees.kbest(15)]
    assert [heads_of(graph, one, n_words) for one in answer.kbest(15)] == expected
    gradient = rng.normal(size=scores.shape)
    through = answer.vjp(gradient.ravel()[: graph.n_weights])
    assert np.abs(square(through) - trees.vjp(gradient)).max() < 1e-10
    assert answer.entropy() == pytest.approx(trees.entropy(), abs=1e-9)


def test_long_chains_are_summed_without_overflow_and_without_recursion(rng):
    length, states = 20_000, 2
    heads = np.repeat(np.arange(states * length), states)
    tails = np.full((len(heads), 1), -1)
    previous = (heads // states - 1) * states + np.tile(np.arange(states), states * length)
    tails[:, 0] = np.where(heads < states, -1, previous)
    heads, tails = heads.tolist(), tails.tolist()
    heads += [states * length] * states
    tails += [[states * (length - 1) + i] for i in range(states)]
    graph = Hypergraph(heads, tails)
    scores = 500.0 * rng.normal(size=graph.n_weights)
    answer = graph.derivations(scores)
    best = answer.argmax()
    assert len(best.edges) == length + 1
    assert best.score <= answer.log_partition < best.score + length
    ranked = answer.kbest(50)
    assert len({one.edges.tobytes() for one in ranked}) == 50
    assert np.isfinite(answer.vjp(np.ones(graph.n_weights))).all()
    assert np.abs(answer.vjp(np.ones(graph.n_weights))).max() < 1e-6


def test_forbidden_weights_are_never_used(rng):
    graph = next(small_graphs(rng, 1))
    every, uses, _ = table_of(graph, np.zeros(graph.n_weights))
    forbidden = next(
        w for w in itertools.count() if 0 < (uses[:, w] > 0).sum() < len(every)
    )  # fmt: skip
    scores = rng.normal(size=graph.n_weights)
    scores[forbidden] = -np.inf
    left = uses[:, forbidden] == 0
    answer = graph.derivations(scores)
    totals = uses[left] @ np.where(np.isneginf(scores), 0, scores)
    assert answer.log_partition == pytest.approx(np.logaddexp.reduce(totals))
    assert answer.marginals[forbidden] == 0
    assert answer.vjp(scores)[forbidden] == 0  # not read where the score is -inf
    assert len(answer.kbest(1000)) == left.sum()
    assert answer.best_with()[forbidden] == -np.inf


def test_bad_input():
    with pytest.raises(ArgumentError, match="tails come before"):
        Hypergraph([0, 1], [[-1, -1], [1, -1]])
    with pytest.raises(ShapeError, match="a node between"):
        Hypergraph([0, 1], [[-1, -1, -1], [0, 0, 0]])
    with pytest.raises(ShapeError, match="2 edges, but 1 weights"):
        Hypergraph([0, 1], [[-1, -1], [0, -1]], [0])
    with pytest.raises(ShapeError, match="whole numbers"):
        Hypergraph([0.5], [[-1, -1]])
    with pytest.raises(ShapeError, match="at least one edge"):
        Hypergraph([], [])
    with pytest.raises(ArgumentError, match="goal"):
        Hypergraph([0], [[-1, -1]], goal=3)
    with pytest.raises(ArgumentError, match="head of edge 0"):
        Hypergraph([-1], [[-1, -1]])
    graph = Hypergraph([0, 2], [[], []])  # node 1 cannot be built, but nobody needs it
    assert graph.derivations([1.0, 2.0]).log_partition == 2.0
    assert repr(graph) == "Hypergraph(3 nodes, 2 edges, 2 weights)"
    with pytest.raises(NoTreeError, match="no derivation"):
        graph.derivations([1.0, -np.inf])
    with pytest.raises(NoTreeError, match="no derivation"):
        Hypergraph([0, 2], [[-1], [1]]).derivations([0.0, 0.0])
    with pytest.raises(ScoreError, match=r"scores\[1\] is nan"):
        graph.derivations([1.0, np.nan])
    with pytest.raises(ShapeError, match="2 weights"):
        graph.derivations([1.0])
    with pytest.raises(ShapeError, match="finite"):
        graph.derivations([1.0, 2.0]).vjp([0.0, np.inf])
    with pytest.raises(ShapeError, match="shape"):
        graph.derivations([1.0, 2.0]).expect([0.0])


def doublings(count):
    """Every node is built from the one before, twice (weight 0), or by an edge alone (weight 2).

    The first node is built by an edge alone of weight 1.
    """
    heads = [0, *(node for node in range(1, count + 1) for _ in range(2))]
    tails = [[-1, -1]]
    for node in range(count):
        tails += [[node, node], [-1, -1]]
    return Hypergraph(heads, tails, [1, *[0, 2] * count])


def test_derivations_that_use_a_node_again_and_again():
    always = [0.0, 0.0, -np.inf]
    assert len(doublings(20).derivations(always).argmax().edges) == 2**21 - 1
    many = doublings(60).derivations(always)
    assert many.marginals[1] == 2.0**60
    for question in (many.argmax, lambda: many.kbest(2), many.sample):
        with pytest.raises(TooLargeError, match="more edges than fit into memory"):
            question()


def test_derivations_that_could_be_large_and_are_not():
    for score in (-50.0, -np.inf):
        some = doublings(60).derivations([score, 0.0, 0.0])
        assert len(some.argmax().edges) == len(some.kbest(1)[0].edges) == 1
        assert len(some.sample(1, seed=0)[0].edges) == 1


def test_answers_beyond_numbers():
    more = doublings(1100).derivations([0.0, 0.0, -np.inf])
    assert more.log_partition == 0.0
    for question in (lambda: more.marginals, lambda: more.vjp([1.0, 0.0, 0.0])):
        with pytest.raises(TooLargeError, match="overflows float64"):
            question()
    for leaf in (1.0, -1.0):
        with pytest.raises(TooLargeError, match="overflows float64"):
            doublings(1100).derivations([0.0, leaf, -np.inf])
    with pytest.raises(TooLargeError, match="overflows float64"):
        doublings(1000).derivations([0.0, 1e14, -np.inf])
    with pytest.raises(NoTreeError):
        doublings(1100).derivations([0.0, -np.inf, -np.inf])
