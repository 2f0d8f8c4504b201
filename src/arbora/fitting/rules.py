"""What a gradient does to the weights; each rule knows its weights, their average, its state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from arbora._core import learning as kernels
from arbora.scoring import Gradient
from arbora.types import FloatArray

__all__ = ["AdaGrad", "Additive", "Rule", "StochasticGradient"]


class Rule(ABC):
    """Weights of a linear model and how a step changes them; steps touch what they need to only."""

    def __init__(self, size: int, threads: int) -> None:
        self.weights: FloatArray = np.zeros(size)
        self.state: FloatArray = np.zeros(3 * size)  # sum, squares, seen of each weight
        self.threads = threads

    @property
    def scale(self) -> float:
        """What the weights are to be multiplied by."""
        return 1.0

    @abstractmethod
    def apply(self, gradient: Gradient, sentences: int) -> None:
        """One step down the gradient of a loss summed over so many sentences."""

    @abstractmethod
    def average(self) -> FloatArray:
        """The mean of the weights over all steps so far."""

    @abstractmethod
    def current(self) -> FloatArray:
        """The weights after the last step."""

    def start_from(self, weights: NDArray[Any]) -> None:
        """Begins at given weights instead of zero."""
        self.weights[:] = weights

    def go_on(self, earlier: Rule, weights: NDArray[Any]) -> None:
        """Begins at weights that another rule of the same kind has learnt.

        Its squared gradients stay: without them AdaGrad would begin with full steps everywhere and
        undo what was learnt. The average begins anew.
        """
        self.start_from(weights)
        self.state[1::3] = earlier.state[1::3]

    counters: ClassVar[tuple[str, ...]] = ()  # the attributes that change from step to step

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Everything that a later run needs to go on."""
        counters = np.array([getattr(self, name) for name in self.counters], dtype=np.float64)
        return {"weights": self.weights, "state": self.state, "counters": counters}

    def restore(self, checkpoint: dict[str, NDArray[Any]]) -> None:
        self.weights[:] = checkpoint["weights"]
        self.state[:] = checkpoint["state"]
        for name, value in zip(self.counters, checkpoint["counters"], strict=True):
            setattr(self, name, float(value))

    def _mean(self, total: float) -> FloatArray:
        return self.state[0::3] / total if total > 0.0 else self.weights.copy()


class Additive(Rule):
    """w -= rate * gradient; the average is over examples (perceptron, MIRA)."""

    counters = ("examples",)

    def __init__(self, size: int, threads: int, rate: float = 1.0) -> None:
        super().__init__(size, threads)
        self.rate = rate
        self.examples = 0.0

    def apply(self, gradient: Gradient, sentences: int) -> None:
        kernels.additive_update(
            gradient, self.weights, self.state, self.rate, self.examples, self.threads
        )
        self.examples += sentences

    def average(self) -> FloatArray:
        kernels.additive_flush(self.weights, self.state, self.examples, self.threads)
        return self._mean(self.examples)

    def current(self) -> FloatArray:
        return self.weights.copy()


class StochasticGradient(Rule):
    """Stochastic gradient descent on sum of losses + l2/2 ||w||^2, over `total` sentences.

    The rate falls as rate / (1 + rate * l2/total * t), t counting sentences (Bottou 2010). Weights
    are kept as scale * value, so that decay is one multiplication.
    """

    counters = ("rate", "examples", "factor", "factors")
    _SMALLEST_SCALE = 1e-9

    def __init__(self, size: int, threads: int, rate: float, l2: float, total: int) -> None:
        super().__init__(size, threads)
        self.rate, self.decay = rate, l2 / total
        self.examples = 0.0
        self.factor = 1.0
        self.factors = 0.0  # sum of the scales of all steps, weighted by their sentences

    @property
    def scale(self) -> float:
        return self.factor

    def apply(self, gradient: Gradient, sentences: int) -> None:
        rate = self.rate / (1.0 + self.rate * self.decay * self.examples)
        factor = self.factor * (1.0 - min(0.9, rate * self.decay * sentences))
        kernels.additive_update(
            gradient, self.weights, self.state, rate / factor, self.factors, self.threads
        )
        self.factor = factor
        self.factors += factor * sentences
        self.examples += sentences
        if factor < self._SMALLEST_SCALE:
            self._flush()
            self.weights *= self.factor
            self.factor = 1.0

    def average(self) -> FloatArray:
        self._flush()
        return self._mean(self.examples)

    def current(self) -> FloatArray:
        return self.weights * self.factor

    def _flush(self) -> None:
        kernels.additive_flush(self.weights, self.state, self.factors, self.threads)


class AdaGrad(Rule):
    """AdaGrad with composite mirror descent on sum of losses + l2/2 ||w||^2.

    A step takes the sum of a batch's gradients, and l2 times the batch's share of all sentences. It
    is the step of Gormley et al. (2015, Eq. 8), who divide losses and regulariser by the number of
    sentences: AdaGrad does not see the scale of what it minimises. Weights that a batch does not
    touch decay as if they had been visited; the decay is made up for when they are next touched,
    or looked at (`average`, `current`). Until then sentences are scored with what they were.
    """

    counters = ("rate", "step", "_decay")

    def __init__(
        self, size: int, threads: int, rate: float, l2: float, total: int, delta: float
    ) -> None:
        super().__init__(size, threads)
        self.rate, self.delta, self.l2, self.total = rate, delta, l2, total
        self.step = 0.0
        self._decay = 0.0

    def apply(self, gradient: Gradient, sentences: int) -> None:
        self.step += 1.0
        # The last batch of a pass may be smaller; its decay is that of a full one, so that decay
        # is the same in all steps that a weight may have missed.
        self._decay = self._decay or self.l2 * sentences / self.total
        kernels.adagrad_update(
            gradient, self.weights, self.state, self.rate, self.delta, self._decay, self.step,
            self.threads,
        )  # fmt: skip

    def average(self) -> FloatArray:
        self._flush()
        return self._mean(self.step)

    def current(self) -> FloatArray:
        self._flush()
        return self.weights.copy()

    def _flush(self) -> None:
        kernels.adagrad_flush(
            self.weights, self.state, self.rate, self.delta, self._decay, self.step, self.threads
        )
