"""The trainer of a phase: its first weights, and its learning rate, given or searched for."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from arbora.fitting.learners import make_trainer
from arbora.fitting.online import OnlineTrainer
from arbora.fitting.phases import learning_rate, with_rate
from arbora.fitting.rate_search import best_rate
from arbora.fitting.trainer import Problem, Trainer
from arbora.models.model import Model
from arbora.options import ParserOptions, SgdOptions
from arbora.scoring import LinearScorer

__all__ = ["phase_trainer", "rate_of"]


def phase_trainer(
    options: ParserOptions,
    problem: Problem,
    model: Model,
    start: Model | None,
    earlier: Trainer | None,
    found: float | None = None,
) -> Trainer:
    """The trainer of a phase; later phases start from the model's weights.

    `earlier` is the trainer of the phase before. `found` is a rate that was found before an
    interruption, and is not searched for again.
    """
    scorer, initial = problem.scorer, dict[str, NDArray[Any]]()
    if not isinstance(scorer, LinearScorer):
        initial = {name: values.copy() for name, values in scorer.parameters().items()}

    def trainer_at(rate: float | None) -> Trainer:
        for name, values in initial.items():  # a trainer with another rate has changed it
            scorer.parameters()[name][...] = values
        trainer = make_trainer(with_rate(options, rate), problem, start)
        if isinstance(trainer, OnlineTrainer) and isinstance(earlier, OnlineTrainer):
            trainer.rule.continue_from(earlier.rule, model.scorer.parameters())
        return trainer

    rate = learning_rate(options)
    if rate != "auto":
        return trainer_at(rate)
    if found is not None:
        return trainer_at(found)
    optimizer = getattr(options.learner, "optimizer", None)
    first = 0.02 if isinstance(optimizer, SgdOptions) else 0.05
    return trainer_at(best_rate(trainer_at, len(problem.treebank), first, options.seed))


def rate_of(trainer: Trainer, options: ParserOptions) -> float | None:
    """The learning rate of a trainer, if its learner has one."""
    rate = getattr(getattr(trainer, "rule", None), "rate", None)
    return None if rate is None or learning_rate(options) is None else float(rate)
