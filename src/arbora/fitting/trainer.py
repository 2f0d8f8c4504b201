"""The interface between the training loop and learners."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arbora.fitting.treebank import Tick, Treebank, gold_of
from arbora.inference.engines import FirstOrderEngine
from arbora.losses import Gold
from arbora.scoring import Batch, Parameters, Scorer

__all__ = ["PassReport", "Problem", "State", "Trainer"]

State = dict[str, NDArray[Any]]  # the contents of a checkpoint


@dataclass(frozen=True)
class PassReport:
    """The report of a pass: its loss per word, and figures of the learner."""

    loss: float
    figures: dict[str, float] = field(default_factory=dict)


class Trainer(Protocol):
    """A learner that makes passes over a treebank."""

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        """One pass over the sentences in the given order (indices, int64)."""
        ...

    def parameters(self) -> Parameters:
        """The current parameters for parsing, by name."""
        ...

    def state(self) -> State:
        """The contents of a checkpoint, by name."""
        ...

    def restore(self, state: State) -> None:
        """Continues from a saved state."""
        ...


@dataclass(frozen=True)
class Problem:
    """A learning problem: a treebank, a scorer and an engine.

    `engine` is first-order inference over the class of trees that is learnt. If `hidden`, the
    scorer's outcomes are not annotated and are summed over.
    """

    scorer: Scorer
    treebank: Treebank
    engine: FirstOrderEngine
    hidden: bool = False

    @property
    def threads(self) -> int:
        """The number of threads of inference."""
        return self.engine.threads

    def gold(self, batch: Batch) -> Gold:
        """The annotation of a batch, in the shape that losses expect."""
        return gold_of(batch, self.scorer.n_labels, self.hidden)
