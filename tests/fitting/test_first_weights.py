"""Where training begins: at zero, and near it with hidden clusters."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.fitting.learners import make_trainer
from arbora.options import ParserOptions
from tests.toys import toy_problem, toy_sentences


def first_weights(problem, **keywords):
    options = ParserOptions.from_keywords({"labels": "none", "seed": 3, **keywords})
    trainer = make_trainer(options, problem, None)
    rule = getattr(trainer, "rule", None)
    return (trainer.parameters() if rule is None else rule.current())["weights"]


@pytest.mark.parametrize("learner", ["loglinear", "l2", "risk", "perceptron", "mira"])
def test_weights_begin_at_zero(rng, learner):
    """Gormley et al. (2015), section 3."""
    problem = toy_problem(toy_sentences(rng, [3, 4]))
    assert not first_weights(problem, learner=learner).any()


@pytest.mark.parametrize("cluster_of", ["edge", "token"])
@pytest.mark.parametrize("optimizer", ["sgd", "adagrad", "lbfgs"])
def test_clusters_begin_with_noise(rng, cluster_of, optimizer):
    """Smith & Smith (2007), section 5.2: equal clusters would get equal gradients for ever."""
    problem = toy_problem(toy_sentences(rng, [3, 4]), outcomes=cluster_of, width=3)
    weights = first_weights(problem, clusters=3, cluster_of=cluster_of, optimizer=optimizer)
    assert not weights[: -(3 << 4)].any()
    rows = weights[-(3 << 4) :].reshape(-1, 3)  # 2^4 rows; L-BFGS leaves those without use at 0
    rows = rows[rows.any(axis=1)]
    assert len(rows) > 5
    assert len(np.unique(rows)) == rows.size
    assert np.abs(rows).max() < 0.5
    other = first_weights(problem, clusters=3, cluster_of=cluster_of, optimizer=optimizer, seed=4)
    assert not np.array_equal(weights, other)
