"""Bookkeeping of learners: when rates change, what averages count, how clusters begin."""

from __future__ import annotations

import numpy as np

from arbora.fitting.exponentiated import ExponentiatedGradient
from arbora.fitting.learners import make_trainer
from arbora.fitting.objectives import make_objective
from arbora.fitting.online import OnlineTrainer
from arbora.fitting.rules import Additive
from arbora.options import ParserOptions
from tests.toys import toy_problem, toy_sentences


def no_tick(_):
    pass


def test_the_rate_is_halved_after_a_fall(rng, monkeypatch):
    """When the dual is below that of the pass before, not below the best one so far."""
    problem = toy_problem(toy_sentences(rng, [3]), bits=7)
    eg = ExponentiatedGradient(problem, "maxmargin", 1.0)
    rates = []
    for dual in (5.0, 3.0, 4.0, 4.0, 2.0, 6.0):
        monkeypatch.setattr(eg, "_step", lambda _, dual=dual: dual)
        rates.append(eg.run_pass(np.arange(1), no_tick).figures["rate"])
    assert rates == [1.0, 0.5, 0.5, 0.5, 0.25, 0.25]


def test_the_average_counts_examples_without_an_update(rng):
    """Collins (2002): the mean of the weights after every example of every pass."""
    lengths, seen, idle = [2, 3, 2], [], 0
    problem = toy_problem(toy_sentences(rng, lengths), bits=10)
    objective = make_objective(ParserOptions.from_keywords({"learner": "perceptron"}), problem)
    trainer = OnlineTrainer(
        problem, objective, Additive(problem.scorer), batch_size=1, averaged=True
    )
    for example in [0, 1, 2] * 4:
        idle += trainer.run_pass(np.array([example]), no_tick).loss == 0.0
        seen.append(trainer.rule.current()["weights"])
    assert 2 < idle < 12
    np.testing.assert_allclose(trainer.parameters()["weights"], np.mean(seen, axis=0), atol=1e-12)


def test_hidden_clusters_do_not_stay_identical(rng):
    """Smith & Smith (2007), section 5.2: without noise, all clusters would learn the same."""
    problem = toy_problem(toy_sentences(rng, [4, 3, 5]), outcomes="edge", width=2)
    trainer = make_trainer(ParserOptions.from_keywords({"clusters": 2}), problem, None)
    batch = problem.treebank.batch(np.arange(3))

    def difference():
        clusters = problem.scorer.scores(batch)[0].arcs.reshape(-1, 2)
        one, other = clusters[np.isfinite(clusters[:, 0])].T
        return np.abs(one - other)

    assert difference().min() > 1e-6
    for _ in range(3):
        trainer.run_pass(np.arange(3), no_tick)
    assert difference().min() > 1e-6
