"""Online learning: look at a mini-batch, change the weights, go on.

Mini-batches have a fixed size, and every weight adds up its changes in sentence order, so the
result does not depend on the number of threads. With `batch_size=1` this is the textbook learner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from arbora.inference.packed import Packed
from arbora.losses import (
    BeliefLoss,
    Gold,
    Loss,
    loss_of_arcs,
    negative_log_likelihood,
    perceptron_loss,
)
from arbora.scoring import Gradient
from arbora.training.annealing import Annealing
from arbora.training.rules import Rule
from arbora.training.trainer import ArcProblem, PassReport, State, Tick, batches
from arbora.training.treebank import Batch, Treebank
from arbora.types import FloatArray

__all__ = [
    "Objective",
    "OnlineTrainer",
    "SteppingTrainer",
    "belief_objective",
    "likelihood_objective",
    "perceptron_objective",
]

Objective = Callable[[Batch, Packed, Gold], Loss]


class _Scorer(Protocol):
    @property
    def size(self) -> int: ...


class _Problem(Protocol):
    """What every problem has: a treebank, and a scorer whose weights are learnt."""

    @property
    def scorer(self) -> _Scorer: ...
    @property
    def treebank(self) -> Treebank: ...


SomeProblem = TypeVar("SomeProblem", bound=_Problem)
SomeObjective = TypeVar("SomeObjective")


class SteppingTrainer(ABC, Generic[SomeProblem, SomeObjective]):
    """Passes over a treebank with a rule for each mini-batch's gradient.

    Where the loss has a temperature, `annealing` is told of every step. `word_dropout` hides words
    from the features, others in every pass: new sentences will have words that were never seen.
    """

    def __init__(
        self,
        problem: SomeProblem,
        objective: SomeObjective,
        rule: Rule,
        *,
        batch_size: int,
        averaged: bool,
        annealing: Annealing | None = None,
        word_dropout: float = 0.0,
    ) -> None:
        self.problem, self.objective = problem, objective
        self.treebank, self.rule, self.annealing = problem.treebank, rule, annealing
        self.word_dropout = word_dropout
        self.batch_size, self.averaged = batch_size, averaged
        self.gradient = Gradient(problem.scorer.size)

    @abstractmethod
    def look_at(self, batch: Batch) -> float:
        """The loss of a batch; makes `gradient` that of its weights."""

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        loss, treebank = 0.0, self.treebank
        if self.word_dropout > 0.0:
            # Each pass has an order of its own, so passes differ, and a resumed one is the same.
            treebank = treebank.hiding_words(self.word_dropout, crc32(order.tobytes()))
        for batch in batches(treebank, order, self.batch_size, tick):
            loss += self.look_at(batch)
            self.rule.apply(self.gradient, len(batch))
            if self.annealing is not None:
                self.annealing.done += 1
        figures = {} if self.annealing is None else {"temperature": self.annealing.temperature}
        return PassReport(loss / max(1, len(self.treebank.heads)), figures)

    def parameters(self) -> FloatArray:
        return self.rule.average() if self.averaged else self.rule.current()

    def state(self) -> State:
        state: State = {**self.rule.checkpoint()}
        if self.annealing is not None:
            state["annealing"] = np.array([self.annealing.done])
        return state

    def restore(self, state: State) -> None:
        self.rule.restore(state)
        if self.annealing is not None:
            self.annealing.done = int(state["annealing"][0])


class OnlineTrainer(SteppingTrainer[ArcProblem, Objective]):
    """Learns scores of arcs."""

    def look_at(self, batch: Batch) -> float:
        problem = self.problem
        scores = problem.scores(self.rule.weights, batch, self.rule.scale)
        answer = self.objective(batch, problem.distribution(scores, batch), problem.gold(batch))
        problem.scorer.expand(self.gradient, batch.encoded, batch.sentences, answer.d_scores)
        return float(answer.values.sum())


def perceptron_objective(batch: Batch, trees: Packed, gold: Gold) -> Loss:  # noqa: ARG001
    return perceptron_loss(trees, gold)


def likelihood_objective(smallest: float) -> Objective:
    """The likelihood, without the arcs whose gradients are smaller than `smallest`.

    Most arcs of a trained model are nearly impossible; leaving them alone changes each weight's
    gradient by less than that much per arc and spares most of the work. Of an arc with several
    outcomes all are kept or none.
    """

    def objective(batch: Batch, trees: Packed, gold: Gold) -> Loss:  # noqa: ARG001
        return _without_tiny(negative_log_likelihood(trees, gold), gold.n_labels, smallest)

    return objective


def belief_objective(loss: BeliefLoss, smallest: float) -> Objective:
    """A loss of the marginals, with the same arcs left alone."""

    def objective(batch: Batch, trees: Packed, gold: Gold) -> Loss:  # noqa: ARG001
        return _without_tiny(loss_of_arcs(trees, gold, loss), gold.n_labels, smallest)

    return objective


def _without_tiny(loss: Loss, depth: int, smallest: float) -> Loss:
    of_arcs = loss.d_scores.reshape(-1, depth)
    of_arcs[np.abs(of_arcs).sum(axis=1) < smallest] = 0.0
    return loss
