"""Objectives of gradient-based learners: functions from the scores of a batch to a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arbora.errors import ArgumentError
from arbora.fitting.annealing import Annealing
from arbora.fitting.mira import Mira
from arbora.fitting.rivals import RIVALS, RivalSettings
from arbora.fitting.trainer import Problem
from arbora.inference.engines import SummingEngine, higher_order_engine
from arbora.losses import (
    BeliefLoss,
    Gold,
    Loss,
    Rival,
    completed_gold,
    composite_likelihood,
    decoded_rival,
    head_selection,
    hinge_loss,
    l2_distance,
    marginal_loss,
    negative_log_likelihood,
    perceptron_loss,
)
from arbora.options import (
    AutomataOptions,
    Component,
    FirstOrderOptions,
    HeadSelectionOptions,
    L2Options,
    LogLinearOptions,
    MaxMarginOptions,
    MiraOptions,
    ParserOptions,
    PerceptronOptions,
    RiskOptions,
    spelled,
)
from arbora.scores import Scores
from arbora.scoring import Batch, InnerProducts, LinearScorer

__all__ = ["OBJECTIVES", "MakeObjective", "Objective", "make_objective", "training_engine"]

Objective = Callable[[Batch, Scores, Gold], Loss]

_SMALLEST = 1e-3  # smaller gradients are ignored by linear scorers, for speed

MakeObjective = Callable[[ParserOptions, Problem, "Annealing | None"], Objective]


def make_objective(
    options: ParserOptions, problem: Problem, annealing: Annealing | None = None
) -> Objective:
    """The objective of the options' learner; annealed risk also has a temperature schedule."""
    return OBJECTIVES[type(options.learner)](options, problem, annealing)


def training_engine(options: ParserOptions, problem: Problem) -> SummingEngine:
    """The inference engine for sums in training."""
    order, engine = options.order, problem.engine
    if isinstance(order, FirstOrderOptions):
        return engine
    found: Any = higher_order_engine(
        order.training_inference,  # type: ignore[arg-type]  # checked: it has sums
        options.trees,
        engine.root,
        engine.threads,
    )
    return found  # type: ignore[no-any-return]


def _sparse(loss: Loss, problem: Problem) -> Loss:
    """The loss without tiny gradients, if that saves time."""
    return loss.without_tiny(_SMALLEST) if isinstance(problem.scorer, LinearScorer) else loss


def _likelihood(options: ParserOptions, problem: Problem, _: Annealing | None) -> Objective:
    if isinstance(getattr(options.order, "training_inference", None), AutomataOptions):

        def composite(_: Batch, scores: Scores, gold: Gold) -> Loss:
            return _sparse(composite_likelihood(scores, gold, problem.threads), problem)

        return composite
    engine = training_engine(options, problem)

    def likelihood(_: Batch, scores: Scores, gold: Gold) -> Loss:
        return _sparse(negative_log_likelihood(scores, gold, engine), problem)

    return likelihood


def _of_marginals(options: ParserOptions, problem: Problem, loss: BeliefLoss) -> Objective:
    engine = training_engine(options, problem)

    def objective(_: Batch, scores: Scores, gold: Gold) -> Loss:
        return _sparse(marginal_loss(scores, gold, engine, loss), problem)

    return objective


def _l2(options: ParserOptions, problem: Problem, _: Annealing | None) -> Objective:
    return _of_marginals(options, problem, l2_distance)


def _risk(options: ParserOptions, problem: Problem, annealing: Annealing | None) -> Objective:
    assert annealing is not None
    return _of_marginals(options, problem, annealing)


def _rival(options: ParserOptions, problem: Problem) -> Rival:
    order, engine = options.order, problem.engine
    if isinstance(order, FirstOrderOptions):
        return decoded_rival(engine)
    training = order.training_inference
    assert training is not None
    # MIRA does better where heads compete for words.
    competing = isinstance(options.learner, MiraOptions)
    return RIVALS[type(training)](
        RivalSettings(training, options.trees, engine.root, engine.threads, competing)
    )


def _perceptron(options: ParserOptions, problem: Problem, _: Annealing | None) -> Objective:
    rival, engine = _rival(options, problem), problem.engine

    def objective(_: Batch, scores: Scores, gold: Gold) -> Loss:
        whole = completed_gold(scores, gold, engine)
        return perceptron_loss(scores, whole, rival, engine.threads)

    return objective


def _hinge(options: ParserOptions, problem: Problem, _: Annealing | None) -> Objective:
    rival, engine = _rival(options, problem), problem.engine

    def objective(_: Batch, scores: Scores, gold: Gold) -> Loss:
        return hinge_loss(scores, completed_gold(scores, gold, engine), rival, engine.threads)

    return objective


def _head_selection(_: ParserOptions, problem: Problem, __: Annealing | None) -> Objective:
    def objective(_: Batch, scores: Scores, gold: Gold) -> Loss:
        return _sparse(head_selection(scores, gold), problem)

    return objective


def _mira(options: ParserOptions, problem: Problem, _: Annealing | None) -> Objective:
    learner = options.learner
    assert isinstance(learner, MiraOptions)
    if not isinstance(problem.scorer, InnerProducts):
        raise ArgumentError(f"mira requires a linear scorer: use another {spelled('learner')}.")
    return Mira(learner, problem.scorer, problem.engine, _rival(options, problem))


# A new gradient-based learner needs a function and a line here.
OBJECTIVES: dict[type[Component], MakeObjective] = {
    PerceptronOptions: _perceptron,
    MiraOptions: _mira,
    LogLinearOptions: _likelihood,
    HeadSelectionOptions: _head_selection,
    MaxMarginOptions: _hinge,
    L2Options: _l2,
    RiskOptions: _risk,
}
