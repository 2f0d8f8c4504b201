"""Training of staged labels: a softmax for each word, on gold trees, with AdaGrad."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.fitting.rules import LinearRule
from arbora.fitting.trainer import PassReport, State
from arbora.fitting.treebank import Tick, Treebank, batches
from arbora.scoring import LabelScorer, Parameters, softmax

__all__ = ["LabelTrainer"]

_SMALLEST = 1e-3  # gradients below this are ignored


class LabelTrainer:
    """Trains the labels of a treebank's arcs."""

    def __init__(
        self, scorer: LabelScorer, treebank: Treebank, rule: LinearRule, batch_size: int
    ) -> None:
        self.scorer, self.treebank, self.rule, self.batch_size = scorer, treebank, rule, batch_size
        scorer.weights = rule.weights

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        """One pass over the sentences in the given order (indices, int64)."""
        loss = 0.0
        for batch in batches(self.treebank, order, self.batch_size, tick):
            scores = self.scorer.scores(batch.encoded, batch.sentences, batch.heads)
            known = np.flatnonzero((batch.heads >= 0) & (batch.labels >= 0))
            d_scores = softmax(scores)
            right = (known, batch.labels[known])
            loss -= float(np.log(np.maximum(d_scores[right], 1e-300)).sum())
            d_scores[right] -= 1.0
            d_scores[np.abs(d_scores) < _SMALLEST] = 0.0
            unknown = np.ones(len(d_scores), dtype=bool)
            unknown[known] = False
            d_scores[unknown] = 0.0
            gradient = self.scorer.pullback(batch.encoded, batch.sentences, batch.heads, d_scores)
            self.rule.apply(gradient, len(batch))
        return PassReport(loss / max(1, len(self.treebank.heads)))

    def parameters(self) -> Parameters:
        """The current parameters for parsing, by name."""
        return self.rule.average()

    def state(self) -> State:
        """The contents of a checkpoint, by name."""
        return self.rule.checkpoint()

    def restore(self, state: State) -> None:
        """Continues from a saved state."""
        self.rule.restore(state)
