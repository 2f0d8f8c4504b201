"""Exponentiated gradient on the dual, for max-margin and log-linear models.

Koo et al. (2007), figure 2, with their constants; Globerson et al. (2007) for the log-linear dual.
With C = 1 / l2 the primal is C sum(loss) + ||w||^2 / 2; duals are one number per arc of the
treebank; every step looks at one sentence, and the weights follow it at once.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arbora.inference.packed import Packed
from arbora.losses import cost_augmented, negative_log_likelihood
from arbora.losses.margin import chosen_cells
from arbora.scoring import Gradient
from arbora.training.dot import dot
from arbora.training.rules import Additive
from arbora.training.trainer import ArcProblem, PassReport, State, Tick, batches
from arbora.training.treebank import Batch
from arbora.types import FloatArray

__all__ = ["ExponentiatedGradient"]

_BETA = 9.0  # initial dual of a gold arc
_EVALUATED_AT_ONCE = 64  # sentences, where the weights do not change


class ExponentiatedGradient:
    """One pass over the examples' duals; halves the step when the dual objective falls."""

    def __init__(
        self, problem: ArcProblem, kind: Literal["maxmargin", "loglinear"], l2: float
    ) -> None:
        self.problem, self.kind = problem, kind
        self.c = 1.0 / l2
        self.rate = 1.0 / self.c
        self.last_dual = -np.inf
        self._rule = Additive(problem.scorer.size, problem.scorer.threads)
        self._gradient = Gradient(problem.scorer.size)
        self._words = max(1, len(problem.treebank.heads))
        depth = problem.scorer.n_labels or 1
        sides = problem.treebank.encoded.n_words + 1
        self._first = np.concatenate([[0], np.cumsum(sides * sides * depth)])
        self._duals = np.empty(int(self._first[-1]))
        self._start()

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        dual = 0.0
        for batch in batches(self.problem.treebank, order, 1, tick):
            dual += self._step(batch)
        weights = self._rule.weights
        dual = self.c * dual - 0.5 * float(dot(weights, weights))
        if dual < self.last_dual - 1e-10 * (1.0 + abs(self.last_dual)):  # not for rounding
            self.rate /= 2.0
        self.last_dual = dual
        loss = self._loss()
        primal = self.c * loss + 0.5 * float(dot(weights, weights))
        figures = {"primal": primal, "dual": dual, "gap": primal - dual, "rate": self.rate}
        return PassReport(loss / self._words, figures)

    def parameters(self) -> FloatArray:
        return self._rule.weights.copy()

    def state(self) -> State:
        return {
            "weights": self._rule.weights,
            "duals": self._duals,
            "counters": np.array([self.rate, self.last_dual]),
        }

    def restore(self, state: State) -> None:
        self._rule.weights[:] = state["weights"]
        self._duals[:] = state["duals"]
        self.rate, self.last_dual = (float(x) for x in state["counters"])

    def _start(self) -> None:
        """Duals of beta on gold arcs, and the weights that go with them."""
        everything = np.arange(len(self.problem.treebank))
        for batch in batches(self.problem.treebank, everything, 1):
            scores = self.problem.scores(self._rule.weights, batch)
            duals = np.where(np.isneginf(scores), -np.inf, 0.0)
            right = self.problem.gold(batch).cells()
            duals[right] = _BETA
            self._duals_of(batch)[:] = duals
        for batch in batches(self.problem.treebank, everything, 1):
            marginals = self._distribution(batch).sums(marginals=True).marginals
            truth = self.problem.gold(batch)
            self._move(batch, marginals - truth.layout.indicator(truth.cells(), truth.n_labels))

    def _step(self, batch: Batch) -> float:
        """Updates one sentence's duals and the weights; its part of the dual objective over C."""
        scores = self.problem.scores(self._rule.weights, batch)
        before = self._distribution(batch).sums(marginals=True).marginals
        duals, right = self._duals_of(batch), self.problem.gold(batch).cells()
        allowed = ~np.isneginf(scores)
        if self.kind == "maxmargin":
            cost = np.ones_like(scores)
            cost[right] = 0.0
            duals[allowed] += self.rate * self.c * (cost + scores)[allowed]
        else:
            share = min(1.0, self.rate * self.c)
            duals[allowed] += share * (scores[allowed] - duals[allowed])
        after = self._distribution(batch).sums(marginals=True)
        self._move(batch, after.marginals - before)
        if self.kind == "maxmargin":
            return float(dot(cost[allowed], after.marginals[allowed]))
        expected = float(dot(after.marginals[allowed], duals[allowed]))
        return float(after.log_partition[0]) - expected  # the entropy

    def _move(self, batch: Batch, difference: FloatArray) -> None:
        """w -= C sum(difference * features)."""
        self.problem.scorer.expand(
            self._gradient, batch.encoded, batch.sentences, self.c * difference
        )
        self._rule.apply(self._gradient, len(batch))

    def _loss(self) -> float:
        """The sum of the losses under the weights as they are now."""
        total = 0.0
        everything = np.arange(len(self.problem.treebank))
        for batch in batches(self.problem.treebank, everything, _EVALUATED_AT_ONCE):
            scores = self.problem.scores(self._rule.weights, batch)
            trees, gold = self.problem.distribution(scores, batch), self.problem.gold(batch)
            if self.kind == "loglinear":
                total += float(negative_log_likelihood(trees, gold).values.sum())
                continue
            right = gold.cells()
            augmented = cost_augmented(scores, right)
            chosen = chosen_cells(trees.with_scores(augmented), gold)
            total += float(augmented[chosen].sum() - scores[right].sum())
        return total

    def _duals_of(self, batch: Batch) -> FloatArray:
        sentence = int(batch.sentences[0])
        return self._duals[self._first[sentence] : self._first[sentence + 1]]

    def _distribution(self, batch: Batch) -> Packed:
        return self.problem.distribution(self._duals_of(batch), batch)
