"""What every learner is to the loop: something that makes passes and has weights to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from arbora.inference.packed import Packed
from arbora.losses import Gold
from arbora.scoring import ArcScorer
from arbora.scoring.linear import Weights
from arbora.training.treebank import Batch, Treebank
from arbora.types import FloatArray, Root, TreeClass

__all__ = ["ArcProblem", "PassReport", "State", "Tick", "Trainer", "batches"]

Tick = Callable[[int], None]  # told how many sentences were just seen
State = dict[str, NDArray[np.generic]]  # everything that a checkpoint has to hold


@dataclass(frozen=True)
class PassReport:
    """What a pass reports: the loss it saw per word, and figures of the learner's own."""

    loss: float
    figures: dict[str, float] = field(default_factory=dict)


class Trainer(Protocol):
    """Makes one pass after the other."""

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport: ...

    def parameters(self) -> FloatArray:
        """The weights to parse with, as of now."""
        ...

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


@dataclass(frozen=True)
class ArcProblem:
    """What is to be learnt: trees of a class over a treebank, scored by a linear scorer.

    `hidden` says that the scorer's outcomes are not annotated: they are summed over.
    """

    scorer: ArcScorer
    treebank: Treebank
    trees: TreeClass
    root: Root
    hidden: bool = False

    def distribution(self, scores: FloatArray, batch: Batch) -> Packed:
        return Packed(
            scores, batch.n_words, self.scorer.n_labels, self.trees, self.root, self.scorer.threads
        )

    def gold(self, batch: Batch) -> Gold:
        return batch.gold(self.scorer.n_labels, self.hidden)

    def scores(self, weights: Weights, batch: Batch, scale: float = 1.0) -> FloatArray:
        """Scores in training, where no gold arc is ever filtered."""
        return self.scorer.scores(
            weights, batch.encoded, batch.sentences, scale=scale, keep=batch.heads
        )


def batches(
    treebank: Treebank, order: NDArray[np.int64], size: int, tick: Tick | None = None
) -> Iterator[Batch]:
    """The sentences in the given order, `size` at a time; `tick` is told when one is done with."""
    for start in range(0, len(order), size):
        batch = treebank.batch(order[start : start + size])
        yield batch
        if tick is not None:
            tick(len(batch))
