"""Belief propagation on any factor graph over binary variables, and gradients through it.

For graphs with user-defined factors. `LoopyTrees`, which is compiled as a whole, is faster for
sentences with parts.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arbora._core.inference import LARGEST_SCORE
from arbora.errors import ArgumentError, ScoreError, ShapeError
from arbora.inference.arguments import as_count, as_real
from arbora.inference.factors import Factor
from arbora.inference.hard_messages import Incoming, log_partition_of, messages_of, pullback_of
from arbora.inference.packed import read_only
from arbora.inference.packed_loopy import checked_damping
from arbora.types import FloatArray

__all__ = ["FactorGraph", "GraphGradient"]

Messages = list[FloatArray]
_INTERFACE = ("variables", "scores", "log_partition", "messages", "pullback")


class GraphGradient(NamedTuple):
    """The gradient by the score of every variable, and by every score of every factor."""

    scores: FloatArray
    factors: list[FloatArray]


class FactorGraph:
    """Binary variables, each with a score for being on, and factors over some of them.

    All messages are log-odds and start at 0. An iteration goes through the groups of `schedule`.
    The factors of a group send their messages in parallel, computed from all earlier messages.

    Constraints are hard: a message that a variable must be on, or off, is infinite, and no score
    outweighs it. Factors that contradict each other raise a `ConstraintError` as soon as their
    messages do.

    Parameters
    ----------
    scores
        The score of every variable for being on.
    factors
        Each scores or forbids configurations of its variables; see `arbora.inference.factors`.
    iterations
        The number of iterations.
    damping
        The share of the old message in the new one, from the second iteration on.
    schedule
        "serial" updates one factor after the other, "parallel" all at once; or groups of factor
        numbers that contain each factor once.
    """

    def __init__(
        self,
        scores: ArrayLike,
        factors: Sequence[Factor],
        iterations: int = 4,
        damping: float = 0.0,
        schedule: Literal["serial", "parallel"] | Sequence[Sequence[int]] = "serial",
    ) -> None:
        self.scores = _as_scores(scores)
        self.factors = _as_factors(factors, len(self.scores))
        self.iterations = as_count(iterations, "iterations")
        self.damping = checked_damping(damping)
        self._groups = _groups(schedule, len(self.factors))
        self._tape: list[Messages] = []  # the messages before every group's update
        self._run()

    def _run(self) -> None:
        messages: Messages = [np.zeros(len(factor.variables)) for factor in self.factors]
        residuals = np.zeros(self.iterations)
        for iteration in range(self.iterations):
            share = self._share(iteration)
            for group in self._groups:
                self._tape.append(messages)
                incoming = Incoming(self.scores, self.factors, messages)
                fresh = list(messages)
                for i in group:
                    old, sent = messages[i], messages_of(self.factors[i], incoming.to(i))
                    changed = sent != old  # the difference of equal infinities is NaN
                    change = np.abs(sent[changed] - old[changed]).max(initial=0.0)
                    residuals[iteration] = max(residuals[iteration], change)
                    fresh[i] = sent if share == 0.0 else (1 - share) * sent + share * old
                messages = fresh
        self._messages = messages
        self._beliefs = _sigmoid(Incoming(self.scores, self.factors, messages).totals())
        self.residuals = read_only(residuals)  # the largest change of a message, by iteration

    def _share(self, iteration: int) -> float:
        return self.damping if iteration > 0 else 0.0  # there are no old messages at first

    @property
    def beliefs(self) -> FloatArray:
        """The approximate probability that each variable is on (Gormley et al. 2015, Eq. 6)."""
        return read_only(self._beliefs)

    @property
    def log_partition(self) -> float:
        """The Bethe approximation of log Z; exact on graphs without cycles that have converged."""
        messages = Incoming(self.scores, self.factors, self._messages)
        totals, degrees = messages.totals(), np.zeros(len(self.scores))
        answer = 0.0
        for i, factor in enumerate(self.factors):
            np.add.at(degrees, factor.variables, 1.0)
            incoming = messages.to(i)
            answer += log_partition_of(factor, incoming)
            # log_partition_of leaves out variables that must be on: add their finite log-odds.
            answer += float(messages.finite_to(i)[incoming == np.inf].sum())
        of_variables = np.where(totals == np.inf, messages.finite, np.logaddexp(0.0, totals))
        return answer - float(np.sum((degrees - 1.0) * of_variables))

    def vjp(self, d_beliefs: ArrayLike) -> GraphGradient:
        """The gradient of sum(d_beliefs * beliefs): backpropagation through all iterations."""
        given = as_real(d_beliefs, "d_beliefs").astype(np.float64)
        if given.shape != self.scores.shape or not np.isfinite(given).all():
            raise ShapeError(f"d_beliefs must be {len(self.scores)} finite numbers.")
        b = self.beliefs
        d_totals = given * b * (1.0 - b)
        d_scores = d_totals.copy()
        d_messages = [d_totals[factor.variables] for factor in self.factors]
        d_factors = [np.zeros(len(factor.scores)) for factor in self.factors]
        update = len(self._tape)
        for iteration in reversed(range(self.iterations)):
            for group in reversed(self._groups):
                update -= 1
                self._pull_back(update, iteration, group, d_messages, d_factors, d_scores)
        return GraphGradient(read_only(d_scores), [read_only(d) for d in d_factors])

    def _pull_back(
        self, update: int, iteration: int, group: Sequence[int],
        d_messages: Messages, d_factors: Messages, d_scores: FloatArray,
    ) -> None:  # fmt: skip
        """Turns gradients by the messages after a group's update into those before it."""
        before, share = self._tape[update], self._share(iteration)
        messages = Incoming(self.scores, self.factors, before)
        after = self._tape[update + 1] if update + 1 < len(self._tape) else self._messages
        d_totals = np.zeros(len(self.scores))
        for i in group:
            factor, incoming = self.factors[i], messages.to(i)
            d_message = np.where(np.isinf(after[i]), 0.0, d_messages[i])
            d_in, d_own = pullback_of(factor, incoming, (1 - share) * d_message)
            d_factors[i] += d_own
            d_messages[i] = share * d_message - d_in
            np.add.at(d_totals, factor.variables, d_in)
        d_scores += d_totals
        for i, factor in enumerate(self.factors):
            d_messages[i] = d_messages[i] + d_totals[factor.variables]

    def __repr__(self) -> str:
        return f"FactorGraph({len(self.scores)} variables, {len(self.factors)} factors)"


