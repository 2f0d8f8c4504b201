"""Learners: the loss that training minimises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from arbora.errors import ArgumentError
from arbora.options.declare import Component, option, slot
from arbora.options.optimizers import (
    AdaGradOptions,
    AdamOptions,
    ConjugateGradientOptions,
    ExponentiatedGradientOptions,
    LbfgsOptions,
    OnlineOptions,
    OptimizerOptions,
    SgdOptions,
)
from arbora.options.spelling import spelled

__all__ = [
    "AnnealingName", "BeliefLearnerOptions", "HeadSelectionOptions", "L2Options", "L2RiskOptions",
    "LearnerOptions", "LogLinearOptions", "MaxMarginOptions", "MiraOptions", "MiraVariant", "Need",
    "PerceptronOptions", "RiskOptions",
]  # fmt: skip

AnnealingName = Literal["linear", "log"]
MiraVariant = Literal["1-best", "k-best", "factored", "mbr"]
Need = Literal["best trees", "sums", "gradients"]  # what a learner requires of inference

_OPTIMIZER = (
    "Optimiser: any with loglinear; adagrad or sgd with l2, risk and l2+risk. With higher orders, "
    "lbfgs, cg and eg (and so maxmargin) need exact inference. Neural scorers have adam."
)
_DEFAULT_OPTIMIZER = "adagrad; eg with maxmargin; adam with a neural scorer"


@dataclass(frozen=True)
class PerceptronOptions(OnlineOptions):
    """Averaged perceptron (Collins 2002)."""

    tag: ClassVar[str] = "perceptron"
    need: ClassVar[Need] = "best trees"


@dataclass(frozen=True)
class MiraOptions(OnlineOptions):
    """MIRA (Crammer et al. 2006): the smallest update that achieves the margin."""

    tag: ClassVar[str] = "mira"
    need: ClassVar[Need] = "best trees"
    variant: MiraVariant = option(
        "1-best", "MIRA variant: the constraints of each update.", "Learning", name="mira"
    )
    k: int = option(5, "Number of trees per k-best MIRA update.", "Learning", low=1, high=1000)
    largest_step: float = option(0.001, "Maximum MIRA step size C.", "Learning", low=1e-12)


@dataclass(frozen=True)
class LogLinearOptions(Component):
    """Conditional likelihood."""

    tag: ClassVar[str] = "loglinear"
    need: ClassVar[Need] = "sums"
    optimizer: OptimizerOptions = slot(
        (
            AdaGradOptions, SgdOptions, LbfgsOptions, ConjugateGradientOptions,
            ExponentiatedGradientOptions, AdamOptions,
        ),
        AdaGradOptions(), _OPTIMIZER, "Learning", default_text=_DEFAULT_OPTIMIZER,
    )  # fmt: skip


@dataclass(frozen=True)
class HeadSelectionOptions(Component):
    """Every word chooses its head by itself, with a softmax over the other words."""

    tag: ClassVar[str] = "head-selection"
    need: ClassVar[Need] = "best trees"
    optimizer: AdaGradOptions | SgdOptions | AdamOptions = slot(
        (AdaGradOptions, SgdOptions, AdamOptions), AdaGradOptions(), _OPTIMIZER, "Learning",
        default_text=_DEFAULT_OPTIMIZER,
    )  # fmt: skip


@dataclass(frozen=True)
class MaxMarginOptions(Component):
    """Structured max-margin: exponentiated gradient (Koo et al. 2007), or the hinge with Adam."""

    tag: ClassVar[str] = "maxmargin"
    optimizer: ExponentiatedGradientOptions | AdamOptions = slot(
        (ExponentiatedGradientOptions, AdamOptions), ExponentiatedGradientOptions(), _OPTIMIZER,
        "Learning", default_text=_DEFAULT_OPTIMIZER,
    )  # fmt: skip

    @property
    def need(self) -> Need:
        """The hinge compares best trees; exponentiated gradient sums over all."""
        return "best trees" if isinstance(self.optimizer, AdamOptions) else "sums"


@dataclass(frozen=True)
class BeliefLearnerOptions(Component):
    """Learners that backpropagate a loss of the marginals through inference."""

    need: ClassVar[Need] = "gradients"
    optimizer: AdaGradOptions | SgdOptions | AdamOptions = slot(
        (AdaGradOptions, SgdOptions, AdamOptions), AdaGradOptions(), _OPTIMIZER, "Learning",
        default_text=_DEFAULT_OPTIMIZER,
    )  # fmt: skip
    projectivise: bool | None = option(
        None,
        "With projective trees: train on the nearest projective gold trees, as all other learners "
        "do.",
        "Learning", default_text="off",
    )  # fmt: skip


@dataclass(frozen=True)
class L2Options(BeliefLearnerOptions):
    """Squared distance between marginals and gold (Gormley et al. 2015)."""

    tag: ClassVar[str] = "l2"


@dataclass(frozen=True)
class RiskOptions(BeliefLearnerOptions):
    """Annealed risk (Gormley et al. 2015)."""

    tag: ClassVar[str] = "risk"
    annealing: AnnealingName = option(
        "linear",
        "Annealed risk: the temperature falls by equal differences (linear) or equal ratios (log) "
        "from step to step.",
        "Learning",
    )
    first_temperature: float | None = option(
        None, "Annealed risk: initial temperature.", "Learning", low=1e-9, high=1e6,
        default_text="0.1; 10 with annealing log",
    )  # fmt: skip
    last_temperature: float | None = option(
        None, "Annealed risk: final temperature.", "Learning", low=1e-9, high=1e6,
        default_text="0.0001; 0.1 with annealing log",
    )  # fmt: skip
    risk_mix: float = option(
        0.0,
        "Annealed risk: share of the L2 loss in the first step; it falls linearly to 0 in the last "
        "step.",
        "Learning", low=0.0, high=1.0,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        first, last = self.temperatures
        if last > first:
            raise ArgumentError(
                f"{spelled('last_temperature')} ({last:g}) must not exceed "
                f"{spelled('first_temperature')} ({first:g})."
            )

    @property
    def temperatures(self) -> tuple[float, float]:
        """The first and the last temperature.

        The defaults of `linear` are those of Gormley et al. (2015, section 7.1), the defaults of
        `log` those of the code that its authors released.
        """
        first, last = (0.1, 0.0001) if self.annealing == "linear" else (10.0, 0.1)
        return (
            first if self.first_temperature is None else self.first_temperature,
            last if self.last_temperature is None else self.last_temperature,
        )


@dataclass(frozen=True)
class L2RiskOptions(RiskOptions):
    """L2, then annealed risk starting from the best L2 weights."""

    tag: ClassVar[str] = "l2+risk"


LearnerOptions = (
    PerceptronOptions
    | MiraOptions
    | LogLinearOptions
    | HeadSelectionOptions
    | MaxMarginOptions
    | L2Options
    | RiskOptions
    | L2RiskOptions
)
