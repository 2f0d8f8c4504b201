"""Annealed risk: a loss whose temperature decreases during training."""

from __future__ import annotations

from arbora.inference.engines import FirstOrderEngine
from arbora.losses import BeliefLossValue, Gold, annealed_risk
from arbora.scores import Scores

__all__ = ["Annealing"]


class Annealing:
    """Annealed risk at temperatures that decrease linearly (Gormley et al. 2015, section 7.1).

    The first of `steps` steps has temperature `first`; the last and all later steps have `last`.
    The trainer counts its steps in `done` and saves the count in checkpoints.
    """

    def __init__(self, first: float, last: float, steps: int) -> None:
        self.first, self.last, self.steps = first, last, steps
        self.done = 0

    @property
    def temperature(self) -> float:
        """The temperature of the next step."""
        share = min(1.0, self.done / max(1, self.steps - 1))
        return (1.0 - share) * self.first + share * self.last

    def __call__(self, marginals: Scores, gold: Gold, engine: FirstOrderEngine) -> BeliefLossValue:
        return annealed_risk(marginals, gold, engine, self.temperature)