def _sigmoid(x: FloatArray) -> FloatArray:
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, small) / (1.0 + small))


def _as_scores(scores: ArrayLike) -> FloatArray:
    array = as_real(scores, "scores").astype(np.float64)
    if array.ndim != 1 or not len(array):
        raise ShapeError(f"scores must have one number per variable, not shape {array.shape}.")
    sane = np.abs(array) <= LARGEST_SCORE
    if not sane.all():
        raise ScoreError(
            f"the score of variable {int(np.argmin(sane))} is {array[~sane][0]}: scores of "
            f"variables are numbers up to {LARGEST_SCORE:g} in magnitude; leave out variables that "
            "cannot be on."
        )
    return read_only(array)


def _as_factors(factors: Sequence[Factor], n_variables: int) -> list[Factor]:
    if not isinstance(factors, Sequence):
        raise ArgumentError(f"factors must be a list of factors, not {type(factors).__name__}.")
    for i, factor in enumerate(factors):
        missing = [name for name in _INTERFACE if not hasattr(factor, name)]
        if missing:
            raise ArgumentError(
                f"factor {i}, of type {type(factor).__name__}, has no {missing[0]}: see Factor."
            )
        beyond = [int(v) for v in factor.variables if not 0 <= v < n_variables]
        if beyond:
            raise ArgumentError(
                f"factor {i} has variable {beyond[0]}, but variables are 0 to {n_variables - 1}."
            )
    return list(factors)


def _groups(schedule: str | Sequence[Sequence[int]], count: int) -> list[list[int]]:
    if isinstance(schedule, str):
        if schedule == "serial":
            return [[i] for i in range(count)]
        if schedule == "parallel":
            return [list(range(count))]
        raise ArgumentError(
            f'schedule must be "serial", "parallel" or groups of factors, not {schedule!r}.'
        )
    try:
        groups = [[operator.index(i) for i in group] for group in schedule]
    except TypeError:
        raise ArgumentError("the groups of schedule must be lists of factor numbers.") from None
    if sorted(i for group in groups for i in group) != list(range(count)):
        raise ArgumentError(
            f"the groups of schedule must contain each factor, 0 to {count - 1}, once."
        )
    return groups
