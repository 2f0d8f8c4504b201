"""Messages of belief propagation that may be infinite: the variable must be on, or off.

Infinite messages are counted, separately for on and off; only finite messages are summed. So any
single message can be subtracted again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arbora.errors import ConstraintError
from arbora.inference.factors import Factor, Variables
from arbora.types import FloatArray

__all__ = ["Incoming", "log_partition_of", "messages_of", "pullback_of"]

# Factors that do not take infinities get numbers this many times as large as all others.
_MUCH = 16.0


class Incoming:
    """Sums of the messages to variables, and from these the messages to factors."""

    def __init__(
        self, scores: FloatArray, factors: Sequence[Factor], messages: Sequence[FloatArray]
    ) -> None:
        self._factors, self._messages = factors, messages
        self.finite = scores.copy()  # the score of each variable and all finite messages to it
        self._must: FloatArray | None = None  # how many messages require on, and off
        for factor, sent in zip(factors, messages, strict=True):
            infinite = np.isinf(sent)
            if not infinite.any():
                np.add.at(self.finite, factor.variables, sent)
                continue
            if self._must is None:
                self._must = np.zeros((2, len(scores)))
            np.add.at(self.finite, factor.variables, np.where(infinite, 0.0, sent))
            for state, value in enumerate((np.inf, -np.inf)):
                np.add.at(self._must[state], factor.variables, sent == value)

    def totals(self) -> FloatArray:
        """The log-odds of every variable."""
        if self._must is None:
            return self.finite
        return _with_infinities(self.finite, self._must, np.arange(len(self.finite)))

    def finite_to(self, i: int) -> FloatArray:
        """The messages to factor i without infinite terms."""
        own = self._messages[i]
        return self.finite[self._factors[i].variables] - np.where(np.isinf(own), 0.0, own)

    def to(self, i: int) -> FloatArray:
        """The messages to factor i: each variable's log-odds without the factor's own message."""
        variables, own = self._factors[i].variables, self._messages[i]
        if self._must is None:
            return np.asarray(self.finite[variables] - own)
        others = self._must[:, variables] - [own == np.inf, own == -np.inf]
        return _with_infinities(self.finite_to(i), others, variables)


def _with_infinities(finite: FloatArray, must: FloatArray, variables: Variables) -> FloatArray:
    on, off = must > 0
    if (on & off).any():
        raise ConstraintError(
            f"the factors contradict each other: variable {int(variables[np.argmax(on & off)])} "
            "would have to be on and off at the same time."
        )
    return np.asarray(np.where(on, np.inf, np.where(off, -np.inf, finite)))


def _much(factor: Factor, incoming: FloatArray) -> float:
    """A number that is large compared with a factor's scores and incoming messages."""
    known = (np.abs(values[np.isfinite(values)]).sum() for values in (incoming, factor.scores))
    return _MUCH * (64.0 + float(sum(known)))


def _takes(factor: Factor, incoming: FloatArray) -> bool:
    return getattr(factor, "takes_infinity", False) or not np.isinf(incoming).any()


def messages_of(factor: Factor, incoming: FloatArray) -> FloatArray:
    """A factor's outgoing messages; infinite where it determines a variable."""
    if not np.isinf(incoming).any():
        return factor.messages(incoming)
    if log_partition_of(factor, incoming) == -np.inf:
        raise ConstraintError(
            f"the factors contradict each other: the messages to variables "
            f"{list(map(int, factor.variables))} leave no configuration of {factor}."
        )
    if _takes(factor, incoming):
        return factor.messages(incoming)
    much = _much(factor, incoming)
    sent = np.asarray(factor.messages(np.clip(incoming, -much, much)))
    return np.where(np.abs(sent) < much / 2, sent, np.copysign(np.inf, sent))


def log_partition_of(factor: Factor, incoming: FloatArray) -> float:
    """A factor's log-partition; the log-odds of variables that must be on are left out."""
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
