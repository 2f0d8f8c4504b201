"""Online learning: look at a mini-batch, change the parameters, repeat.

Mini-batches have a fixed size, and every weight adds up its changes in sentence order, so the
result does not depend on the number of threads. With `batch_size=1` this is the textbook learner.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from arbora.fitting.annealing import Annealing
from arbora.fitting.objectives import Objective
from arbora.fitting.rules import UpdateRule
from arbora.fitting.trainer import PassReport, Problem, State
from arbora.fitting.treebank import Tick, batches
from arbora.scoring import Parameters

__all__ = ["OnlineTrainer"]


class OnlineTrainer:
    """Passes over a treebank with a rule for each mini-batch's gradient.

    If the loss has a temperature, `annealing` is told of every step. `word_dropout` hides words
    from the features, others in every pass: new sentences will have words that were never seen.
    """

    def __init__(
        self,
        problem: Problem,
        objective: Objective,
        rule: UpdateRule,
        *,
        batch_size: int,
        averaged: bool,
        annealing: Annealing | None = None,
        word_dropout: float = 0.0,
    ) -> None:
        self.problem, self.objective, self.rule = problem, objective, rule
        self.annealing, self.word_dropout = annealing, word_dropout
        self.batch_size, self.averaged = batch_size, averaged

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        """Scores, loss, pullback, update, batch by batch, in the given order."""
        problem, treebank, loss = self.problem, self.problem.treebank, 0.0
        if self.word_dropout > 0.0:
            # Each pass has an order of its own, so passes differ, and a resumed one is the same.
            treebank = treebank.hiding_words(self.word_dropout, crc32(order.tobytes()))
        for batch in batches(treebank, order, self.batch_size, tick):
            scores, pullback = problem.scorer.scores(batch)
            found = self.objective(batch, scores, problem.gold(batch))
            self.rule.apply(pullback(found.d_scores), len(batch))
            loss += float(found.values.sum())
            if self.annealing is not None:
                self.annealing.done += 1
        figures = {} if self.annealing is None else {"temperature": self.annealing.temperature}
        return PassReport(loss / max(1, len(treebank.heads)), figures)

    def parameters(self) -> Parameters:
        """The parameters to parse with, as of now, by name."""
        return self.rule.average() if self.averaged else self.rule.current()

    def state(self) -> State:
        """Everything that a checkpoint has to hold, by name."""
        state: State = {**self.rule.checkpoint()}
        if self.annealing is not None:
            state["annealing"] = np.array([self.annealing.done])
        return state

    def restore(self, state: State) -> None:
        """Continues from a state that `state` gave."""
        self.rule.restore(state)
        if self.annealing is not None:
            self.annealing.done = int(state["annealing"][0])
