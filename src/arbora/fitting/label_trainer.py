"""The labeller: given a tree, the label of each arc, with the tree around it as context.

A softmax for each word, learnt on gold trees by AdaGrad whatever the learner of the trees is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.scoring import Gradient, LabelScorer
from arbora.training.rules import Rule
from arbora.training.trainer import PassReport, State, Tick, batches
from arbora.training.treebank import Treebank
from arbora.types import FloatArray

__all__ = ["LabelTrainer", "softmax"]

_SMALLEST = 1e-3  # parts of the gradient below this are left alone


def softmax(scores: FloatArray) -> FloatArray:
    """Probabilities from the scores of a row."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class LabelTrainer:
    """Learns the labels of a treebank's arcs."""

    def __init__(
        self, scorer: LabelScorer, treebank: Treebank, rule: Rule, batch_size: int
    ) -> None:
        self.scorer, self.treebank, self.rule, self.batch_size = scorer, treebank, rule, batch_size
        self._gradient = Gradient(scorer.size)

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        loss = 0.0
        for batch in batches(self.treebank, order, self.batch_size, tick):
            scores = self.scorer.scores(
                self.rule.weights, batch.encoded, batch.sentences, batch.heads
            )
            known = np.flatnonzero((batch.heads >= 0) & (batch.labels >= 0))
            d_scores = softmax(scores)
            right = (known, batch.labels[known])
            loss -= float(np.log(np.maximum(d_scores[right], 1e-300)).sum())
            d_scores[right] -= 1.0
            d_scores[np.abs(d_scores) < _SMALLEST] = 0.0
            unknown = np.ones(len(d_scores), dtype=bool)
            unknown[known] = False
            d_scores[unknown] = 0.0
            self.scorer.expand(
                self._gradient, batch.encoded, batch.sentences, batch.heads, d_scores
            )
            self.rule.apply(self._gradient, len(batch))
        return PassReport(loss / max(1, len(self.treebank.heads)))

    def parameters(self) -> FloatArray:
        return self.rule.average()

    def state(self) -> State:
        return self.rule.checkpoint()

    def restore(self, state: State) -> None:
        self.rule.restore(state)
