"""What every learner is to the loop: something that makes passes and has parameters to show."""

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

State = dict[str, NDArray[Any]]  # everything that a checkpoint has to hold


@dataclass(frozen=True)
class PassReport:
    """What a pass reports: the loss it saw per word, and figures of the learner's own."""

    loss: float
    figures: dict[str, float] = field(default_factory=dict)


class Trainer(Protocol):
    """Makes one pass after the other."""

    def run_pass(self, order: NDArray[np.int64], tick: Tick) -> PassReport:
        """One pass over the sentences in the given order (their numbers, int64)."""
        ...

    def parameters(self) -> Parameters:
        """The parameters to parse with, as of now, by name."""
        ...

    def state(self) -> State:
        """Everything that a checkpoint has to hold, by name."""
        ...

    def restore(self, state: State) -> None:
        """Continues from a state that `state` gave."""
        ...


@dataclass(frozen=True)
class Problem:
    """What is learnt: the trees of a treebank, as a scorer sees them.

    `engine` is first-order inference over the class of trees that is learnt. `hidden` says that the
    scorer's outcomes are not annotated: they are summed over.
    """

    scorer: Scorer
    treebank: Treebank
    engine: FirstOrderEngine
    hidden: bool = False

    @property
    def threads(self) -> int:
        """How many threads inference uses."""
        return self.engine.threads

    def gold(self, batch: Batch) -> Gold:
        """The annotation of a batch, in the shape that losses take."""
        return gold_of(batch, self.scorer.n_labels, self.hidden)
