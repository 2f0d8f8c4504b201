"""Dual decomposition against all trees: what is certified is best, and bounds are bounds."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.errors import ArboraError, NoTreeError
from arbora.inference.dual import decode_dual, dual_history
from arbora.scores import Scores
from arbora.testing import RandomInstances

MODELS = {
    "siblings": ("consecutive_siblings",),
    "grandparents": ("grandparents",),
    "g+s": ("consecutive_siblings", "grandparents", "grandsiblings"),
}
SOLVERS = ("subgradient", "ad3", "branch", "exact")


def check_answers(some, trees, root, solver, iterations):
    """The promises of a solver, and the share of certificates."""
    answers = decode_dual(some.packed(), trees, root, iterations, solver)
    every, scores = some.scores(trees, root)
    best = scores.max(axis=1)
    heads = answers.heads.reshape(-1, some.n_words)
    chosen = (every[None] == heads[:, None]).all(axis=2)
    assert (chosen.sum(axis=1) == 1).all()  # each answer is a tree of the class
    np.testing.assert_allclose(answers.scores, scores[chosen], rtol=1e-12, atol=1e-12)
    assert (answers.bounds >= best - 1e-6).all()
    assert (answers.bounds >= answers.scores).all()
    assert (answers.scores[answers.certified] >= best[answers.certified] - 1e-6).all()
    if solver == "exact":
        assert answers.certified.all()
    else:  # branching, then the subgradient, which it is not to be worse than
        assert (answers.iterations <= iterations * (2 if solver == "branch" else 1)).all()
    return answers


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_words", [1, 2, 4])
def test_certified_trees_are_best(model, trees, root, solver, n_words):
    rng = np.random.default_rng(n_words)
    for ties in (False, True):
        some = RandomInstances(rng, 25, n_words, MODELS[model], forbidden=0.3 * ties, ties=ties)
        answers = check_answers(some, trees, root, solver, 300)
        assert answers.certified.any()


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n_words", [3, 4, 5])
def test_certified_trees_are_best_10_000_times(model, n_words):
    rng = np.random.default_rng(2010 + n_words)
    for trees in ("nonprojective", "projective"):
        for root in ("single", "multi"):
            for ties in (False, True):
                for forbidden in (0.0, 0.4):
                    some = RandomInstances(
                        rng, 70, n_words, MODELS[model], forbidden=forbidden, ties=ties
                    )
                    for solver in SOLVERS:
                        check_answers(some, trees, root, solver, 250)


def test_more_iterations_never_make_the_answer_worse():
    some = RandomInstances(np.random.default_rng(5), 60, 5, MODELS["g+s"])
    packed = some.packed()
    last = decode_dual(packed, max_iterations=1)
    for iterations in (5, 50, 500):
        answers = decode_dual(packed, max_iterations=iterations)
        assert (answers.scores >= last.scores).all()
        assert (answers.bounds <= last.bounds).all()
        assert (answers.certified >= last.certified).all()
        last = answers


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("solver", ["subgradient", "branch"])
def test_lazy_automata_change_nothing(model, solver):
    some = RandomInstances(np.random.default_rng(6), 40, 5, MODELS[model], forbidden=0.2)
    packed = some.packed()
    lazy, eager = (decode_dual(packed, solver=solver, lazy=lazy) for lazy in (True, False))
    for one, other in zip(lazy, eager, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("solver", SOLVERS)
def test_threads_change_nothing(solver):
    some = RandomInstances(np.random.default_rng(7), 60, 5, MODELS["g+s"])
    one, two = (
        decode_dual(some.packed(), max_iterations=300, solver=solver, threads=threads)
        for threads in (1, 2)
    )
    for left, right in zip(one, two, strict=True):
        assert np.array_equal(left, right)


def random_sentence(rng, n_words, kinds):
    packed = Scores.over(rng.normal(size=(n_words + 1) ** 2), np.array([n_words]), kinds, threads=1)
    for table in packed.tables.values():
        table[:] = rng.normal(size=len(table))
    return packed


@pytest.mark.parametrize("solver", ["subgradient", "ad3", "branch"])
@pytest.mark.parametrize("model", ["siblings", "grandparents"])
def test_random_scores_end_at_the_limit_with_a_gap(model, solver):
    """The paper's hard case (D10, Table 2, last column), at six times its length."""
    packed = random_sentence(np.random.default_rng(8), 60, MODELS[model])
    answers = decode_dual(packed, max_iterations=40, solver=solver)
    assert answers.iterations[0] == 40  # so few are one node's, when branching
    assert not answers.certified[0]
    assert np.isfinite(answers.bounds[0])
    assert answers.bounds[0] > answers.scores[0]


def test_first_order_scores_are_solved_by_agreement():
    """Without parts, the best tree is best at multipliers that exist: the relaxation is tight."""
    rng = np.random.default_rng(9)
    some = RandomInstances(rng, 40, 5, ())
    answers = check_answers(some, "nonprojective", "single", "subgradient", 5000)
    assert answers.certified.mean() > 0.9
    assert check_answers(some, "nonprojective", "single", "ad3", 1000).certified.all()


@pytest.mark.parametrize("solver", ["subgradient", "ad3", "branch"])
def test_the_size_of_the_scores_does_not_matter(solver):
    """Learners' scores differ by orders of magnitude; a power of two changes no rounding."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        packed = random_sentence(rng, 8, MODELS["g+s"])
        large = {kind: 4096.0 * table for kind, table in packed.tables.items()}
        answer = decode_dual(packed, max_iterations=200, solver=solver)
        scaled = decode_dual(
            packed.with_values(4096.0 * packed.arcs, large), max_iterations=200, solver=solver
        )
        assert scaled.certified[0] == answer.certified[0]
        assert scaled.iterations[0] == pytest.approx(answer.iterations[0], abs=5)
        if answer.certified[0]:
            assert scaled.heads.tolist() == answer.heads.tolist()


def test_the_history_shows_what_happened():
    packed = random_sentence(np.random.default_rng(10), 12, MODELS["siblings"])
    history = dual_history(packed, max_iterations=200)
    answers = decode_dual(packed, max_iterations=200)
    assert len(history.duals) == answers.iterations[0]
    assert history.duals.min() == pytest.approx(answers.bounds[0])
    assert history.scores[-1] == pytest.approx(answers.scores[0], abs=1e-12)
    assert (np.diff(history.scores) >= 0).all()
    assert history.recomputed[0] == 13  # every automaton once, then only those with new multipliers
    assert history.recomputed[1:].mean() < 12


def test_bad_arguments_are_refused_in_a_sentence():
    packed = random_sentence(np.random.default_rng(11), 3, ("siblings",))
    with pytest.raises(ArboraError, match="LoopyTrees"):
        decode_dual(packed)
    packed = random_sentence(np.random.default_rng(11), 3, ())
    for arguments in (
        {"max_iterations": 0}, {"solver": "simplex"}, {"trees": "planar"}, {"root": "none"},
        {"tree_share": -0.1}, {"tree_share": 1.5}, {"tree_share": "all"},
    ):  # fmt: skip
        with pytest.raises(ArboraError, match=next(iter(arguments))):
            decode_dual(packed, **arguments)
    arcs = np.full((4, 4), -np.inf)
    arcs[0, 1] = arcs[1, 2] = 0.0
    impossible = Scores.over(arcs.reshape(-1), np.array([3]), ())
    with pytest.raises(NoTreeError, match="sentence 0"):
        decode_dual(impossible)
