"""The trainer that the settings ask for."""

from __future__ import annotations

import numpy as np

from arbora.losses import BeliefLoss, l2_distance
from arbora.parsers.combinations import BELIEF_LEARNERS
from arbora.parsers.model import Model
from arbora.parsers.settings import ParserSettings
from arbora.scoring import LabelScorer
from arbora.training.annealing import Annealing
from arbora.training.batch_optimizers import BatchTrainer
from arbora.training.exponentiated import ExponentiatedGradient
from arbora.training.labeller import LabelTrainer
from arbora.training.mira import Mira
from arbora.training.online import (
    Objective,
    OnlineTrainer,
    belief_objective,
    likelihood_objective,
    perceptron_objective,
)
from arbora.training.parts import (
    PartMira,
    PartObjective,
    PartProblem,
    PartTrainer,
    Rival,
    choice_rival,
    dual_rival,
    exact_rival,
    part_belief_objective,
    part_perceptron,
    sum_likelihood,
    walk_likelihood,
    walk_rival,
)
from arbora.training.rules import AdaGrad, Additive, Rule, StochasticGradient
from arbora.training.trainer import ArcProblem, Trainer
from arbora.training.treebank import Treebank

__all__ = ["make_label_trainer", "make_part_trainer", "make_trainer"]

_DELTA = 1e-6  # of AdaGrad
_SMALLEST = 1e-3  # parts of a likelihood's gradient below this are left alone by online learners
_LABEL_RATE, _LABEL_L2 = 0.2, 10.0
_NOISE = 0.05  # breaks the symmetry of hidden clusters


def make_trainer(settings: ParserSettings, problem: ArcProblem, start: Model | None) -> Trainer:
    """`settings` as resolved; weights begin with those of `start`."""
    l2 = settings.l2 or 0.0
    if settings.learner == "maxmargin":
        return ExponentiatedGradient(problem, "maxmargin", l2)
    if settings.learner == "loglinear" and settings.optimizer == "eg":
        return ExponentiatedGradient(problem, "loglinear", l2)
    if settings.learner == "loglinear" and settings.optimizer in ("lbfgs", "cg"):
        batch = BatchTrainer(problem, "cg" if settings.optimizer == "cg" else "lbfgs", l2)
        weights = _first_weights(settings, problem, start)
        batch.start_from(weights, keep_others=start is not None)
        return batch
    rule = _rule(settings, problem, start)
    loss, annealing = _belief_loss(settings, len(problem.treebank))
    objective: Objective = perceptron_objective
    if loss is not None:
        objective = belief_objective(loss, _SMALLEST)
    elif settings.learner == "loglinear":
        objective = likelihood_objective(_SMALLEST)
    elif settings.learner == "mira":
        objective = Mira(problem.scorer, settings.mira, settings.largest_step, settings.k)
    rule.start_from(_first_weights(settings, problem, start))
    return OnlineTrainer(
        problem, objective, rule, batch_size=settings.batch_size or 1, averaged=settings.average,
        annealing=annealing, word_dropout=settings.word_dropout,
    )  # fmt: skip


def make_part_trainer(
    model: Model, settings: ParserSettings, problem: PartProblem, start: Model | None
) -> PartTrainer:
    """The trainer of a model of higher order."""
    rule = _rule(settings, problem, start)
    loss, annealing = _belief_loss(settings, len(problem.treebank))
    if loss is not None or settings.learner == "loglinear":
        objective = _summing_objective(model, settings, loss)
    else:
        # MIRA is better where heads compete for words.
        rivals: dict[str | None, Rival] = {
            "automata": choice_rival if settings.learner == "mira" else walk_rival,
            "dual": dual_rival(
                settings.trees, model.root, settings.max_iterations, settings.solver
            ),
            "exact": exact_rival(model.root),
        }
        rival = rivals[settings.training_inference]
        objective = part_perceptron(rival)
        if settings.learner == "mira":
            objective = PartMira(rival, problem.scorer, settings.largest_step)
    if start is not None:
        rule.start_from(start.weights)
    return PartTrainer(
        problem, objective, rule, batch_size=settings.batch_size or 1, averaged=settings.average,
        annealing=annealing, word_dropout=settings.word_dropout,
    )  # fmt: skip


def _summing_objective(
    model: Model, settings: ParserSettings, loss: BeliefLoss | None
) -> PartObjective:
    """A loss of beliefs, or without one the likelihood."""
    if settings.training_inference == "automata":
        return walk_likelihood(_SMALLEST)
    infer = model.part_inference("bp" if settings.training_inference == "bp" else "exact")
    if loss is None:
        return sum_likelihood(infer, _SMALLEST)
    return part_belief_objective(infer, loss, settings.trees, model.root, _SMALLEST)


def _belief_loss(
    settings: ParserSettings, sentences: int
) -> tuple[BeliefLoss | None, Annealing | None]:
    """The loss of a learner of beliefs, and its temperatures if it has any."""
    if settings.learner != "risk":
        return (l2_distance if settings.learner == "l2" else None), None
    steps = (settings.passes or 1) * -(-sentences // (settings.batch_size or 1))
    annealing = Annealing(
        settings.first_temperature or 0.1, settings.last_temperature or 0.0001, steps
    )
    return annealing, annealing


def _rule(settings: ParserSettings, problem: ArcProblem | PartProblem, start: Model | None) -> Rule:
    """What a gradient does to the weights."""
    size, threads = problem.scorer.size, problem.scorer.threads
    if settings.learner in ("loglinear", *BELIEF_LEARNERS):
        return _stepwise_rule(settings, size, threads, len(problem.treebank), start)
    return Additive(size, threads)


def _stepwise_rule(
    settings: ParserSettings, size: int, threads: int, total: int, start: Model | None
) -> Rule:
    """What follows the gradient of a loss step by step."""
    l2, rate = settings.l2 or 0.0, float(settings.rate or 1.0)
    if settings.optimizer == "sgd":
        return StochasticGradient(size, threads, rate, l2, total)
    return AdaGrad(size, threads, rate, _decay(l2, start), total, _DELTA)


def make_label_trainer(
    settings: ParserSettings, scorer: LabelScorer, treebank: Treebank, start: Model | None
) -> LabelTrainer:
    l2 = _decay(_LABEL_L2, start)
    rule = AdaGrad(scorer.size, scorer.threads, _LABEL_RATE, l2, len(treebank), _DELTA)
    if start is not None and len(start.label_weights) == scorer.size:
        rule.start_from(start.label_weights)
    return LabelTrainer(scorer, treebank, rule, max(16, settings.batch_size or 1))


def _decay(l2: float, start: Model | None) -> float:
    """None when going on from a model: AdaGrad's would wipe out what new sentences do not touch."""
    return l2 if start is None else 0.0


def _first_weights(
    settings: ParserSettings, problem: ArcProblem, start: Model | None
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    weights = np.zeros(problem.scorer.size)
    if start is not None:
        weights[:] = start.weights
    elif problem.hidden:
        # Equal clusters would stay equal (Smith & Smith 2007, section 5.2).
        rng = np.random.default_rng(settings.seed)
        rows = slice(problem.scorer.arc_weights, None)
        weights[rows] = rng.normal(0.0, _NOISE, len(weights[rows]))
    return weights
