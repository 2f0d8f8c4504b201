"""Belief propagation: exact where it should be, and as its slow twin says elsewhere."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from arbora import (
    ArgumentError,
    LoopyTrees,
    NoTreeError,
    Parts,
    ProjectiveTrees,
    ScoreError,
    ShapeError,
    SpanningTrees,
)
from arbora.testing import EnumeratedParts, SlowLoopy, finite_difference, random_parts
from tests.helpers import random_scores

CLASSES = {"nonprojective": SpanningTrees, "projective": ProjectiveTrees}
MODELS = [
    (),
    ("siblings",),
    ("grandparents",),
    ("siblings", "grandparents"),
    ("consecutive_siblings",),
    ("consecutive_siblings", "grandparents"),
    ("grandsiblings",),
    ("consecutive_siblings", "siblings", "grandparents", "grandsiblings"),
    ("head_bigrams",),
    ("siblings", "grandparents", "head_bigrams"),
    ("grandsiblings", "head_bigrams"),
]


@pytest.fixture(params=["nonprojective", "projective"])
def trees(request):
    return request.param


@pytest.fixture(params=["serial", "parallel"])
def schedule(request):
    return request.param


@pytest.mark.parametrize("damping", [0.0, 0.4])
def test_one_iteration_is_exact_without_parts(trees, root, schedule, damping, rng):
    for n_words in (1, 2, 7, 20):
        scores = random_scores(rng, n_words, 2.0, 0.3)
        beliefs = LoopyTrees(Parts(scores), trees, root, 1, damping, schedule)
        exact = CLASSES[trees](scores, root)
        assert np.abs(beliefs.marginals - exact.marginals).max() < 1e-11
        assert beliefs.bethe_log_partition == pytest.approx(exact.log_partition, rel=1e-13)
        assert beliefs.converged
        assert beliefs.residuals.tolist() == [0.0]
        direction = rng.normal(size=scores.shape)
        difference = beliefs.vjp(direction).arcs - exact.vjp(direction)
        assert np.abs(difference).max() < 1e-10
        assert beliefs.mbr().heads.tolist() == exact.mbr().heads.tolist()


def comb(rng, n_words):
    """Word 1 is the root's, others choose word 1 or the word before: every choice is a tree."""
    arcs = np.full((n_words + 1, n_words + 1), -np.inf)
    arcs[0, 1] = rng.normal()
    arcs[np.arange(1, n_words), np.arange(2, n_words + 1)] = rng.normal(size=n_words - 1)
    arcs[1, 2:] = rng.normal(size=n_words - 1)
    return arcs


def acyclic(rng, n_words):
    """Models whose factor graphs have no cycles once the tree falls apart into single words."""
    neighbours = [(1, m, m + 1) for m in range(2, n_words)]
    pairs = [(-1, -1)] + [(-1, m) for m in range(2, n_words + 1)]
    pairs += [(a, b) for a in range(2, n_words + 1) for b in [*range(a + 1, n_words + 1), -1]]
    steps = [(1, 1, a, b) for a, b in pairs]
    given = {
        "siblings": neighbours,
        "grandparents": [(0, 1, m) for m in range(2, n_words + 1)],
        "consecutive_siblings": steps,
        "grandsiblings": [(0, *row) for row in steps],
    }
    for kind, rows in given.items():
        yield kind, Parts(comb(rng, n_words), **{kind: (rows, 2 * rng.normal(size=len(rows)))})


@pytest.mark.parametrize("factors", ["pairs", "automata"])
def test_graphs_without_cycles_are_exact(schedule, factors, rng):
    """After this many iterations every variable has heard from every other."""
    for trees in ("nonprojective", "projective"):
        for kind, parts in acyclic(rng, 5):
            beliefs = LoopyTrees(parts, trees, "multi", 16, 0.0, schedule, factors)
            exact = EnumeratedParts(parts, trees, "multi")
            assert np.abs(beliefs.marginals - exact.marginals).max() < 1e-10
            assert beliefs.bethe_log_partition == pytest.approx(exact.log_partition, abs=1e-10)
            difference = beliefs.part_marginals[kind] - exact.part_marginals[kind]
            assert np.abs(difference).max() < 1e-10
            assert beliefs.converged
            assert beliefs.mbr().score == pytest.approx(parts.score(beliefs.mbr().heads))


@pytest.mark.parametrize("kinds", MODELS, ids="+".join)
@pytest.mark.parametrize("factors", ["pairs", "automata"])
def test_the_slow_twin_agrees(trees, root, schedule, kinds, factors, rng):
    for iterations, damping in ((1, 0.0), (3, 0.0), (4, 0.3)):
        parts = random_parts(rng, 4, kinds, forbidden=0.15)
        given = (parts, trees, root, iterations, damping, schedule, factors)
        fast, slow = LoopyTrees(*given), SlowLoopy(*given)
        assert np.abs(fast.marginals - slow.marginals).max() < 1e-12
        assert abs(fast.bethe_log_partition - slow.bethe_log_partition) < 1e-11
        assert fast.part_marginals.keys() == slow.part_marginals.keys()
        for kind, beliefs in slow.part_marginals.items():
            assert np.abs(fast.part_marginals[kind] - beliefs).max() < 1e-12


