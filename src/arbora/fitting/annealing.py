"""Annealed risk: a loss whose temperature decreases during training."""

from __future__ import annotations

from arbora.inference.engines import FirstOrderEngine
from arbora.losses import BeliefLossValue, Gold, annealed_risk, l2_distance, mixed_loss
from arbora.options import AnnealingName
from arbora.scores import Scores

__all__ = ["Annealing"]


class Annealing:
    """Annealed risk at decreasing temperatures (Gormley et al. 2015, section 7.1).

    The first of `steps` steps has temperature `first`; the last and all later steps have `last`.
    Between them the temperature falls linearly, as in the paper, or its logarithm does, as in the
    code that the authors released. That code also begins with the L2 loss and moves to the risk:
    `l2_share` is the share of L2 in the first step, and falls linearly to 0. The trainer counts its
    steps in `done` and saves the count in checkpoints.
    """

    def __init__(
        self,
        first: float,
        last: float,
        steps: int,
        scale: AnnealingName = "linear",
        l2_share: float = 0.0,
    ) -> None:
        self.first, self.last, self.steps = first, last, steps
        self.scale: AnnealingName = scale
        self.first_l2_share = l2_share
        self.done = 0

    @property
    def progress(self) -> float:
        """0 before the first step, 1 before the last one and later."""
        return min(1.0, self.done / max(1, self.steps - 1))

    @property
    def temperature(self) -> float:
        """The temperature of the next step."""
        share = self.progress
        if self.scale == "log":
            return float(self.first ** (1.0 - share) * self.last**share)
        return (1.0 - share) * self.first + share * self.last

    @property
    def l2_share(self) -> float:
        """The share of the L2 loss in the next step."""
        return self.first_l2_share * (1.0 - self.progress)

    @property
    def figures(self) -> dict[str, float]:
        """The temperature and, if L2 is mixed in, its share, for the report of a pass."""
        found = {"temperature": self.temperature}
        return found | {"l2_share": self.l2_share} if self.first_l2_share > 0.0 else found

    def __call__(self, marginals: Scores, gold: Gold, engine: FirstOrderEngine) -> BeliefLossValue:
        risk = annealed_risk(marginals, gold, engine, self.temperature)
        share = self.l2_share
        if share == 0.0:
            return risk
        return mixed_loss(l2_distance(marginals, gold, engine), risk, share)
