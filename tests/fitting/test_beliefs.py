"""Training through inference: gradients with respect to the weights, and convergence."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.fitting.annealing import Annealing
from arbora.fitting.online import OnlineTrainer
from arbora.fitting.rate_search import best_rate
from arbora.fitting.rules import AdaGrad
from arbora.fitting.trainer import PassReport
from arbora.inference.engines import BeliefPropagation, SecondOrder
from arbora.losses import l2_distance, marginal_loss, negative_log_likelihood
from arbora.options import GrandsiblingOptions
from arbora.testing import finite_difference
from tests.toys import dense, random_weights, toy_part_problem, toy_problem, toy_sentences

PAIRS, AUTOMATA = GrandsiblingOptions.pairs, GrandsiblingOptions.automata


def losses():
    return {"l2": l2_distance, "risk": Annealing(0.5, 0.1, 10)}


def check_chain(problem, engine, loss, weights):
    """The gradient of a trainer, against finite differences in some of the weights."""
    batch = problem.treebank.batch(np.arange(len(problem.treebank)))
    scorer = problem.scorer.with_parameters({"weights": weights.copy()})

    def found():
        scores, pullback = scorer.scores(batch)
        answer = marginal_loss(scores, problem.gold(batch), engine, loss)
        return float(answer.values.sum()), pullback(answer.d_scores)

    def value(numbers):
        scorer.weights[some] = numbers
        return found()[0]

    gradient = dense(found()[1], len(weights))
    some = np.flatnonzero(gradient)[::5]
    assert len(some) > 20
    np.testing.assert_allclose(gradient[some], finite_difference(value, weights[some]), atol=1e-6)


@pytest.mark.parametrize("loss", losses())
def test_the_chain_to_the_weights_of_arcs(rng, kind, root, loss):
    sentences = toy_sentences(rng, [3, 5, 1, 4], kind.trees, root, missing=0.2)
    problem = toy_problem(sentences, trees=kind.trees, root=root)
    weights = random_weights(rng, problem.scorer, 0.3)
    check_chain(problem, problem.engine, losses()[loss], weights)


ENGINES = {
    "exact": (AUTOMATA, lambda root: SecondOrder(root)),
    "pairs": (PAIRS, lambda root: BeliefPropagation(2, 0.0, "pairs", "projective", root)),
    "automata": (AUTOMATA, lambda root: BeliefPropagation(2, 0.2, "automata", "projective", root)),
}


@pytest.mark.parametrize("loss", losses())
@pytest.mark.parametrize("engine", ENGINES)
def test_the_chain_to_the_weights_of_parts(rng, root, engine, loss):
    kinds, make = ENGINES[engine]
    sentences = toy_sentences(rng, [3, 5, 1, 4], "projective", root)
    problem = toy_part_problem(sentences, kinds, rng, root=root)
    weights = random_weights(rng, problem.scorer, 0.1)
    check_chain(problem, make(root), losses()[loss], weights)


@pytest.mark.parametrize("trees", ["projective", "nonprojective"])
@pytest.mark.parametrize("name", ["l2", "likelihood"])
def test_learning_by_heart(rng, trees, name):
    """With enough weights, the beliefs of a few sentences converge to gold."""
    sentences = toy_sentences(rng, [3, 5, 1, 4], trees, "single")
    problem = toy_part_problem(sentences, PAIRS, rng, trees=trees, bits=16)
    engine = BeliefPropagation(3, 0.0, "pairs", trees, "single")

    def objective(_, scores, gold):
        if name == "l2":
            return marginal_loss(scores, gold, engine, l2_distance)
        return negative_log_likelihood(scores, gold, engine)

    rule = AdaGrad(problem.scorer, 0.02, 0.01, 4, 1e-6)
    trainer = OnlineTrainer(problem, objective, rule, batch_size=2, averaged=False)
    losses = [trainer.run_pass(np.arange(4), lambda _: None).loss for _ in range(25)]
    assert losses[0] > 0.5
    assert abs(losses[-1]) < 0.02


def test_temperatures():
    annealing = Annealing(0.1, 0.0001, 5)
    seen = []
    for done in range(7):
        annealing.done = done
        seen.append(annealing.temperature)
    assert seen[:5] == pytest.approx(np.linspace(0.1, 0.0001, 5))
    assert seen[5:] == [0.0001, 0.0001]
    assert Annealing(0.1, 0.0001, 1).temperature == 0.1  # the first step is the last


class Bowl:
    """A learner whose loss has its minimum at a given rate."""

    def __init__(self, best, rate, tried):
        self.best, self.rate = best, rate
        tried.append(rate)

    def run_pass(self, order, tick):
        assert len(order) == 100
        tick(len(order))
        far = abs(np.log2(self.rate / self.best))
        return PassReport(far if far < 6 else np.inf)


@pytest.mark.parametrize(
    ("best", "found", "rates"), [(0.1, 0.1, 3), (0.8, 0.8, 5), (0.01, 0.0125, 6), (1e6, 0.1, 3)]
)
def test_rates_are_doubled_or_halved(best, found, rates):
    tried = []
    assert best_rate(lambda rate: Bowl(best, rate, tried), 1000, 0.1, seed=0) == found
    assert len(tried) == rates
    assert len(set(tried)) == rates


def test_few_rates_are_tried():
    tried = []
    best_rate(lambda rate: Bowl(1e12, rate, tried), 100, 1e11, seed=0)
    best_rate(lambda rate: Bowl(0.001, rate, tried), 100, 0.05, seed=0)
    assert len(tried) <= 20
