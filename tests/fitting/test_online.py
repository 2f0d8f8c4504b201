"""Online learners converge to the optimum of the batch optimisers."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.fitting.batch_optimizers import BatchTrainer
from arbora.fitting.objectives import make_objective
from arbora.fitting.online import OnlineTrainer
from arbora.fitting.rules import AdaGrad, StochasticGradient
from arbora.losses import negative_log_likelihood
from arbora.options import ParserOptions
from tests.toys import random_weights, scored, toy_problem, toy_sentences

L2 = 2.0


def likelihood(problem):
    return lambda _, scores, gold: negative_log_likelihood(scores, gold, problem.engine)


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("outcomes", [None, "label"])
@pytest.mark.parametrize("rule", ["sgd", "adagrad"])
def test_the_same_l2_means_the_same(rng, rule, batch_size, outcomes):
    """A wrong scale of the regulariser (per sentence or per batch) would give another optimum."""
    problem = toy_problem(toy_sentences(rng, [3, 4, 2, 5, 3, 2]), bits=8, outcomes=outcomes)
    batch = BatchTrainer(problem, "lbfgs", L2)
    nothing = lambda _: None  # noqa: E731  # shorter than a function
    for _ in range(10):
        best = batch.run_pass(np.arange(6), nothing).figures["objective"]
    steps = (
        StochasticGradient(problem.scorer, 0.02, L2, 6)
        if rule == "sgd"
        else AdaGrad(problem.scorer, 0.1, L2, 6, 1e-6)
    )
    online = OnlineTrainer(
        problem, likelihood(problem), steps, batch_size=batch_size, averaged=True
    )
    for _ in range(150):
        online.run_pass(rng.permutation(6), nothing)
    learnt = online.parameters()["weights"][batch._touched]
    batch = BatchTrainer(problem, "lbfgs", L2)  # the scorer has one trainer's weights at a time
    reached = batch._objective(learnt)[0]
    start = batch._objective(np.zeros(len(batch._touched)))[0]
    assert best <= reached + 1e-9
    assert reached - best < 0.02 * (start - best)


def test_small_parts_of_the_gradient_are_ignored(rng):
    problem = toy_problem(toy_sentences(rng, [6]), bits=8)
    batch = problem.treebank.batch(np.array([0]))
    scores = scored(problem.scorer, random_weights(rng, problem.scorer), batch)
    whole = negative_log_likelihood(scores, problem.gold(batch), problem.engine)
    part = negative_log_likelihood(scores, problem.gold(batch), problem.engine).without_tiny(0.05)
    small = np.abs(whole.d_scores.arcs) < 0.05
    assert small.any()
    assert not small.all()
    assert (part.d_scores.arcs[small] == 0.0).all()
    np.testing.assert_array_equal(part.d_scores.arcs[~small], whole.d_scores.arcs[~small])
    np.testing.assert_array_equal(part.values, whole.values)


@pytest.mark.parametrize("learner", ["loglinear", "l2"])
def test_learners_ignore_small_parts_of_the_gradient(rng, learner):
    """Likelihoods and losses of marginals, below a thousandth."""
    problem = toy_problem(toy_sentences(rng, [9, 7]), bits=8)
    batch = problem.treebank.batch(np.arange(2))
    scores = scored(problem.scorer, random_weights(rng, problem.scorer), batch)
    options = ParserOptions.from_keywords({"learner": learner})
    found = make_objective(options, problem)(batch, scores, problem.gold(batch)).d_scores.arcs
    assert (found != 0.0).any()
    assert np.abs(found[found != 0.0]).min() >= 1e-3
    if learner == "loglinear":
        whole = negative_log_likelihood(scores, problem.gold(batch), problem.engine).d_scores.arcs
        assert ((whole != 0.0) & (np.abs(whole) < 1e-3)).any()
        np.testing.assert_array_equal(found, np.where(np.abs(whole) < 1e-3, 0.0, whole))
