"""Annealed risk: its temperatures, and the L2 loss that is mixed into it."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.fitting.annealing import Annealing
from arbora.fitting.learners import make_trainer
from arbora.inference.engines import BeliefPropagation, first_order_engine
from arbora.losses import annealed_risk, l2_distance, marginal_loss
from arbora.models.model_file import to_bytes
from arbora.options import ParserOptions
from arbora.scores import Scores
from arbora.testing import finite_difference
from tests.parsers.test_fitting import Stop, Watcher, fit
from tests.toys import toy_part_problem, toy_problem, toy_sentences


def course(steps, *settings):
    """The temperature and the share of L2 of each step, and of one after the last."""
    annealing, found = Annealing(*settings), []
    for step in range(steps + 1):
        annealing.done = step
        found.append((annealing.temperature, annealing.l2_share))
    return np.array(found).T


def test_linear_temperatures_have_equal_differences():
    temperatures, shares = course(6, 0.1, 0.0001, 6)
    expected = [0.1, 0.08002, 0.06004, 0.04006, 0.02008, 0.0001, 0.0001]
    np.testing.assert_allclose(temperatures, expected, rtol=1e-12)
    assert not shares.any()


def test_logarithmic_temperatures_have_equal_ratios():
    temperatures, shares = course(5, 10.0, 0.1, 5, "log", 1.0)
    np.testing.assert_allclose(temperatures, [10.0, 10**0.5, 1.0, 10**-0.5, 0.1, 0.1], rtol=1e-12)
    np.testing.assert_allclose(shares, [1.0, 0.75, 0.5, 0.25, 0.0, 0.0])


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        ({}, 0.1, 0.0001), ({"annealing": "log"}, 10.0, 0.1),
        ({"annealing": "log", "last_temperature": 0.5}, 10.0, 0.5),
        ({"first_temperature": 2.0}, 2.0, 0.0001),
    ],
)  # fmt: skip
@pytest.mark.parametrize("learner", ["risk", "l2+risk"])
def test_the_paper_and_the_released_code_have_other_temperatures(learner, given, first, last):
    options = ParserOptions.from_keywords({"learner": learner, **given})
    own = options.keywords()
    assert (own["first_temperature"], own["last_temperature"]) == (first, last)
    again = options.continued({"annealing": "log"}).keywords()
    if "annealing" in given:
        assert (again["first_temperature"], again["last_temperature"]) == (first, last)
    else:
        assert (again["first_temperature"], again["last_temperature"]) == (10.0, 0.1)


def test_every_step_has_its_temperature(rng):
    problem = toy_problem(toy_sentences(rng, [3, 4, 2, 5, 3]))
    keywords = {"learner": "risk", "annealing": "log", "risk_mix": 0.8, "passes": 2,
                "batch_size": 2}  # fmt: skip
    trainer = make_trainer(ParserOptions.from_keywords(keywords), problem, None)
    seen, objective = [], trainer.objective

    def watched(*arguments):
        seen.append((trainer.annealing.temperature, trainer.annealing.l2_share))
        return objective(*arguments)

    trainer.objective = watched
    reports = [trainer.run_pass(np.arange(5), lambda _: None) for _ in range(2)]
    expected = course(5, 10.0, 0.1, 6, "log", 0.8).T  # two passes of three batches
    np.testing.assert_allclose(seen, expected)
    assert reports[0].figures == pytest.approx({"temperature": expected[3][0], "l2_share": 0.32})
    assert reports[1].figures == pytest.approx({"temperature": 0.1, "l2_share": 0.0})


@pytest.mark.parametrize("done", [0, 2, 3, 4])
def test_the_mixture_by_definition_and_its_gradient_by_differences(rng, done):
    problem = toy_part_problem(toy_sentences(rng, [3, 4], "projective"), ("siblings",))
    batch = problem.treebank.batch(np.arange(2))
    gold = problem.gold(batch)
    problem.scorer.weights = rng.normal(size=problem.scorer.size)
    scores, _ = problem.scorer.scores(batch)
    engine, annealing = BeliefPropagation(3, trees="projective"), Annealing(2.0, 0.5, 5, "log", 0.8)
    annealing.done = done
    share = 0.8 * (1.0 - done / 4)
    found = marginal_loss(scores, gold, engine, annealing)
    l2 = marginal_loss(scores, gold, engine, l2_distance).values
    risk = marginal_loss(
        scores, gold, engine, lambda *own: annealed_risk(*own, 2.0 * 0.25 ** (done / 4))
    ).values
    np.testing.assert_allclose(found.values, share * l2 + (1.0 - share) * risk, rtol=1e-9)

    kept = np.isfinite(scores.arcs)

    def value(flat):
        arcs = np.where(kept, 0.0, -np.inf)
        arcs[kept] = flat[: kept.sum()]
        changed: Scores = scores.with_values(arcs, {"siblings": flat[kept.sum() :]})
        return float(marginal_loss(changed, gold, engine, annealing).values.sum())

    flat = np.concatenate([scores.arcs[kept], scores.tables["siblings"]])
    gradient = np.concatenate([found.d_scores.arcs[kept], found.d_scores.tables["siblings"]])
    np.testing.assert_allclose(gradient, finite_difference(value, flat, 1e-3), atol=1e-7)


def test_the_mixture_begins_with_l2_and_ends_with_the_risk(rng):
    problem = toy_problem(toy_sentences(rng, [4, 3]))
    batch = problem.treebank.batch(np.arange(2))
    gold, engine = problem.gold(batch), first_order_engine("nonprojective", "single")
    scores = problem.scorer.with_parameters(
        {"weights": rng.normal(size=problem.scorer.size)}
    ).scores(batch)[0]
    beliefs = engine.infer(scores).marginals
    annealing = Annealing(1.0, 0.1, 4, "log", 1.0)
    for done, loss in ((0, l2_distance), (3, lambda *own: annealed_risk(*own, 0.1))):
        annealing.done = done
        for one, other in zip(
            annealing(beliefs, gold, engine), loss(beliefs, gold, engine), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("learner", ["risk", "l2+risk"])
def test_resuming_in_the_middle_of_a_mixture(learner, tmp_path):
    options = {"learner": learner, "annealing": "log", "risk_mix": 1.0, "passes": 3,
               "patience": 10, "labels": "none"}  # fmt: skip
    whole, last = fit(**options), 2 if learner == "risk" else 5
    with pytest.raises(Stop):
        fit(**options, checkpoint=tmp_path / "m", observer=Watcher(stop_after=last))
    resumed = fit(**options, checkpoint=tmp_path / "m", resume=True)
    assert to_bytes(resumed.model) == to_bytes(whole.model)
    figures = [record.figures for record in resumed.history.passes]
    assert figures == [record.figures for record in whole.history.passes]
    assert figures[-1] == pytest.approx({"temperature": 0.1, "l2_share": 0.0})
