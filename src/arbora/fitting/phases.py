"""Phases of learners with several losses, and their learning rates."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Literal

from arbora.options import L2Options, L2RiskOptions, ParserOptions, RiskOptions

__all__ = ["learning_rate", "phases_of", "with_rate"]

_RISK_SHARE = 0.1  # learning-rate factor of risk after L2: full steps would undo the training
_LOWEST_RATE = 1e-9

Rate = float | Literal["auto"] | None


def phases_of(options: ParserOptions) -> list[ParserOptions]:
    """The options of each phase; each starts from the best weights of the previous one."""
    learner = options.learner
    if not isinstance(learner, L2RiskOptions):
        return [options]
    shared = {name: getattr(learner, name) for name in ("optimizer", "projectivise")}
    first = options.with_values(learner=L2Options(**shared))
    own = {each.name: getattr(learner, each.name) for each in fields(RiskOptions)}
    second = options.with_values(learner=RiskOptions(**own))
    rate = learning_rate(options)
    if isinstance(rate, int | float):
        second = with_rate(second, max(rate * _RISK_SHARE, _LOWEST_RATE))
    return [first, second]


def learning_rate(options: ParserOptions) -> Rate:
    """The learning rate, if the learner has one."""
    return getattr(getattr(options.learner, "optimizer", None), "rate", None)


def with_rate(options: ParserOptions, rate: Rate) -> ParserOptions:
    """The options with another learning rate, if the learner has one."""
    learner = options.learner
    optimizer = getattr(learner, "optimizer", None)
    if rate is None or not hasattr(optimizer, "rate"):
        return options
    changed = replace(optimizer, rate=rate)  # type: ignore[type-var]  # it has a rate
    return options.with_values(learner=replace(learner, optimizer=changed))  # type: ignore[arg-type]
