"""Exponentiated gradient on the dual, for max-margin and log-linear models.

Koo et al. (2007), figure 2, with their constants; Globerson et al. (2007) for the log-linear dual.
With C = 1 / regularization, the primal objective is C sum(loss) + ||w||^2 / 2. There is one dual
variable per kept arc of the treebank and one per part: a tree's probability under the dual
distribution is proportional to exp(sum of the dual variables of its arcs and parts), so exact
second-order models are learnt in the same way (Koo et al. 2007, section 5). The cost of a tree is
its number of wrong arcs in any order. Every step updates one sentence and then the weights.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arbora.fitting.dot import dot
from arbora.fitting.rules import Additive
from arbora.fitting.trainer import PassReport, Problem, State
from arbora.fitting.treebank import Tick, batches
from arbora.inference.engines import DecodedTrees, ExactEngine
from arbora.inference.tree_parts import tree_parts
from arbora.losses import cost_augmented, negative_log_likelihood
from arbora.scores import Scores
from arbora.scoring import Batch, LinearScorer, Parameters
from arbora.types import FloatArray

__all__ = ["ExponentiatedGradient"]

# The initial dual variable of a gold arc. All others are 0, also those of gold parts: the initial
# distribution is that of the first-order model, in which every wrong arc costs beta once. With beta
# on parts as well, a wrong arc would cost several times as much and take as many passes to return.
_BETA = 9.0
_EVALUATED_AT_ONCE = 64  # sentences per batch


class ExponentiatedGradient:
    """Updates the dual variables of each sentence; halves the step if the objective falls."""

    def __init__(
        self,
        problem: Problem,
        kind: Literal["maxmargin", "loglinear"],
        l2: float,
        engine: ExactEngine | None = None,
    ) -> None:
        assert isinstance(problem.scorer, LinearScorer)
        self.problem, self.kind = problem, kind
        self.engine: ExactEngine = problem.engine if engine is None else engine
        self.c = 1.0 / l2
        self.rate = 1.0 / self.c
        self.last_dual = -np.inf
        self._rule = Additive(problem.scorer)
        self._words = max(1, len(problem.treebank.heads))
        self._duals: list[FloatArray] = []  # for each sentence, of its kept arcs and its parts
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
            "duals": np.concatenate([np.empty(0), *self._duals]),
            "counters": np.array([self.rate, self.last_dual]),
        }

    def restore(self, state: State) -> None:
        """Continues from a saved state."""
        self._rule.weights[:] = state["weights"]
        ends = np.cumsum([len(duals) for duals in self._duals])
        self._duals = np.split(state["duals"], ends[:-1]) if self._duals else []
        self.rate, self.last_dual = (float(x) for x in state["counters"])

    def duals(self, batch: Batch, scores: Scores) -> Scores:
        """The dual variables of a batch of one sentence, in the shape of its scores."""
        return _Kept(scores).scores(self._duals[int(batch.sentences[0])])

    def _start(self) -> None:
        """Initial dual variables, beta on gold arcs, and the corresponding weights."""
        for batch in batches(self.problem.treebank, self._everything(), 1):
            scores, _ = self.problem.scorer.scores(batch)
            duals = scores.zeros()
            duals.arcs[self.problem.gold(batch).cells()] = _BETA
            self._duals.append(_Kept(scores).vector(duals))
        for batch in batches(self.problem.treebank, self._everything(), 1):
            scores, pullback = self.problem.scorer.scores(batch)
            gold = self.problem.gold(batch)
            expected = self.engine.infer(self.duals(batch, scores)).marginals
            difference, _ = tree_parts(
                scores, gold.heads, gold.labels, amount=-1.0, into=expected.scaled(1.0)
            )
            self._move(pullback(difference.scaled(self.c)))

    def _step(self, batch: Batch) -> float:
        """Updates a sentence's dual variables and the weights; its dual objective over C."""
        scores, pullback = self.problem.scorer.scores(batch)
        kept, sentence = _Kept(scores), int(batch.sentences[0])
        own, theta = kept.vector(scores), self._duals[sentence]
        cost = kept.vector(cost_augmented(scores.zeros(), self.problem.gold(batch)))
        if self.kind == "maxmargin":
            updated = theta + self.rate * self.c * (cost + own)
        else:
            updated = theta + min(1.0, self.rate * self.c) * (own - theta)
        before = self.engine.infer(kept.scores(theta)).marginals
        found = self.engine.infer(kept.scores(updated))
        after, self._duals[sentence] = found.marginals, updated
        self._move(pullback((after + before.scaled(-1.0)).scaled(self.c)))
        if self.kind == "maxmargin":
            return float(dot(cost, kept.vector(after)))
        return float(found.log_partition[0] - dot(updated, kept.vector(after)))  # the entropy

    def _move(self, gradient: object) -> None:
        """w -= C sum(difference * features)."""
        self._rule.apply(gradient, 1)  # type: ignore[arg-type]  # a linear scorer's gradient

    def _loss(self) -> float:
        """The sum of the losses at the current weights."""
        total = 0.0
        for batch in batches(self.problem.treebank, self._everything(), _EVALUATED_AT_ONCE):
            scores, _ = self.problem.scorer.scores(batch)
            gold = self.problem.gold(batch)
            if self.kind == "loglinear":
                total += float(negative_log_likelihood(scores, gold, self.engine).values.sum())
                continue
            found: DecodedTrees = self.engine.decode(cost_augmented(scores, gold))
            _, right = tree_parts(scores, gold.heads, gold.labels, threads=self.problem.threads)
            total += float(found.scores.sum() - right.sum())
        return total

    def _everything(self) -> NDArray[np.int64]:
        return np.arange(len(self.problem.treebank))


class _Kept:
    """The allowed arcs and the parts of a sentence as one vector, without forbidden arcs."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._allowed = ~np.isneginf(scores.arcs)

    def vector(self, values: Scores) -> FloatArray:
        """Numbers of arcs and parts as a vector."""
        tables = [values.tables[kind] for kind in self._scores.kinds]
        return np.concatenate([values.arcs[self._allowed], *tables])

    def scores(self, vector: FloatArray) -> Scores:
        """A vector in the shape of the scores, with -inf for forbidden arcs."""
        arcs, start = np.full(len(self._allowed), -np.inf), int(self._allowed.sum())
        arcs[self._allowed] = vector[:start]
        tables = {}
        for kind in self._scores.kinds:
            end = start + len(self._scores.tables[kind])
            tables[kind], start = vector[start:end], end
        return self._scores.with_values(arcs, tables)
