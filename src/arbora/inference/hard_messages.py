"""Messages of belief propagation of which some are infinite: what must be on, or off.

Infinities do not take part in sums: how many of either kind a variable hears is counted beside the
sum of the others, so that any one message can be taken off again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arbora.errors import ConstraintError
from arbora.inference.factors import Factor, Variables
from arbora.types import FloatArray

__all__ = ["Heard", "log_partition_of", "messages_of", "pullback_of"]

# Factors that do not take infinities hear numbers so many times as large as all else.
_MUCH = 16.0


class Heard:
    """What variables hear from all factors, and what they tell each of them."""

    def __init__(
        self, scores: FloatArray, factors: Sequence[Factor], messages: Sequence[FloatArray]
    ) -> None:
        self._factors, self._messages = factors, messages
        self.finite = scores.copy()  # the score of each variable and all finite messages to it
        self._must: FloatArray | None = None  # how many say that it must be on, and off
        for factor, said in zip(factors, messages, strict=True):
            infinite = np.isinf(said)
            if not infinite.any():
                np.add.at(self.finite, factor.variables, said)
                continue
            if self._must is None:
                self._must = np.zeros((2, len(scores)))
            np.add.at(self.finite, factor.variables, np.where(infinite, 0.0, said))
            for state, value in enumerate((np.inf, -np.inf)):
                np.add.at(self._must[state], factor.variables, said == value)

    def totals(self) -> FloatArray:
        """The log-odds of every variable."""
        if self._must is None:
            return self.finite
        return _with_infinities(self.finite, self._must, np.arange(len(self.finite)))

    def finite_by(self, i: int) -> FloatArray:
        """What the variables of factor i tell it, infinities left out."""
        own = self._messages[i]
        return self.finite[self._factors[i].variables] - np.where(np.isinf(own), 0.0, own)

    def by(self, i: int) -> FloatArray:
        """What the variables of factor i tell it: all that they heard, except from it."""
        variables, own = self._factors[i].variables, self._messages[i]
        if self._must is None:
            return np.asarray(self.finite[variables] - own)
        others = self._must[:, variables] - [own == np.inf, own == -np.inf]
        return _with_infinities(self.finite_by(i), others, variables)


def _with_infinities(finite: FloatArray, must: FloatArray, variables: Variables) -> FloatArray:
    on, off = must > 0
    if (on & off).any():
        raise ConstraintError(
            f"the factors contradict each other: variable {int(variables[np.argmax(on & off)])} "
            "would have to be on and off at the same time."
        )
    return np.asarray(np.where(on, np.inf, np.where(off, -np.inf, finite)))


def _much(factor: Factor, incoming: FloatArray) -> float:
    """A number that is large next to a factor's scores and to what it hears."""
    known = (np.abs(values[np.isfinite(values)]).sum() for values in (incoming, factor.scores))
    return _MUCH * (64.0 + float(sum(known)))


def _takes(factor: Factor, incoming: FloatArray) -> bool:
    return getattr(factor, "takes_infinity", False) or not np.isinf(incoming).any()


def messages_of(factor: Factor, incoming: FloatArray) -> FloatArray:
    """What a factor says, infinite where it leaves no choice."""
    if not np.isinf(incoming).any():
        return factor.messages(incoming)
    if log_partition_of(factor, incoming) == -np.inf:
        raise ConstraintError(
            f"the factors contradict each other: what others say of variables "
            f"{list(map(int, factor.variables))} leaves no configuration of {factor}."
        )
    if _takes(factor, incoming):
        return factor.messages(incoming)
    much = _much(factor, incoming)
    said = np.asarray(factor.messages(np.clip(incoming, -much, much)))
    return np.where(np.abs(said) < much / 2, said, np.copysign(np.inf, said))


def log_partition_of(factor: Factor, incoming: FloatArray) -> float:
    """The logarithm of the sum of a factor's weights; variables that must be on weigh nothing."""
    if _takes(factor, incoming):
        return factor.log_partition(incoming)
    much = _much(factor, incoming)
    value = factor.log_partition(np.clip(incoming, -much, much))
    value -= much * np.count_nonzero(incoming == np.inf)
    return value if value > -much / 2 else -np.inf


def pullback_of(
    factor: Factor, incoming: FloatArray, d_messages: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """A factor's gradients; those by infinities are 0."""
    if _takes(factor, incoming):
        return factor.pullback(incoming, d_messages)
    much = _much(factor, incoming)
    d_incoming, d_scores = factor.pullback(np.clip(incoming, -much, much), d_messages)
    return np.where(np.isinf(incoming), 0.0, d_incoming), d_scores
