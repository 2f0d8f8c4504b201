"""Update rules for scorers with dense parameters, for instance neural networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.fitting.dot import dot
from arbora.scoring import Parameters, Scorer

__all__ = ["DenseAdaGrad", "DenseAdam", "DenseGradient", "Schedule"]

Gradients = Mapping[str, NDArray[Any]]


class DenseGradient:
    """Gradient descent with a decreasing learning rate and L2 regularisation (Bottou 2010).

    Parameters are updated in place. `average` is the mean over all steps.
    """

    def __init__(self, scorer: Scorer, rate: float, regularization: float, total: int) -> None:
        self.parameters = scorer.parameters()
        self.rate, self.regularization, self.total = rate, regularization, total
        self.examples, self.steps = 0.0, 0.0
        self._sums = {name: np.zeros_like(values) for name, values in self.parameters.items()}

    def apply(self, gradient: Gradients, sentences: int) -> None:
        """One step, given gradients by parameter name and the number of sentences."""
        share = self.regularization * sentences / self.total
        for name, values in self.parameters.items():
            self._step(name, values, gradient[name] + share * values)
            self._sums[name] += values
        self.examples += sentences
        self.steps += 1.0

    def _step(self, name: str, values: NDArray[Any], gradient: NDArray[Any]) -> None:  # noqa: ARG002
        decay = self.rate * self.regularization / self.total * self.examples
        values -= self.rate / (1.0 + decay) * gradient

    def average(self) -> Parameters:
        """The mean of the parameters over all steps so far."""
        if self.steps == 0.0:
            return self.current()
        return {name: total / self.steps for name, total in self._sums.items()}

    def current(self) -> Parameters:
        """The parameters after the last step."""
        return {name: values.copy() for name, values in self.parameters.items()}

    def start_from(self, parameters: Gradients) -> None:
        """Starts from given parameters instead of the scorer's."""
        for name, values in self.parameters.items():
            values[...] = parameters[name]

    def continue_from(self, earlier: DenseGradient, parameters: Gradients) -> None:  # noqa: ARG002
        """Starts from the parameters of an earlier rule."""
        self.start_from(parameters)

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """The state that is needed to resume."""
        return {
            "counters": np.array([self.examples, self.steps]),
            **{f"parameter.{name}": values for name, values in self.parameters.items()},
            **{f"sum.{name}": values for name, values in self._sums.items()},
        }

    def restore(self, checkpoint: Gradients) -> None:
        """Continues from a checkpoint."""
        self.examples, self.steps = (float(value) for value in checkpoint["counters"])
        for name, values in self.parameters.items():
            values[...] = checkpoint[f"parameter.{name}"]
            self._sums[name][...] = checkpoint[f"sum.{name}"]


class DenseAdaGrad(DenseGradient):
    """AdaGrad (Duchi et al. 2011): every parameter has its own learning rate."""

    def __init__(
        self, scorer: Scorer, rate: float, regularization: float, total: int, delta: float
    ) -> None:
        super().__init__(scorer, rate, regularization, total)
        self.delta = delta
        self._squares = {name: np.zeros_like(values) for name, values in self.parameters.items()}

    def _step(self, name: str, values: NDArray[Any], gradient: NDArray[Any]) -> None:
        self._squares[name] += gradient * gradient
        values -= self.rate * gradient / (self.delta + np.sqrt(self._squares[name]))

    def continue_from(self, earlier: DenseGradient, parameters: Gradients) -> None:
        """Keeps the squared gradients of the earlier rule."""
        super().continue_from(earlier, parameters)
        if isinstance(earlier, DenseAdaGrad):
            for name, values in self._squares.items():
                values[...] = earlier._squares[name]  # noqa: SLF001  # of the same class

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        squares = {f"square.{name}": values for name, values in self._squares.items()}
        return super().checkpoint() | squares

    def restore(self, checkpoint: Gradients) -> None:
        """Continues from a checkpoint."""
        super().restore(checkpoint)
        for name, values in self._squares.items():
            values[...] = checkpoint[f"square.{name}"]


