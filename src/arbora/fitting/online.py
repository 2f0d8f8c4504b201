"""Online learning: an update after each mini-batch.

Mini-batches have a fixed size, and updates are summed in sentence order, so the result does not
depend on the number of threads. With `batch_size=1` this is the textbook online learner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from arbora.fitting.annealing import Annealing
from arbora.fitting.objectives import Objective
from arbora.fitting.rules import UpdateRule
from arbora.fitting.trainer import PassReport, Problem, State
from arbora.fitting.treebank import Tick, Treebank, batches, by_length
from arbora.scoring import Batch, LinearScorer, Parameters

__all__ = ["OnlineTrainer"]


class OnlineTrainer:
    """Applies an update rule to the gradient of each mini-batch.

    If the loss has a temperature, `annealing` counts the steps. `word_dropout` hides different
    words from the features in each pass, to prepare for unknown words in new sentences.
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
        """Scores, loss, pullback and update for each batch, in the given order."""
        problem, treebank, loss = self.problem, self.problem.treebank, 0.0
        if self.word_dropout > 0.0:
            # Derived from the order, which differs between passes and is the same when resuming.
            treebank = treebank.hiding_words(self.word_dropout, crc32(order.tobytes()))
        for batch in self._batches(treebank, order, tick):
            scores, pullback = problem.scorer.scores(batch)
            found = self.objective(batch, scores, problem.gold(batch))
            self.rule.apply(pullback(found.d_scores), len(batch))
            loss += float(found.values.sum())
            if self.annealing is not None:
                self.annealing.done += 1
        figures = {} if self.annealing is None else self.annealing.figures
        return PassReport(loss / max(1, len(treebank.heads)), figures)

    def _batches(self, treebank: Treebank, order: NDArray[np.int64], tick: Tick) -> Iterator[Batch]:
        """Mini-batches; those of dense scorers have sentences of similar lengths, and noise."""
        if isinstance(self.problem.scorer, LinearScorer):
            yield from batches(treebank, order, self.batch_size, tick)
            return
        buckets = by_length(treebank.encoded.n_words, order, self.batch_size)
        seed = crc32(order.tobytes())
        for number, sentences in enumerate(buckets):
            yield replace(treebank.batch(sentences), noise=(seed << 20) + (number << 6))
            tick(len(sentences))

    def parameters(self) -> Parameters:
        """The current parameters for parsing, by name."""
        return self.rule.average() if self.averaged else self.rule.current()

    def state(self) -> State:
        """The contents of a checkpoint, by name."""
        state: State = {**self.rule.checkpoint()}
        if self.annealing is not None:
            state["annealing"] = np.array([self.annealing.done])
        return state

    def restore(self, state: State) -> None:
        """Continues from a saved state."""
        self.rule.restore(state)
        if self.annealing is not None:
            self.annealing.done = int(state["annealing"][0])
