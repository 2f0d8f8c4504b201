"""Construction of the trainer for given options."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora.errors import ArgumentError
from arbora.fitting.annealing import Annealing
from arbora.fitting.batch_optimizers import BatchTrainer
from arbora.fitting.dense_rules import DenseAdaGrad, DenseAdam, DenseGradient, Schedule
from arbora.fitting.exponentiated import ExponentiatedGradient
from arbora.fitting.label_trainer import LabelTrainer
from arbora.fitting.objectives import make_objective, training_engine
from arbora.fitting.online import OnlineTrainer
from arbora.fitting.rules import AdaGrad, Additive, LinearRule, StochasticGradient, UpdateRule
from arbora.fitting.trainer import Problem, Trainer
from arbora.fitting.treebank import Treebank, by_length
from arbora.models.components import StagedLabels
from arbora.models.model import Model
from arbora.options import (
    AdaGradOptions,
    AdamOptions,
    ConjugateGradientOptions,
    ExponentiatedGradientOptions,
    LbfgsOptions,
    MaxMarginOptions,
    NeuralOptions,
    OnlineOptions,
    ParserOptions,
    RiskOptions,
    SgdOptions,
    spelled,
)
from arbora.scoring import LabelScorer, LinearScorer, Scorer
from arbora.types import FloatArray

__all__ = ["make_label_trainer", "make_trainer"]

_DELTA = 1e-6  # of AdaGrad
_LABEL_RATE, _LABEL_REGULARIZATION = 0.2, 10.0
_NOISE = 0.05  # breaks the symmetry of hidden clusters


def make_trainer(options: ParserOptions, problem: Problem, start: Model | None) -> Trainer:
    """The trainer of the options' learner; `start` provides initial parameters."""
    optimizer = getattr(options.learner, "optimizer", options.learner)
    if isinstance(optimizer, OnlineOptions):
        return _online_trainer(options, optimizer, problem, start)
    if not isinstance(problem.scorer, LinearScorer):
        raise ArgumentError(f"{optimizer.tag} requires a linear scorer: use adagrad or sgd.")
    engine: Any = training_engine(options, problem)  # exact: other combinations are refused
    if isinstance(optimizer, ExponentiatedGradientOptions):
        kind = "maxmargin" if isinstance(options.learner, MaxMarginOptions) else "loglinear"
        return ExponentiatedGradient(problem, kind, optimizer.regularization, engine)  # type: ignore[arg-type]
    assert isinstance(optimizer, LbfgsOptions | ConjugateGradientOptions)
    name = "cg" if isinstance(optimizer, ConjugateGradientOptions) else "lbfgs"
    strength = _strength(optimizer.regularization, problem.scorer)
    batch = BatchTrainer(problem, name, strength, engine)  # type: ignore[arg-type]
    weights = np.zeros(problem.scorer.size)
    _fill(weights, options, problem, start)
    batch.start_from(weights, keep_others=start is not None)
    return batch


def _online_trainer(
    options: ParserOptions, optimizer: OnlineOptions, problem: Problem, start: Model | None
) -> OnlineTrainer:
    if isinstance(optimizer, AdamOptions):
        rule: UpdateRule = _adam(options, optimizer, problem)
    else:
        rule = _rule(optimizer, problem.scorer, len(problem.treebank), start)
    if isinstance(rule, LinearRule):
        _fill(rule.weights, options, problem, start)  # not a copy, which may be large
    elif start is not None:
        rule.start_from(start.scorer.parameters())
    annealing = _annealing(options, _updates(options, optimizer, problem))
    return OnlineTrainer(
        problem, make_objective(options, problem, annealing), rule,
        batch_size=optimizer.batch_size or 1, averaged=optimizer.average, annealing=annealing,
        word_dropout=optimizer.word_dropout,
    )  # fmt: skip


