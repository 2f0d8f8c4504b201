"""Online learning: look at a mini-batch, change the weights, go on.

Mini-batches have a fixed size, and every weight adds up its changes in sentence order, so the
result does not depend on the number of threads. With `batch_size=1` this is the textbook learner.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from arbora.inference.packed import Packed
from arbora.losses import Gold, Loss, negative_log_likelihood, perceptron_loss
from arbora.scoring import Gradient
from arbora.training.rules import Rule
from arbora.training.trainer import ArcProblem, PassReport, State, Tick, batches
from arbora.training.treebank import Batch
from arbora.types import FloatArray

__all__ = ["Objective", "OnlineTrainer", "likelihood_objective", "perceptron_objective"]

Objective = Callable[[Batch, Packed, Gold], Loss]


class OnlineTrainer:
    """Passes over a treebank with a rule for each mini-batch's gradient."""

    def __init__(
        self,
        problem: ArcProblem,
        objective: Objective,
        rule: Rule,
        *,
        batch_size: int,
        averaged: bool,
    ) -> None:
        self.problem, self.objective, self.rule = problem, objective, rule
        self.batch_size, self.averaged = batch_size, averaged
        self._gradient = Gradient(problem.scorer.size)

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        problem, loss = self.problem, 0.0
        for batch in batches(problem.treebank, order, self.batch_size, tick):
            scores = problem.scores(self.rule.weights, batch, self.rule.scale)
            answer = self.objective(batch, problem.distribution(scores, batch), problem.gold(batch))
            problem.scorer.expand(self._gradient, batch.encoded, batch.sentences, answer.d_scores)
            self.rule.apply(self._gradient, len(batch))
            loss += float(answer.values.sum())
        return PassReport(loss / max(1, len(problem.treebank.heads)))

    def parameters(self) -> FloatArray:
        return self.rule.average() if self.averaged else self.rule.current()

    def state(self) -> State:
        return self.rule.checkpoint()

    def restore(self, state: State) -> None:
        self.rule.restore(state)


def perceptron_objective(batch: Batch, trees: Packed, gold: Gold) -> Loss:  # noqa: ARG001
    return perceptron_loss(trees, gold)


def likelihood_objective(smallest: float) -> Objective:
    """The likelihood, without the arcs whose gradients are smaller than `smallest`.

    Most arcs of a trained model are nearly impossible; leaving them alone changes each weight's
    gradient by less than that much per arc and spares most of the work. Of an arc with several
    outcomes all are kept or none.
    """

    def objective(batch: Batch, trees: Packed, gold: Gold) -> Loss:  # noqa: ARG001
        loss = negative_log_likelihood(trees, gold)
        of_arcs = loss.d_scores.reshape(-1, gold.n_labels)
        of_arcs[np.abs(of_arcs).sum(axis=1) < smallest] = 0.0
        return loss

    return objective
