"""Online learners go to the optimum of the objective that the batch optimisers minimise."""

from __future__ import annotations

import numpy as np
import pytest
from arbora.training.batch_optimizers import BatchTrainer
from arbora.training.online import OnlineTrainer, likelihood_objective
from arbora.training.rules import AdaGrad, StochasticGradient

from tests.toys import toy_problem, toy_sentences

L2 = 2.0


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("outcomes", [None, "label"])
@pytest.mark.parametrize("rule", ["sgd", "adagrad"])
def test_the_same_l2_means_the_same(rng, rule, batch_size, outcomes):
    """A wrong convention (l2 per sentence, or per batch) would end up elsewhere."""
    problem = toy_problem(toy_sentences(rng, [3, 4, 2, 5, 3, 2]), bits=8, outcomes=outcomes)
    batch = BatchTrainer(problem, "lbfgs", L2)
    nothing = lambda _: None  # noqa: E731  # shorter than a function
    for _ in range(10):
        best = batch.run_pass(np.arange(6), nothing).figures["objective"]
    size = problem.scorer.size
    steps = (
        StochasticGradient(size, 1, 0.02, L2, 6)
        if rule == "sgd"
        else AdaGrad(size, 1, 0.1, L2, 6, 1e-6)
    )
    online = OnlineTrainer(
        problem, likelihood_objective(0.0), steps, batch_size=batch_size, averaged=True
    )
    for _ in range(150):
        online.run_pass(rng.permutation(6), nothing)
    reached = batch._objective(online.parameters()[batch._touched])[0]
    start = batch._objective(np.zeros(len(batch._touched)))[0]
    assert best <= reached + 1e-9
    assert reached - best < 0.02 * (start - best)


def test_small_parts_of_the_gradient_are_left_alone(rng):
    problem = toy_problem(toy_sentences(rng, [6]), bits=8)
    batch = problem.treebank.batch(np.array([0]))
    weights = rng.normal(size=problem.scorer.size)
    trees = problem.distribution(problem.scores(weights, batch), batch)
    whole = likelihood_objective(0.0)(batch, trees, problem.gold(batch))
    part = likelihood_objective(0.05)(batch, trees, problem.gold(batch))
    small = np.abs(whole.d_scores) < 0.05
    assert small.any()
    assert not small.all()
    assert (part.d_scores[small] == 0.0).all()
    np.testing.assert_array_equal(part.d_scores[~small], whole.d_scores[~small])
    np.testing.assert_array_equal(part.values, whole.values)
