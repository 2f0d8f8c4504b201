"""Learning through the inference: the whole chain to the weights, and what comes of it."""

from __future__ import annotations

import numpy as np
import pytest
from arbora.inference.part_inference import exact_inference, loopy_inference
from arbora.parsers.settings import PAIRS_OF_ORDER, PARTS_OF_ORDER
from arbora.training.annealing import Annealing
from arbora.training.online import OnlineTrainer, belief_objective
from arbora.training.parts import (
    KeptArcs,
    PartProblem,
    PartTrainer,
    part_belief_objective,
    sum_likelihood,
)
from arbora.training.rate_search import best_rate
from arbora.training.rules import AdaGrad, Additive
from arbora.training.trainer import PassReport

from arbora.losses import l2_distance
from arbora.scoring import PartScorer
from arbora.testing import finite_difference
from tests.toys import dense, toy_problem, toy_sentences, toy_treebank

BITS = 8
PAIRS, AUTOMATA = PAIRS_OF_ORDER["grandsibling"], PARTS_OF_ORDER["grandsibling"]


def losses():
    return {"l2": l2_distance, "risk": Annealing(0.5, 0.1, 10)}


def check_chain(trainer, batch, weights):
    """The gradient that a trainer would follow, by differences of some of the weights."""

    def loss(values):
        trainer.rule.weights[some] = values
        return trainer.look_at(batch)

    trainer.rule.start_from(weights)
    trainer.look_at(batch)
    gradient = dense(trainer.gradient, len(weights))
    some = np.flatnonzero(gradient)[::5]
    assert len(some) > 20
    np.testing.assert_allclose(gradient[some], finite_difference(loss, weights[some]), atol=1e-6)


@pytest.mark.parametrize("loss", losses())
def test_the_chain_to_the_weights_of_arcs(rng, kind, root, loss):
    sentences = toy_sentences(rng, [3, 5, 1, 4], kind.trees, root, missing=0.2)
    problem = toy_problem(sentences, trees=kind.trees, root=root, bits=BITS)
    objective = belief_objective(losses()[loss], 0.0)
    rule = Additive(problem.scorer.size, 1)
    trainer = OnlineTrainer(problem, objective, rule, batch_size=4, averaged=False)
    weights = rng.normal(scale=0.3, size=problem.scorer.size)
    check_chain(trainer, problem.treebank.batch(np.arange(4)), weights)


def part_problem(rng, trees, root, kinds, bits=BITS):
    settings, treebank = toy_treebank(toy_sentences(rng, [3, 5, 1, 4], trees, root))
    kept = KeptArcs(treebank.encoded.n_words)
    for i, n in enumerate(treebank.encoded.n_words.tolist()):
        mask = rng.random((n + 1, n + 1)) < 0.7
        mask[np.arange(n), np.arange(1, n + 1)] = True
        mask[treebank.heads_of(i), np.arange(1, n + 1)] = True
        mask[:, 0] = False
        np.fill_diagonal(mask, False)
        kept.put(np.array([i]), mask.astype(np.uint8).reshape(-1))
    return PartProblem(PartScorer(settings, bits, kinds), treebank, kept)


INFERENCES = {
    "exact": (AUTOMATA, lambda root: exact_inference(root)),
    "pairs": (PAIRS, lambda root: loopy_inference("projective", root, 2, 0.0, "pairs")),
    "automata": (AUTOMATA, lambda root: loopy_inference("projective", root, 2, 0.2, "automata")),
}


@pytest.mark.parametrize("loss", losses())
@pytest.mark.parametrize("inference", INFERENCES)
def test_the_chain_to_the_weights_of_parts(rng, root, inference, loss):
    kinds, infer = INFERENCES[inference]
    problem = part_problem(rng, "projective", root, kinds)
    objective = part_belief_objective(infer(root), losses()[loss], "projective", root, 0.0)
    rule = Additive(problem.scorer.size, 1)
    trainer = PartTrainer(problem, objective, rule, batch_size=4, averaged=False)
    weights = rng.normal(scale=0.1, size=problem.scorer.size)
    check_chain(trainer, problem.treebank.batch(np.arange(4)), weights)


@pytest.mark.parametrize("trees", ["projective", "nonprojective"])
@pytest.mark.parametrize("name", ["l2", "likelihood"])
def test_learning_by_heart(rng, trees, name):
    """With enough weights the beliefs of a few sentences become gold."""
    problem = part_problem(rng, trees, "single", PAIRS, bits=16)
    infer = loopy_inference(trees, "single", 3, 0.0, "pairs")
    objective = sum_likelihood(infer, 0.0)
    if name == "l2":
        objective = part_belief_objective(infer, l2_distance, trees, "single", 0.0)
    rule = AdaGrad(problem.scorer.size, 1, 0.02, 0.01, 4, 1e-6)
    trainer = PartTrainer(problem, objective, rule, batch_size=2, averaged=False)
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
    """A learner whose loss is least at some rate."""

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
