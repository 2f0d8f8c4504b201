"""Exponentiated gradient converges to the same weights as other optimisers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from arbora.fitting.batch_optimizers import BatchTrainer
from arbora.fitting.exponentiated import ExponentiatedGradient
from arbora.testing import EnumeratedTrees
from tests.enumerated_problems import likelihood_slowly, max_margin_slowly
from tests.toys import feature_matrix, toy_problem, toy_sentences

L2 = 30.0  # strong enough for fast convergence


@pytest.fixture(params=[None, "label"], ids=["arcs", "labels"])
def problem(request, rng, kind, root):
    lengths = [3, 2, 4, 1] if request.param is None else [2, 2, 1]
    sentences = toy_sentences(rng, lengths, kind.trees, root)
    return toy_problem(sentences, trees=kind.trees, root=root, bits=7, outcomes=request.param)


def learn(trainer, treebank, passes, stop=None):
    reports = []
    for number in range(passes):
        order = np.random.default_rng(number).permutation(len(treebank))
        reports.append(trainer.run_pass(order, lambda _: None))
        if stop is not None and stop(reports[-1]):
            break
    return reports


def weights_of(trainer):
    return trainer.parameters()["weights"]


def small_gap(report):
    return report.figures["gap"] < 1e-10


def test_loglinear_equals_the_batch_optimisers(problem):
    eg = ExponentiatedGradient(problem, "loglinear", L2)
    reports = learn(eg, problem.treebank, 400, small_gap)
    assert reports[-1].figures["gap"] < 1e-3
    for optimizer in ("lbfgs", "cg"):
        batch = BatchTrainer(problem, optimizer, L2)
        learn(batch, problem.treebank, 12)
        np.testing.assert_allclose(weights_of(eg), weights_of(batch), atol=1e-4)


def tree_vectors(problem):
    """For each sentence, gold minus tree in feature space, and cost, for every tree."""
    answer = []
    for i in range(len(problem.treebank)):
        features = feature_matrix(problem.scorer, problem.treebank.encoded, i)
        batch = problem.treebank.batch(np.array([i]))
        gold = problem.gold(batch)
        side, depth = int(batch.n_words[0]) + 1, problem.scorer.n_labels
        shape = (side, side) if depth is None else (side, side, depth)
        every = EnumeratedTrees(np.zeros(shape), problem.engine.trees, problem.engine.root)
        right = gold.cells()
        differences, costs = [], []
        for heads, labels in zip(every.heads, every.labels, strict=True):
            cells = gold.labelled(heads.astype(np.int32), None if depth is None else labels)
            differences.append(features[right].sum(axis=0) - features[cells].sum(axis=0))
            costs.append((cells != right).sum())
        answer.append((np.array(differences), np.array(costs, dtype=float)))
    return answer


def test_max_margin_equals_a_program_over_all_trees(problem):
    expected, primal, dual = max_margin_slowly(tree_vectors(problem), 1.0 / L2)
    assert primal - dual < 1e-7  # the slow twin has found the optimum
    eg = ExponentiatedGradient(problem, "maxmargin", L2)
    reports = learn(eg, problem.treebank, 8000, lambda r: r.figures["gap"] < 1e-7)
    last = reports[-1].figures
    assert last["gap"] < 1e-3
    assert last["primal"] == pytest.approx(primal, abs=1e-3)
    # The objective is L2-strongly convex: weights are within sqrt(2 gap / L2) < 1e-4.
    np.testing.assert_allclose(weights_of(eg), expected, atol=1e-4)


@pytest.mark.parametrize("kind_of_loss", ["maxmargin", "loglinear"])
def test_the_dual_never_passes_the_primal(problem, kind_of_loss):
    for l2 in (0.5, 100.0):
        eg = ExponentiatedGradient(problem, kind_of_loss, l2)
        rate, last = eg.rate, -np.inf
        for report in learn(eg, problem.treebank, 25):
            figures = report.figures
            scale = 1.0 + abs(figures["primal"])
            assert figures["gap"] >= -1e-9 * scale
            assert figures["gap"] == pytest.approx(figures["primal"] - figures["dual"])
            fell = figures["dual"] < last - 1e-10 * (1.0 + abs(last))
            assert figures["rate"] == (rate / 2.0 if fell else rate)
            rate, last = figures["rate"], figures["dual"]


def test_rounding_does_not_halve_the_rate(rng):
    problem = toy_problem(toy_sentences(rng, [2, 3]), bits=7)
    eg = ExponentiatedGradient(problem, "loglinear", 100.0)
    reports = learn(eg, problem.treebank, 300)
    assert reports[-1].figures["gap"] < 1e-9
    assert eg.rate > 1e-3 * 100.0 / 4


def test_figures_are_those_of_the_definition(problem):
    """Primal from the weights, by enumeration; the weights from the duals."""
    c = 1.0 / L2
    eg = ExponentiatedGradient(problem, "maxmargin", L2)
    figures = learn(eg, problem.treebank, 3)[-1].figures
    w, parts = weights_of(eg), tree_vectors(problem)
    primal = c * sum((costs - d @ w).max() for d, costs in parts) + 0.5 * w @ w
    assert figures["primal"] == pytest.approx(primal, rel=1e-9)
    from_duals, costs_of = np.zeros_like(w), 0.0
    for i, (differences, costs) in enumerate(parts):
        batch = problem.treebank.batch(np.array([i]))
        duals = eg.duals(batch, problem.scorer.scores(batch)[0]).arcs_of(0)
        p = EnumeratedTrees(duals, problem.engine.trees, problem.engine.root)
        from_duals += c * p.probabilities @ differences
        costs_of += p.probabilities @ costs
    np.testing.assert_allclose(w, from_duals, atol=1e-9)
    assert figures["dual"] == pytest.approx(c * costs_of - 0.5 * w @ w, rel=1e-9)


def test_a_restored_trainer_goes_on_to_the_same_bytes(problem):
    for kind_of_loss in ("maxmargin", "loglinear"):
        whole = ExponentiatedGradient(problem, kind_of_loss, L2)
        learn(whole, problem.treebank, 4)
        first = ExponentiatedGradient(problem, kind_of_loss, L2)
        orders = [np.random.default_rng(n).permutation(len(problem.treebank)) for n in range(4)]
        for order in orders[:2]:
            first.run_pass(order, lambda _: None)
        second = ExponentiatedGradient(problem, kind_of_loss, L2)
        second.restore({key: np.array(value) for key, value in first.state().items()})
        for order in orders[2:]:
            second.run_pass(order, lambda _: None)
        assert weights_of(whole).tobytes() == weights_of(second).tobytes()


class TestBatchOptimisers:
    def test_against_scipy_over_all_trees(self, problem):
        objective = likelihood_slowly(tree_vectors(problem), L2)
        start = np.zeros(problem.scorer.size)
        slow = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})
        for optimizer in ("lbfgs", "cg"):
            batch = BatchTrainer(problem, optimizer, L2)
            report = learn(batch, problem.treebank, 12)[-1]
            assert report.figures["objective"] == pytest.approx(objective(slow.x)[0], abs=1e-8)
            np.testing.assert_allclose(weights_of(batch), slow.x, atol=1e-5)

    def test_weights_that_nothing_touches(self, rng):
        problem = toy_problem(toy_sentences(rng, [2]), bits=12)
        start = rng.normal(size=problem.scorer.size)
        touched = feature_matrix(problem.scorer, problem.treebank.encoded, 0).any(axis=0)
        for keep in (True, False):
            batch = BatchTrainer(problem, "lbfgs", L2)
            batch.start_from(start, keep_others=keep)
            learn(batch, problem.treebank, 1)
            rest = weights_of(batch)[~touched]
            np.testing.assert_array_equal(rest, start[~touched] if keep else 0.0)
