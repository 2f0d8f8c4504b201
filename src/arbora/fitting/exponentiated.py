"""Exponentiated gradient on the dual, for max-margin and log-linear models.

Koo et al. (2007), figure 2, with their constants; Globerson et al. (2007) for the log-linear dual.
With C = 1 / regularization, the primal objective is C sum(loss) + ||w||^2 / 2. There is one dual
variable per arc of the treebank. Every step updates one sentence and then the weights.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arbora.fitting.dot import dot
from arbora.fitting.rules import Additive
from arbora.fitting.trainer import PassReport, Problem, State
from arbora.fitting.treebank import Tick, batches
from arbora.inference.engines import DecodedTrees
from arbora.inference.marginals import Marginals
from arbora.inference.tree_parts import tree_parts
from arbora.losses import cost_augmented, negative_log_likelihood
from arbora.scores import Scores
from arbora.scoring import Batch, LinearScorer, Parameters
from arbora.types import FloatArray

__all__ = ["ExponentiatedGradient"]

_BETA = 9.0  # initial dual variable of a gold arc
_EVALUATED_AT_ONCE = 64  # sentences per batch


class ExponentiatedGradient:
    """Updates the dual variables of each sentence; halves the step if the objective falls."""

    def __init__(
        self, problem: Problem, kind: Literal["maxmargin", "loglinear"], l2: float
    ) -> None:
        assert isinstance(problem.scorer, LinearScorer)
        self.problem, self.kind = problem, kind
        self.c = 1.0 / l2
        self.rate = 1.0 / self.c
        self.last_dual = -np.inf
        self._rule = Additive(problem.scorer)
        self._words = max(1, len(problem.treebank.heads))
        depth = problem.scorer.n_labels or 1
        sides = problem.treebank.encoded.n_words + 1
        self._first = np.concatenate([[0], np.cumsum(sides * sides * depth)])
        self._duals = np.empty(int(self._first[-1]))
        self._start()

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        """One step for the dual variables of every sentence, in the given order."""
        dual = 0.0
        for batch in batches(self.problem.treebank, order, 1, tick):
            dual += self._step(batch)
        weights = self._rule.weights
        dual = self.c * dual - 0.5 * float(dot(weights, weights))
        if dual < self.last_dual - 1e-10 * (1.0 + abs(self.last_dual)):  # more than rounding
            self.rate /= 2.0
        self.last_dual = dual
        loss = self._loss()
        primal = self.c * loss + 0.5 * float(dot(weights, weights))
        figures = {"primal": primal, "dual": dual, "gap": primal - dual, "rate": self.rate}
        return PassReport(loss / self._words, figures)

    def parameters(self) -> Parameters:
        """The current parameters for parsing, by name."""
        return self._rule.current()

    def state(self) -> State:
        """The contents of a checkpoint, by name."""
        return {
            "weights": self._rule.weights,
            "duals": self._duals,
            "counters": np.array([self.rate, self.last_dual]),
        }

    def restore(self, state: State) -> None:
        """Continues from a saved state."""
        self._rule.weights[:] = state["weights"]
        self._duals[:] = state["duals"]
        self.rate, self.last_dual = (float(x) for x in state["counters"])

    def _start(self) -> None:
        """Initial dual variables, beta on gold arcs, and the corresponding weights."""
        everything = np.arange(len(self.problem.treebank))
        for batch in batches(self.problem.treebank, everything, 1):
            scores, _ = self.problem.scorer.scores(batch)
            duals = np.where(np.isneginf(scores.arcs), -np.inf, 0.0)
            duals[self.problem.gold(batch).cells()] = _BETA
            self._duals_of(batch)[:] = duals
        for batch in batches(self.problem.treebank, everything, 1):
            scores, pullback = self.problem.scorer.scores(batch)
            gold = self.problem.gold(batch)
            expected = scores.with_values(np.array(self._infer(scores, batch).arcs))
            difference, _ = tree_parts(scores, gold.heads, gold.labels, amount=-1.0, into=expected)
            self._move(pullback(difference.scaled(self.c)))

    def _step(self, batch: Batch) -> float:
        """Updates a sentence's dual variables and the weights; its dual objective over C."""
        scores, pullback = self.problem.scorer.scores(batch)
        before = self._infer(scores, batch).arcs
        duals, right = self._duals_of(batch), self.problem.gold(batch).cells()
        allowed = ~np.isneginf(scores.arcs)
        if self.kind == "maxmargin":
            cost = np.ones_like(scores.arcs)
            cost[right] = 0.0
            duals[allowed] += self.rate * self.c * (cost + scores.arcs)[allowed]
        else:
            share = min(1.0, self.rate * self.c)
            duals[allowed] += share * (scores.arcs[allowed] - duals[allowed])
        after = self._infer(scores, batch)
        self._move(pullback(scores.with_values(self.c * (after.arcs - before))))
        if self.kind == "maxmargin":
            return float(dot(cost[allowed], after.arcs[allowed]))
        expected = float(dot(after.arcs[allowed], duals[allowed]))
        return float(after.log_partition[0]) - expected  # the entropy

    def _move(self, gradient: object) -> None:
        """w -= C sum(difference * features)."""
        self._rule.apply(gradient, 1)  # type: ignore[arg-type]  # a linear scorer's gradient

    def _loss(self) -> float:
        """The sum of the losses at the current weights."""
        total = 0.0
        everything = np.arange(len(self.problem.treebank))
        for batch in batches(self.problem.treebank, everything, _EVALUATED_AT_ONCE):
            scores, _ = self.problem.scorer.scores(batch)
            gold, engine = self.problem.gold(batch), self.problem.engine
            if self.kind == "loglinear":
                total += float(negative_log_likelihood(scores, gold, engine).values.sum())
                continue
            found: DecodedTrees = engine.decode(cost_augmented(scores, gold))
            total += float(found.scores.sum() - scores.arcs[gold.cells()].sum())
        return total

    def _duals_of(self, batch: Batch) -> FloatArray:
        sentence = int(batch.sentences[0])
        return self._duals[self._first[sentence] : self._first[sentence + 1]]

    def _infer(self, scores: Scores, batch: Batch) -> Marginals:
        """The distribution that the dual variables define."""
        return self.problem.engine.infer(scores.with_values(self._duals_of(batch)))