@pytest.mark.parametrize("scale", [15.0, 30.0, 60.0])
def test_the_slow_twin_agrees_where_arcs_are_all_but_certain(trees, root, schedule, scale, rng):
    """Parts may bring back an arc whose probability under the tree is lost in rounding errors."""
    for _ in range(12):
        parts = random_parts(rng, 4, ("siblings", "grandparents"), scale=scale)
        given = (parts, trees, root, 3, 0.0, schedule, "pairs")
        fast, slow = LoopyTrees(*given), SlowLoopy(*given)
        assert np.abs(fast.marginals - slow.marginals).max() < 1e-7


def test_beliefs_are_probabilities_of_heads(trees, root, rng):
    """Undamped and serial, the tree has the last word."""
    parts = random_parts(rng, 5, ("siblings", "grandparents"))
    beliefs = LoopyTrees(parts, trees, root, 3).marginals
    assert np.abs(beliefs[:, 1:].sum(axis=0) - 1.0).max() < 1e-12
    if root == "single":
        assert beliefs[0].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("factors", ["pairs", "automata"])
def test_converged_beliefs_are_the_gradient_of_the_bethe_partition(trees, root, factors, rng):
    parts = random_parts(rng, 4, ("consecutive_siblings", "grandparents"), scale=0.4)
    settings = (trees, root, 100, 0.2, "serial", factors)
    beliefs = LoopyTrees(parts, *settings)
    assert beliefs.converged
    lists = {kind: getattr(parts, kind) for kind in parts.kinds}

    def bethe(arcs):
        return LoopyTrees(Parts(arcs, **lists), *settings).bethe_log_partition

    assert np.abs(finite_difference(bethe, parts.arcs) - beliefs.marginals).max() < 1e-7


def test_more_iterations_than_needed_change_nothing(rng):
    parts = random_parts(rng, 5, ("siblings",), scale=0.5)
    some, more = (LoopyTrees(parts, iterations=t) for t in (60, 90))
    assert some.converged
    assert np.abs(some.marginals - more.marginals).max() < 1e-9
    assert (np.diff(np.log(some.residuals[:15])) < 0).all()


def test_bad_settings_are_told_in_one_sentence(rng):
    parts = random_parts(rng, 3, ("siblings",))
    for settings, text in [
        ({"iterations": 0}, "iterations"),
        ({"iterations": 1.5}, "iterations"),
        ({"damping": 1.0}, "damping is 1.0: the share of the old message"),
        ({"damping": -0.1}, "damping is -0.1"),
        ({"damping": "much"}, "damping must be a number"),
        ({"damping": float("nan")}, "damping is nan"),
        ({"trees": "any"}, "trees"),
        ({"root": "none"}, "root"),
        ({"schedule": "random"}, "schedule"),
        ({"factors": "all"}, "factors"),
    ]:
        with pytest.raises(ArgumentError, match=text):
            LoopyTrees(parts, **settings)
    with pytest.raises(ArgumentError, match="takes Parts, not ndarray"):
        LoopyTrees(np.zeros((3, 3)))
    with pytest.raises(ShapeError, match="d_marginals"):
        LoopyTrees(parts).vjp(np.zeros((2, 2)))
    with pytest.raises(ShapeError):
        LoopyTrees(parts).vjp(np.full((4, 4), np.nan))
    with pytest.raises(ArgumentError, match="there are no grandparents"):
        LoopyTrees(parts).vjp(np.zeros((4, 4)), {"grandparents": []})
    with pytest.raises(ArgumentError, match="an arc that is forbidden"):
        Parts([[0, 0, 0], [0, 0, 0], [0, -np.inf, 0]], grandparents=([[0, 2, 1]], [1.0]))
    with pytest.raises(ScoreError, match="up to 1e"):
        LoopyTrees(Parts(np.full((3, 3), 1e200)))


def test_no_tree_of_the_class():
    crossing = np.full((5, 5), -np.inf)
    crossing[0, 1] = crossing[1, 3] = crossing[3, 2] = crossing[2, 4] = 0.0
    assert LoopyTrees(Parts(crossing)).marginals[1, 3] == pytest.approx(1.0)
    with pytest.raises(NoTreeError, match="no projective tree"):
        LoopyTrees(Parts(crossing), "projective")


def test_what_it_says_of_itself(rng):
    beliefs = LoopyTrees(random_parts(rng, 3, ("siblings",)), "projective", iterations=2)
    assert repr(beliefs) == (
        "LoopyTrees(3 words, siblings, trees='projective', root='single', iterations=2)"
    )
    assert not beliefs.exact
    assert not beliefs.marginals.flags.writeable
    assert beliefs.n_words == 3


def test_copies_and_pickles(rng):
    parts = random_parts(rng, 4, ("siblings", "grandparents"), forbidden=0.1)
    beliefs = LoopyTrees(parts, "projective", "multi", 3, 0.2, "parallel", "automata")
    for again in (pickle.loads(pickle.dumps(beliefs)), copy.deepcopy(beliefs)):
        assert repr(again) == repr(beliefs)
        assert (again.marginals == beliefs.marginals).all()
        assert again.bethe_log_partition == beliefs.bethe_log_partition
        assert (again.part_marginals["siblings"] == beliefs.part_marginals["siblings"]).all()
