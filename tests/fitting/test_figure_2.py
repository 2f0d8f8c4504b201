"""Exponentiated gradient step by step, in first and second order, and where it ends.

The twin is figure 2 of Koo et al. (2007) over enumerated trees, with the paper's constants.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from arbora.fitting.batch_optimizers import BatchTrainer
from arbora.fitting.exponentiated import ExponentiatedGradient
from arbora.inference.engines import SecondOrder
from tests.enumerated_problems import enumerated, figure_2, likelihood_slowly, max_margin_slowly
from tests.toys import toy_part_problem, toy_problem, toy_sentences

BETA = 9.0  # figure 2 of the paper
PARTS = {
    "sibling": ("consecutive_siblings",),
    "grandparent": ("grandparents",),
    "grandsibling": ("consecutive_siblings", "grandparents", "grandsiblings"),
}


def make_problem(rng, order, root="single", lengths=(3, 2, 4, 1), bits=7):
    sentences = toy_sentences(rng, lengths, "projective", root)
    if order == "first":
        return toy_problem(sentences, trees="projective", root=root, bits=bits)
    return toy_part_problem(sentences, PARTS[order], rng, root=root, bits=bits)


def make_trainer(problem, kind, l2):
    parts = problem.scorer.kinds
    engine = SecondOrder(problem.engine.root) if parts else None
    return ExponentiatedGradient(problem, kind, l2, engine)


def orders(problem, passes):
    return [np.random.default_rng(n).permutation(len(problem.treebank)) for n in range(passes)]


def learn(trainer, problem, passes, smallest_gap=0.0):
    reports = []
    for order in orders(problem, passes):
        reports.append(trainer.run_pass(order, lambda _: None).figures)
        if reports[-1]["gap"] < smallest_gap:
            break
    return reports


def weights_of(trainer):
    return trainer.parameters()["weights"]


@pytest.mark.parametrize("kind", ["maxmargin", "loglinear"])
@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("order", ["first", *PARTS])
def test_every_pass_is_that_of_the_paper(order, root, kind, rng):
    """Initial weights with beta = 9 and eta = 1/C; every update; every halving of the rate."""
    l2, passes = 2.0, 20
    problem = make_problem(rng, order, root)
    eg = make_trainer(problem, kind, l2)
    slow = figure_2(enumerated(problem), 1.0 / l2, orders(problem, passes), beta=BETA, kind=kind)
    weights, _, rate = next(slow)
    assert eg.rate == rate
    np.testing.assert_allclose(weights_of(eg), weights, rtol=1e-6, atol=1e-13)
    for run, (weights, dual, rate) in zip(orders(problem, passes), slow, strict=True):
        figures = eg.run_pass(run, lambda _: None).figures
        np.testing.assert_allclose(weights_of(eg), weights, atol=1e-9)
        assert figures["dual"] == pytest.approx(dual, rel=1e-9)
        assert figures["rate"] == rate
    assert 0.0 < rate < l2  # halved at least once


@pytest.mark.parametrize("order", PARTS)
def test_max_margin_equals_a_program_over_all_trees(order, rng):
    l2 = 30.0
    problem = make_problem(rng, order, lengths=(3, 3), bits=6)
    examples = [(e.differences, e.costs) for e in enumerated(problem)]
    expected, primal, dual = max_margin_slowly(examples, 1.0 / l2)
    assert primal - dual < 1e-7  # the slow twin has found the optimum
    eg = make_trainer(problem, "maxmargin", l2)
    reports = learn(eg, problem, 3000, smallest_gap=1e-6)
    last = reports[-1]
    assert last["gap"] < 1e-6
    assert last["dual"] - 1e-9 <= dual <= primal <= last["primal"] + 1e-7
    # The primal is strongly convex: ||w - w*||^2 / 2 is at most the gap.
    np.testing.assert_allclose(weights_of(eg), expected, atol=np.sqrt(2.0 * last["gap"]))


@pytest.mark.parametrize("order", PARTS)
def test_log_linear_equals_scipy_over_all_trees(order, rng):
    l2 = 30.0
    problem = make_problem(rng, order, lengths=(3, 3), bits=6)
    objective = likelihood_slowly([(e.differences, e.costs) for e in enumerated(problem)], l2)
    start = np.zeros(problem.scorer.size)
    slow = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    eg = make_trainer(problem, "loglinear", l2)
    reports = learn(eg, problem, 300, smallest_gap=1e-9)
    assert reports[-1]["gap"] < 1e-9
    np.testing.assert_allclose(weights_of(eg), slow.x, atol=5e-5)
    for optimizer in ("lbfgs", "cg"):
        batch = BatchTrainer(problem, optimizer, l2, SecondOrder(problem.engine.root))
        for _ in range(5):
            figures = batch.run_pass(np.arange(2), lambda _: None).figures
        assert figures["objective"] == pytest.approx(slow.fun, abs=1e-8)
        np.testing.assert_allclose(weights_of(batch), slow.x, atol=1e-5)


@pytest.mark.parametrize("kind", ["maxmargin", "loglinear"])
def test_the_dual_rises_to_the_primal(kind, rng):
    """With strong regularisation the step is never halved, and every pass gains."""
    problem = make_problem(rng, "grandsibling")
    reports = learn(make_trainer(problem, kind, 300.0), problem, 40)
    duals, gaps = ([figures[name] for figures in reports] for name in ("dual", "gap"))
    assert (np.diff(duals) >= -1e-12).all()
    assert min(gaps) >= -1e-12
    assert gaps[-1] < 0.2 * gaps[0]
    assert reports[-1]["rate"] == 300.0


def test_dual_variables_of_kept_arcs_and_parts_only(rng):
    problem = make_problem(rng, "sibling")
    eg = make_trainer(problem, "maxmargin", 1.0)
    sizes = [len(example.right) for example in enumerated(problem)]
    assert eg.state()["duals"].shape == (sum(sizes),)