def _rule(optimizer: OnlineOptions, scorer: Scorer, total: int, start: Model | None) -> UpdateRule:
    """The update rule of an optimiser."""
    if isinstance(optimizer, AdaGradOptions):
        rate = _rate(optimizer.rate)
        strength = _decay(_strength(optimizer.regularization, scorer), start)
        if isinstance(scorer, LinearScorer):
            return AdaGrad(scorer, rate, strength, total, _DELTA)
        return DenseAdaGrad(scorer, rate, strength, total, _DELTA)
    if isinstance(optimizer, SgdOptions):
        rate, strength = _rate(optimizer.rate), _strength(optimizer.regularization, scorer)
        if isinstance(scorer, LinearScorer):
            return StochasticGradient(scorer, rate, strength, total)
        return DenseGradient(scorer, rate, strength, total)
    if isinstance(scorer, LinearScorer):
        return Additive(scorer)
    return DenseGradient(scorer, 1.0, 0.0, total)


def _adam(options: ParserOptions, optimizer: AdamOptions, problem: Problem) -> DenseAdam:
    """Adam with a schedule over all passes."""
    if isinstance(problem.scorer, LinearScorer):
        raise ArgumentError(f"adam requires a neural scorer: use another {spelled('optimizer')}.")
    schedule = Schedule(optimizer.rate, _updates(options, optimizer, problem), optimizer.warm_up)
    slower = {}
    if isinstance(options.scorer, NeuralOptions) and options.scorer.fine_tune:
        from arbora.neural.context import TUNED

        share = options.scorer.encoder_rate / optimizer.rate
        names = problem.scorer.parameters()
        slower = {name: share for name in names if name.startswith(TUNED)}
    return DenseAdam(problem.scorer, schedule, len(problem.treebank), optimizer.clip, slower)


def _updates(options: ParserOptions, optimizer: OnlineOptions, problem: Problem) -> int:
    """The number of updates in all passes."""
    n_words, size = problem.treebank.encoded.n_words, optimizer.batch_size or 1
    if isinstance(problem.scorer, LinearScorer):
        steps = -(-len(n_words) // size)
    else:
        steps = len(by_length(n_words, np.arange(len(n_words)), size))
    return (options.passes or 1) * steps


def _strength(regularization: float, scorer: Scorer) -> float:
    """The L2 strength of each weight.

    Where every feature has a weight per hidden cluster, it is divided by their number. Then equal
    clusters, which score as one, are also regularised as one.
    """
    if not isinstance(scorer, LinearScorer) or scorer.outcomes != "edge":
        return regularization
    return regularization / scorer.width if scorer.cluster_features == "all" else regularization


def _rate(rate: float | str | None) -> float:
    return float(rate) if isinstance(rate, int | float) else 1.0


def _annealing(options: ParserOptions, steps: int) -> Annealing | None:
    learner = options.learner
    if not isinstance(learner, RiskOptions):
        return None
    first, last = learner.temperatures
    return Annealing(first, last, steps, learner.annealing, learner.risk_mix)


def make_label_trainer(
    options: ParserOptions, scorer: LabelScorer, treebank: Treebank, start: Model | None
) -> LabelTrainer:
    """The trainer of staged labels, which is AdaGrad for every learner of trees."""
    strength = _decay(_LABEL_REGULARIZATION, start)
    rule = AdaGrad(scorer, _LABEL_RATE, strength, len(treebank), _DELTA)
    if start is not None and isinstance(start.labeller, StagedLabels):
        rule.start_from(start.labeller.scorer.parameters())
    optimizer = getattr(options.learner, "optimizer", options.learner)
    batch_size = getattr(optimizer, "batch_size", None) or 1
    return LabelTrainer(scorer, treebank, rule, max(16, batch_size))


def _decay(strength: float, start: Model | None) -> float:
    """No decay when continuing: AdaGrad's would erase weights that new sentences do not use."""
    return strength if start is None else 0.0


def _fill(
    weights: FloatArray, options: ParserOptions, problem: Problem, start: Model | None
) -> None:
    """Sets the initial weights, which are zeros: those of `start`, or noise for hidden clusters."""
    scorer = problem.scorer
    assert isinstance(scorer, LinearScorer)
    if start is not None:
        weights[:] = start.scorer.parameters()["weights"]
    elif problem.hidden:
        # Identical clusters would stay identical (Smith & Smith 2007, section 5.2).
        rows = weights[scorer.row_weights]
        np.random.default_rng(options.seed).standard_normal(out=rows)
        rows *= _NOISE
