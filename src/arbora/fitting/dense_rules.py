"""Update rules for scorers with dense parameters, for instance neural networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.scoring import Parameters, Scorer

__all__ = ["DenseAdaGrad", "DenseGradient"]

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
