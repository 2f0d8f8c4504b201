"""Maximum likelihood with SciPy's full-batch optimisers, L-BFGS and conjugate gradient.

They run in chunks, one per pass, on the weights that occur in the treebank.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from arbora._core import learning as kernels
from arbora.fitting.dot import dot
from arbora.fitting.trainer import PassReport, Problem, State
from arbora.fitting.treebank import Tick, batches
from arbora.inference.engines import ExactEngine
from arbora.losses import negative_log_likelihood
from arbora.scoring import LinearScorer, Parameters
from arbora.types import FloatArray

__all__ = ["BatchTrainer"]

_AT_ONCE = 64  # sentences per gradient computation, summed in a fixed order
_CHUNK = 10  # optimiser steps per pass


class BatchTrainer:
    """Minimises the sum of losses + regularization/2 ||w||^2, with exact sums of any order."""

    def __init__(
        self,
        problem: Problem,
        optimizer: Literal["lbfgs", "cg"],
        l2: float,
        engine: ExactEngine | None = None,
    ) -> None:
        assert isinstance(problem.scorer, LinearScorer)
        self.problem, self.optimizer, self.l2 = problem, optimizer, l2
        self.engine: ExactEngine = problem.engine if engine is None else engine
        self._weights = np.zeros(problem.scorer.size)
        problem.scorer.weights, problem.scorer.scale = self._weights, 1.0
        self._touched = self._find_touched()  # all other weights stay constant
        self._values = np.zeros(len(self._touched))

    def start_from(self, weights: NDArray[Any], *, keep_others: bool) -> None:
        """Starts from given weights; weights outside the treebank are kept, or set to zero."""
        self._values[:] = weights[self._touched]
        if keep_others:
            self._weights[:] = weights

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:  # noqa: ARG002
        """A few optimiser steps; the order of the sentences has no effect."""
        evaluated = 0

        def objective(values: FloatArray) -> tuple[float, FloatArray]:
            nonlocal evaluated
            evaluated += 1
            return self._objective(values)

        method = {"lbfgs": "L-BFGS-B", "cg": "CG"}[self.optimizer]
        limits = {"maxiter": _CHUNK, "gtol": 1e-8}
        answer = minimize(objective, self._values, jac=True, method=method, options=limits)
        self._values = np.asarray(answer.x)
        tick(len(self.problem.treebank))
        penalty = 0.5 * self.l2 * float(dot(self._values, self._values))
        words = max(1, len(self.problem.treebank.heads))
        figures = {"objective": float(answer.fun), "evaluations": float(evaluated)}
        return PassReport((float(answer.fun) - penalty) / words, figures)

    def parameters(self) -> Parameters:
        """The current parameters for parsing, by name."""
        weights = self._weights.copy()
        weights[self._touched] = self._values
        return {"weights": weights}

    def state(self) -> State:
        """The contents of a checkpoint, by name."""
        return {"values": self._values}

    def restore(self, state: State) -> None:
        """Continues from a saved state."""
        self._values = np.array(state["values"], dtype=np.float64)

    def _objective(self, values: FloatArray) -> tuple[float, FloatArray]:
        self._weights[self._touched] = values
        total, gradient = 0.0, np.zeros_like(self._weights)
        problem = self.problem
        for batch in batches(problem.treebank, np.arange(len(problem.treebank)), _AT_ONCE):
            scores, pullback = problem.scorer.scores(batch)
            loss = negative_log_likelihood(scores, problem.gold(batch), self.engine)
            total += float(loss.values.sum())
            kernels.add_gradient(pullback(loss.d_scores), gradient, problem.threads)
        penalty = 0.5 * self.l2 * float(dot(values, values))
        return total + penalty, gradient[self._touched] + self.l2 * values

    def _find_touched(self) -> NDArray[np.int64]:
        count, problem = np.zeros_like(self._weights), self.problem
        for batch in batches(problem.treebank, np.arange(len(problem.treebank)), _AT_ONCE):
            scores, pullback = problem.scorer.scores(batch)
            ones = scores.with_values(
                np.where(np.isneginf(scores.arcs), 0.0, 1.0),
                {kind: np.ones(len(table)) for kind, table in scores.tables.items()},
            )
            kernels.add_gradient(pullback(ones), count, problem.threads)
        return np.flatnonzero(count)
