"""Learners with several losses, one after the other, and learning rates that are changed."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Literal

from arbora.options import L2Options, L2RiskOptions, ParserOptions, RiskOptions

__all__ = ["learning_rate", "phases_of", "with_rate"]

_RISK_SHARE = 0.1  # of the rate, where risk continues from L2: full steps undo what is there
_LOWEST_RATE = 1e-9

Rate = float | Literal["auto"] | None


def phases_of(options: ParserOptions) -> list[ParserOptions]:
    """What is learnt one after the other, each starting where the one before was best."""
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
    """The rate of learners that have one."""
    return getattr(getattr(options.learner, "optimizer", None), "rate", None)


def with_rate(options: ParserOptions, rate: Rate) -> ParserOptions:
    """The same learner with another rate, if it has one."""
    learner = options.learner
    optimizer = getattr(learner, "optimizer", None)
    if rate is None or not hasattr(optimizer, "rate"):
        return options
    changed = replace(optimizer, rate=rate)  # type: ignore[type-var]  # it has a rate
    return options.with_values(learner=replace(learner, optimizer=changed))  # type: ignore[arg-type]
