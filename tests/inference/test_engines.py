"""Engines against all trees, their gradients by differences, and what they do not offer."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError
from arbora.inference.engines import (
    BeliefPropagation,
    DualDecomposition,
    Eisner,
    HillClimbing,
    MatrixTree,
    SecondOrder,
    first_order_engine,
    higher_order_engine,
)
from arbora.inference.tree_parts import tree_parts
from arbora.options import (
    BeliefPropagationOptions,
    DualDecompositionOptions,
    ExactOptions,
    HillClimbingOptions,
)
from arbora.scores import Scores
from arbora.testing import EnumeratedParts, EnumeratedTrees, finite_difference, random_parts
from tests.helpers import random_scores

SUMMABLE = ("consecutive_siblings", "grandparents", "grandsiblings")
PAIRS = ("siblings", "grandparents")
LENGTHS = (3, 1, 4)


def arc_scores(rng, n_labels=None):
    tables = [random_scores(rng, n, n_labels=n_labels) for n in LENGTHS]
    for table, n in zip(tables, LENGTHS, strict=True):
        table[:, 0] = table[np.arange(n + 1), np.arange(n + 1)] = -np.inf
    flat = np.concatenate([table.reshape(-1) for table in tables])
    return Scores(flat, np.array(LENGTHS), n_labels)


def part_scores(rng, kinds):
    return Scores.joined([random_parts(rng, n, kinds, forbidden=0.1) for n in LENGTHS])


def numbers(scores):
    return np.concatenate([scores.arcs, *scores.tables.values()])


def with_numbers(scores, flat):
    sizes = [len(scores.arcs), *(len(table) for table in scores.tables.values())]
    arcs, *tables = np.split(flat, np.cumsum(sizes)[:-1])
    return scores.with_values(arcs, dict(zip(scores.tables, tables, strict=True)))


def check_sums(engine, scores, tables):
    found = engine.infer(scores)
    assert found.exact
    np.testing.assert_allclose(found.log_partition, [one.log_partition for one in tables])
    expected = np.concatenate([one.marginals.reshape(-1) for one in tables])
    np.testing.assert_allclose(found.arcs, expected, atol=1e-12)
    np.testing.assert_allclose(found.marginals.arcs, expected, atol=1e-12)


def check_best(engine, scores, tables):
    found = engine.decode(scores)
    assert found.certified.all()
    for i, one in enumerate(tables):
        tree = found.tree(i)
        assert tree.certified
        assert tree.score == pytest.approx(one.tree_scores.max(), abs=1e-9)
        assert tree.bound == pytest.approx(tree.score, abs=1e-6)
        assert tree.heads.tolist() in one.heads.tolist()
        assert len(tree.heads) == LENGTHS[i]


@pytest.mark.parametrize("n_labels", [None, 2])
def test_first_order_engines_by_enumeration(rng, kind, root, n_labels):
    scores, engine = arc_scores(rng, n_labels), first_order_engine(kind.trees, root)
    tables = [EnumeratedTrees(scores.arcs_of(i), kind.trees, root) for i in range(len(LENGTHS))]
    check_sums(engine, scores, tables)
    check_best(engine, scores, tables)
    best = engine.kbest(scores, 3)
    first = np.concatenate([[0], np.cumsum(best.counts)])
    values = engine.tree_scores(scores, best)
    for i, one in enumerate(tables):
        expected = one.sorted_scores()[:3]
        np.testing.assert_allclose(values[first[i] : first[i + 1]], expected, atol=1e-9)
    drawn = engine.sample(scores, 4, seed=1)
    assert drawn.counts.tolist() == [4, 4, 4]
    assert np.isfinite(engine.tree_scores(scores, drawn)).all()


def test_exact_second_order_by_enumeration(rng, root):
    scores, engine = part_scores(rng, SUMMABLE), SecondOrder(root)
    tables = [EnumeratedParts(scores.sentence(i), "projective", root) for i in range(len(LENGTHS))]
    check_sums(engine, scores, tables)
    check_best(engine, scores, tables)
    found = engine.infer(scores).marginals
    for kind in SUMMABLE:
        expected = np.concatenate([one.part_marginals[kind] for one in tables])
        np.testing.assert_allclose(found.tables[kind], expected, atol=1e-12)
    best = engine.kbest(scores, 2)
    values = engine.tree_scores(scores, best)
    first = np.concatenate([[0], np.cumsum(best.counts)])
    for i, one in enumerate(tables):
        expected = np.sort(one.tree_scores)[::-1][:2]
        np.testing.assert_allclose(values[first[i] : first[i + 1]], expected, atol=1e-9)


@pytest.mark.parametrize("solver", ["subgradient", "ad3", "branch"])
def test_dual_decomposition_by_enumeration(rng, kind, root, solver):
    scores = part_scores(rng, SUMMABLE)
    engine = DualDecomposition(5000, solver, kind.trees, root)
    found = engine.decode(scores)
    if solver == "branch":
        assert found.certified.all()
    assert (found.gaps >= 0.0).all()
    for i in range(len(LENGTHS)):
        every = EnumeratedParts(scores.sentence(i), kind.trees, root).tree_scores.max()
        tree = found.tree(i)
        assert tree.score <= every + 1e-9
        assert tree.bound >= every - 1e-6
        if tree.certified:
            assert tree.score == pytest.approx(every, abs=1e-6)


def test_hill_climbing_never_beats_the_best_tree(rng, kind, root):
    scores = part_scores(rng, PAIRS)
    found = HillClimbing(20, kind.trees, root).decode(scores)
    assert not found.certified.any()
    assert np.isposinf(found.bounds).all()
    _, values = tree_parts(scores, found.heads)
    np.testing.assert_allclose(found.scores, values, atol=1e-9)
    for i in range(len(LENGTHS)):
        every = EnumeratedParts(scores.sentence(i), kind.trees, root)
        assert found.tree(i).score <= every.tree_scores.max() + 1e-9
        assert found.tree(i).heads.tolist() in every.heads.tolist()


def test_belief_propagation_is_exact_without_parts(rng, kind, root):
    scores = arc_scores(rng)
    engine = BeliefPropagation(1, 0.0, "pairs", kind.trees, root)
    found = engine.infer(Scores.over(scores.arcs, scores.n_words, ()))
    assert not found.exact
    exact = first_order_engine(kind.trees, root).infer(scores)
    np.testing.assert_allclose(found.arcs, exact.arcs, atol=1e-10)
    np.testing.assert_allclose(found.log_partition, exact.log_partition, atol=1e-9)


SUMMING = {
    "matrix-tree": (MatrixTree("multi"), None),
    "eisner": (Eisner(), None),
    "second order": (SecondOrder(), SUMMABLE),
    "pairs": (BeliefPropagation(3, 0.1, "pairs", "nonprojective"), PAIRS),
    "automata": (BeliefPropagation(2, 0.0, "automata", "projective"), SUMMABLE),
}


@pytest.mark.parametrize("name", SUMMING)
@pytest.mark.parametrize("announced", [False, True])
def test_gradients_through_the_engine(rng, name, announced):
    """`vjp` against differences of a random function of the marginals of arcs and parts."""
    engine, kinds = SUMMING[name]
    scores = arc_scores(rng) if kinds is None else part_scores(rng, kinds)
    d_arcs = rng.normal(size=len(scores.arcs))
    d_tables = {kind: rng.normal(size=len(table)) for kind, table in scores.tables.items()}

    def value(flat):
        found = engine.infer(with_numbers(scores, flat)).marginals
        return float(d_arcs @ found.arcs) + sum(
            float(d_tables[kind] @ found.tables[kind]) for kind in scores.kinds
        )

    inferred = engine.infer(scores, gradient=announced)
    gradient = numbers(inferred.vjp(d_arcs, d_tables))
    expected = finite_difference(value, numbers(scores))
    np.testing.assert_allclose(gradient, expected, atol=1e-7)


def test_engines_have_only_the_verbs_that_they_honour():
    verbs = {
        engine: {verb for verb in ("infer", "decode", "kbest", "sample") if hasattr(engine, verb)}
        for engine in (
            MatrixTree, Eisner, SecondOrder, BeliefPropagation, DualDecomposition, HillClimbing,
        )
    }  # fmt: skip
    everything = {"infer", "decode", "kbest", "sample"}
    assert verbs == {
        MatrixTree: everything, Eisner: everything, SecondOrder: everything,
        BeliefPropagation: {"infer"}, DualDecomposition: {"decode"}, HillClimbing: {"decode"},
    }  # fmt: skip


@pytest.mark.parametrize("engine", [MatrixTree(), Eisner()], ids=repr)
@pytest.mark.parametrize("verb", ["infer", "decode"])
def test_first_order_engines_refuse_parts(rng, engine, verb):
    name = type(engine).__name__
    with pytest.raises(
        ArgumentError,
        match=rf"^{name} is a first-order engine and cannot score siblings, grand.*\.$",
    ):
        getattr(engine, verb)(part_scores(rng, PAIRS))


@pytest.mark.parametrize("engine", [SecondOrder(), DualDecomposition()], ids=repr)
def test_engines_over_automata_refuse_any_two_siblings(rng, engine):
    verb = engine.infer if hasattr(engine, "infer") else engine.decode
    with pytest.raises(ArgumentError, match=r"sibling.*\.$"):
        verb(part_scores(rng, PAIRS))


@pytest.mark.parametrize(
    ("options", "engine"),
    [
        (ExactOptions(), SecondOrder("multi", 2)),
        (BeliefPropagationOptions(7, 0.2, "automata"),
         BeliefPropagation(7, 0.2, "automata", "projective", "multi", threads=2)),
        (DualDecompositionOptions(9, "ad3"),
         DualDecomposition(9, "ad3", "projective", "multi", 2)),
        (HillClimbingOptions(3), HillClimbing(3, "projective", "multi", 2)),
    ],
    ids=lambda one: getattr(one, "tag", ""),
)  # fmt: skip
def test_options_become_engines(options, engine):
    assert higher_order_engine(options, "projective", "multi", 2) == engine


def test_threads_change_nothing(rng):
    scores = Scores.joined([random_parts(rng, 4, SUMMABLE) for _ in range(12)])
    for one, two in (
        (SecondOrder(threads=1), SecondOrder(threads=2)),
        (BeliefPropagation(factors="automata"), BeliefPropagation(factors="automata", threads=2)),
    ):
        assert one.infer(scores).arcs.tobytes() == two.infer(scores).arcs.tobytes()
    for engine in (DualDecomposition, HillClimbing):
        found = [engine(threads=threads).decode(scores) for threads in (1, 2)]
        assert found[0].heads.tobytes() == found[1].heads.tobytes()
