"""Update rules: how parameters change with a gradient, their averages and checkpoints.

Rules for linear scorers update one table of weights with sparse gradients. Rules for other scorers
(`fitting/dense_rules.py`) update dense arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from arbora._core import learning as kernels
from arbora.scoring import Gradient, LabelScorer, LinearScorer, Parameters
from arbora.types import FloatArray

__all__ = ["AdaGrad", "Additive", "LinearRule", "StochasticGradient", "UpdateRule"]


class UpdateRule(Protocol):
    """Updates a scorer's parameters in place."""

    def apply(self, gradient: Any, sentences: int) -> None:
        """One step down the gradient of a loss summed over some sentences."""
        ...

    def average(self) -> Parameters:
        """The mean of the parameters over all steps so far."""
        ...

    def current(self) -> Parameters:
        """The parameters after the last step."""
        ...

    def start_from(self, parameters: Mapping[str, NDArray[Any]]) -> None:
        """Starts from given parameters instead of the scorer's."""
        ...

    def continue_from(self, earlier: Any, parameters: Mapping[str, NDArray[Any]]) -> None:
        """Starts from the parameters of an earlier rule of the same kind."""
        ...

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Everything that a later run needs to continue."""
        ...

    def restore(self, checkpoint: Mapping[str, NDArray[Any]]) -> None:
        """Continues from a checkpoint."""
        ...


class LinearRule(ABC):
    """Rules for one table of weights, which is shared with the scorer."""

    counters: ClassVar[tuple[str, ...]] = ()  # attributes that change with every step

    def __init__(self, scorer: LinearScorer | LabelScorer) -> None:
        self.weights: FloatArray = np.zeros(scorer.size)
        self.state: FloatArray = np.zeros(
            3 * scorer.size
        )  # per weight: sum, sum of squared gradients, last step
        self.threads = scorer.threads
        self._scorer = scorer
        scorer.weights = self.weights
        if isinstance(scorer, LinearScorer):
            scorer.scale = 1.0  # an earlier rule may have changed it

    @abstractmethod
    def apply(self, gradient: Gradient, sentences: int) -> None:
        """One step down the gradient of a loss summed over some sentences."""
        ...

    @abstractmethod
    def _average(self) -> FloatArray: ...

    @abstractmethod
    def _current(self) -> FloatArray: ...

    def average(self) -> Parameters:
        """The mean of the weights over all steps so far."""
        return {"weights": self._average()}

    def current(self) -> Parameters:
        """The weights after the last step."""
        return {"weights": self._current()}

    def start_from(self, parameters: Mapping[str, NDArray[Any]]) -> None:
        """Starts from given weights instead of the scorer's."""
        self.weights[:] = parameters["weights"]

    def continue_from(self, earlier: LinearRule, parameters: Mapping[str, NDArray[Any]]) -> None:
        """Keeps the squared gradients of the earlier rule and restarts the average.

        Without them, AdaGrad would begin with full steps and undo the training so far.
        """
        self.start_from(parameters)
        self.state[1::3] = earlier.state[1::3]

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Everything that a later run needs to continue."""
        counters = np.array([getattr(self, name) for name in self.counters], dtype=np.float64)
        return {"weights": self.weights, "state": self.state, "counters": counters}

    def restore(self, checkpoint: Mapping[str, NDArray[Any]]) -> None:
        """Continues from a checkpoint."""
        self.weights[:] = checkpoint["weights"]
        self.state[:] = checkpoint["state"]
        for name, value in zip(self.counters, checkpoint["counters"], strict=True):
            setattr(self, name, float(value))

    def _mean(self, total: float) -> FloatArray:
        return self.state[0::3] / total if total > 0.0 else self.weights.copy()


class Additive(LinearRule):
    """w -= rate * gradient; the average is over examples (perceptron, MIRA)."""

    counters = ("examples",)

    def __init__(self, scorer: LinearScorer | LabelScorer, rate: float = 1.0) -> None:
        super().__init__(scorer)
        self.rate = rate
        self.examples = 0.0

    def apply(self, gradient: Gradient, sentences: int) -> None:
        """One step down the gradient of a loss summed over some sentences."""
        kernels.additive_update(
            gradient, self.weights, self.state, self.rate, self.examples, self.threads
        )
        self.examples += sentences

    def _average(self) -> FloatArray:
        kernels.additive_flush(self.weights, self.state, self.examples, self.threads)
        return self._mean(self.examples)

    def _current(self) -> FloatArray:
        return self.weights.copy()


class StochasticGradient(LinearRule):
    """Stochastic gradient descent on sum of losses + regularization/2 ||w||^2.

    After t of `total` sentences, the learning rate is rate / (1 + rate * regularization/total * t)
    (Bottou 2010). Weights are stored as scale * value, so that decay is one multiplication.
    """

    counters = ("rate", "examples", "factor", "factors")
    _SMALLEST_SCALE = 1e-9

    def __init__(
        self, scorer: LinearScorer, rate: float, regularization: float, total: int
    ) -> None:
        super().__init__(scorer)
        self.rate, self.decay = rate, regularization / total
        self.examples = 0.0
        self.factor = 1.0
        self.factors = 0.0  # sum of the scales of all steps, weighted by their sentences

    def apply(self, gradient: Gradient, sentences: int) -> None:
        """One step down the gradient of a loss summed over some sentences."""
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
        self._set_scale()

    def restore(self, checkpoint: Mapping[str, NDArray[Any]]) -> None:
        """Continues from a checkpoint."""
        super().restore(checkpoint)
        self._set_scale()

    def _average(self) -> FloatArray:
        self._flush()
        return self._mean(self.examples)

    def _current(self) -> FloatArray:
        return self.weights * self.factor

    def _set_scale(self) -> None:
        assert isinstance(self._scorer, LinearScorer)
        self._scorer.scale = self.factor

    def _flush(self) -> None:
        kernels.additive_flush(self.weights, self.state, self.factors, self.threads)


class AdaGrad(LinearRule):
    """AdaGrad with composite mirror descent on sum of losses + regularization/2 ||w||^2.

    A step uses the summed gradient of a batch, and the regulariser times the batch's share of all
    sentences. Gormley et al. (2015, Eq. 8) divide both by the number of sentences, which gives the
    same steps, because AdaGrad is invariant to the scale of the objective. Decay is lazy: weights
    that a batch does not use decay when they are next used, or when `average` or `current` reads
    them. Until then, sentences are scored with the weights before decay.
    """

    counters = ("rate", "step", "_decay")

    def __init__(
        self,
        scorer: LinearScorer | LabelScorer,
        rate: float,
        regularization: float,
        total: int,
        delta: float,
    ) -> None:
        super().__init__(scorer)
        self.rate, self.delta, self.l2, self.total = rate, delta, regularization, total
        self.step = 0.0
        self._decay = 0.0

    def apply(self, gradient: Gradient, sentences: int) -> None:
        """One step down the gradient of a loss summed over some sentences."""
        self.step += 1.0
        # The last batch of a pass may be smaller, but has the decay of a full batch: lazy decay
        # must be the same in every step.
        self._decay = self._decay or self.l2 * sentences / self.total
        kernels.adagrad_update(
            gradient, self.weights, self.state, self.rate, self.delta, self._decay, self.step,
            self.threads,
        )  # fmt: skip

    def _average(self) -> FloatArray:
        self._flush()
        return self._mean(self.step)

    def _current(self) -> FloatArray:
        self._flush()
        return self.weights.copy()

    def _flush(self) -> None:
        kernels.adagrad_flush(
            self.weights, self.state, self.rate, self.delta, self._decay, self.step, self.threads
        )
