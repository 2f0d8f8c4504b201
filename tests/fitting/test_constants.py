"""The constants and the bookkeeping of the papers' learners, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import Parser
from arbora.fitting.exponentiated import ExponentiatedGradient
from arbora.fitting.learners import make_trainer
from arbora.fitting.objectives import make_objective
from arbora.fitting.online import OnlineTrainer
from arbora.fitting.rules import Additive
from arbora.options import ParserOptions
from tests.small_parsers import SMALL, sentences
from tests.toys import toy_problem, toy_sentences


def no_tick(_):
    pass


@pytest.mark.parametrize("kind_of_loss", ["maxmargin", "loglinear"])
def test_exponentiated_gradient_starts_as_in_the_paper(rng, kind_of_loss):
    """Koo et al. (2007), figure 2: beta = 9 on gold arcs, 0 elsewhere, and eta = 1/C."""
    problem = toy_problem(toy_sentences(rng, [3, 2, 4]), bits=7)
    eg = ExponentiatedGradient(problem, kind_of_loss, 4.0)
    duals = eg.state()["duals"]
    assert (duals == 9.0).sum() == 3 + 2 + 4
    assert set(duals[np.isfinite(duals)]) == {0.0, 9.0}
    assert eg.c == 0.25
    assert eg.rate == 4.0


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


def test_temperatures_fall_with_every_step(rng, monkeypatch):
    """Gormley et al. (2015), section 7.1: from 0.1 to 0.0001, with each batch of each pass."""
    problem = toy_problem(toy_sentences(rng, [3, 4, 2, 5, 3]))
    options = ParserOptions.from_keywords({"learner": "risk", "passes": 2, "batch_size": 2})
    trainer, seen = make_trainer(options, problem, None), []
    objective = trainer.objective

    def watched(*arguments):
        seen.append(trainer.annealing.temperature)
        return objective(*arguments)

    monkeypatch.setattr(trainer, "objective", watched)
    for _ in range(2):
        trainer.run_pass(np.arange(5), no_tick)
    np.testing.assert_allclose(seen, np.linspace(0.1, 0.0001, 6))


@pytest.mark.parametrize("better", ["nonprojective", "projective"])
def test_the_class_that_is_better_on_dev_is_decoded(rng, better):
    """Koo et al. (2007), section 6.2. The dev trees are the model's own best trees of a class."""
    options = SMALL | {"passes": 1, "labels": "none", "decode": "map"}
    train, dev = sentences("train", 20), toy_sentences(rng, [8] * 8)
    plain = Parser(**options).fit(train, dev)
    found = {trees: plain.parse(dev, trees=trees) for trees in ("nonprojective", "projective")}
    one, other = ([s.heads.tolist() for s in parsed] for parsed in found.values())
    assert one != other
    parser = Parser(**options, decode_trees="auto").fit(train, found[better])
    assert parser.model.decode_trees == better