@dataclass(frozen=True)
class Schedule:
    """The learning rate rises linearly to `rate`, and then falls linearly to 0.

    `steps` is the number of updates, of which `warm_up` is the share in which the rate rises.
    """

    rate: float
    steps: int
    warm_up: float

    def at(self, step: float) -> float:
        """The learning rate of an update, counted from 0."""
        rising = self.warm_up * self.steps
        if step < rising:
            return self.rate * (step + 1.0) / (rising + 1.0)
        left = (self.steps - step) / max(1.0, self.steps - rising)
        return self.rate * min(1.0, max(left, _LAST_SHARE))


_LAST_SHARE = 0.01  # of the learning rate, for passes beyond the plan
_FIRST, _SECOND, _DELTA = 0.9, 0.98, 1e-8
_MEMORY = 1000.0  # updates that the average remembers
_AT_ONCE = 1 << 15  # numbers that fit the processor's cache with all that belongs to them


class DenseAdam(DenseGradient):
    """Adam (Kingma & Ba 2015) with a schedule, clipped gradients and an exponential average.

    The gradient is that of the mean over a batch's sentences. `average` remembers about a thousand
    updates, and a tenth of them at the beginning. `shares` are factors of the learning rate of
    some parameters.
    """

    def __init__(
        self, scorer: Scorer, schedule: Schedule, total: int, clip: float,
        shares: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(scorer, schedule.rate, 0.0, total)
        self.schedule, self.clip, self.shares = schedule, clip, shares or {}
        self._means = {name: np.zeros_like(values) for name, values in self.parameters.items()}
        self._squares = {name: np.zeros_like(values) for name, values in self.parameters.items()}

    def apply(self, gradient: Gradients, sentences: int) -> None:
        """One step, given gradients by parameter name and the number of sentences."""
        flat = [values.reshape(-1) for values in gradient.values()]
        length = float(sum(dot(values, values) for values in flat)) ** 0.5 / sentences
        scale = min(1.0, self.clip / max(length, 1e-300)) / sentences
        self.steps += 1.0
        rate = self.schedule.at(self.steps - 1.0)
        rate *= (1.0 - _SECOND**self.steps) ** 0.5 / (1.0 - _FIRST**self.steps)
        memory = 1.0 - 1.0 / min(_MEMORY, max(1.0, self.steps / 10.0))
        for name, values in self.parameters.items():
            tables = (values, gradient[name], self._means[name], self._squares[name],
                      self._sums[name])  # fmt: skip
            rows = [table.reshape(-1) for table in tables]
            own = rate * self.shares.get(name, 1.0)
            for start in range(0, values.size, _AT_ONCE):
                pieces = [table[start : start + _AT_ONCE] for table in rows]
                _adam_step(pieces, scale, own, memory)
        self.examples += sentences

    def average(self) -> Parameters:
        """The exponential average of the parameters."""
        if self.steps == 0.0:
            return self.current()
        return {name: values.copy() for name, values in self._sums.items()}

    def continue_from(self, earlier: DenseGradient, parameters: Gradients) -> None:
        """Starts from given parameters, and the moments of the earlier rule."""
        super().continue_from(earlier, parameters)
        if isinstance(earlier, DenseAdam):
            for name in self.parameters:
                self._means[name][...] = earlier._means[name]  # noqa: SLF001  # of the same class
                self._squares[name][...] = earlier._squares[name]  # noqa: SLF001  # likewise

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        means = {f"mean.{name}": values for name, values in self._means.items()}
        squares = {f"square.{name}": values for name, values in self._squares.items()}
        return super().checkpoint() | means | squares

    def restore(self, checkpoint: Gradients) -> None:
        """Continues from a checkpoint."""
        super().restore(checkpoint)
        for name in self.parameters:
            self._means[name][...] = checkpoint[f"mean.{name}"]
            self._squares[name][...] = checkpoint[f"square.{name}"]


def _adam_step(pieces: list[NDArray[Any]], scale: float, rate: float, memory: float) -> None:
    """Changes all arrays in place; the gradient's room is used for what comes between."""
    values, gradient, mean, square, average = pieces
    gradient *= scale
    mean *= _FIRST
    mean += (1.0 - _FIRST) * gradient
    square *= _SECOND
    gradient *= gradient
    gradient *= 1.0 - _SECOND
    square += gradient
    np.sqrt(square, out=gradient)
    gradient += _DELTA
    np.divide(mean, gradient, out=gradient)
    gradient *= rate
    values -= gradient
    average *= memory
    average += (1.0 - memory) * values
