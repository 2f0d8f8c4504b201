"""Optimisers: how weights are updated from gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from arbora.options.declare import Component, option

__all__ = [
    "AdaGradOptions", "AdamOptions", "ConjugateGradientOptions", "ExponentiatedGradientOptions",
    "LbfgsOptions", "OnlineOptions", "OptimizerOptions", "SgdOptions",
]  # fmt: skip


@dataclass(frozen=True)
class OnlineOptions(Component):
    """Options of all learners that update the weights after each mini-batch."""

    batch_size: int | None = option(
        None,
        "Sentences per mini-batch; 1 is the textbook online learner.",
        "Learning", low=1, high=100_000, kept=False,
        default_text="16; 4 for higher-order perceptron and mira",
    )  # fmt: skip
    average: bool = option(
        True,
        "Average the weights over all updates. Staged labels and the pruner always do.",
        "Learning",
    )
    word_dropout: float = option(
        0.0,
        "In each pass, hide a word that occurs c times with probability X / (X + c). Values from 1 "
        "to 3 help if new texts contain many unknown words.",
        "Learning", low=0.0, high=1e6, kept=False, default_text="0; 0.5 with adam",
    )  # fmt: skip


_RATE = "Learning rate, or auto to search for one on a tenth of the sentences."
_REGULARIZATION = "Strength of the L2 regulariser: X / 2 times the sum of squared weights."
_DEFAULT_REGULARIZATION = "10; 1 with sgd, lbfgs and cg; 100 with maxmargin"


@dataclass(frozen=True)
class AdaGradOptions(OnlineOptions):
    """AdaGrad (Duchi et al. 2011) with lazy L2 regularisation."""

    tag: ClassVar[str] = "adagrad"
    rate: float | Literal["auto"] | None = option(
        None, _RATE, "Learning", low=1e-9, high=1e6, kept=False,
        default_text="0.05; 0.02 with sgd or belief propagation; 0.01 to 0.015 with l2 and risk; "
        "0.002 with adam",
    )  # fmt: skip
    regularization: float = option(
        10.0, _REGULARIZATION, "Learning", low=0.0, high=1e12, kept=False,
        default_text=_DEFAULT_REGULARIZATION,
    )  # fmt: skip


@dataclass(frozen=True)
class SgdOptions(OnlineOptions):
    """Stochastic gradient descent with a decreasing learning rate (Bottou 2010)."""

    tag: ClassVar[str] = "sgd"
    rate: float | Literal["auto"] = option(0.02, _RATE, "Learning", low=1e-9, high=1e6, kept=False)
    regularization: float = option(1.0, _REGULARIZATION, "Learning", low=0.0, high=1e12, kept=False)


@dataclass(frozen=True)
class AdamOptions(OnlineOptions):
    """Adam (Kingma & Ba 2015) for neural scorers: warm-up, linear decay and clipped gradients.

    The average is an exponential one, over about the last thousand updates.
    """

    tag: ClassVar[str] = "adam"
    word_dropout: float = option(
        0.5,
        "In each pass, hide a word that occurs c times with probability X / (X + c). Values from 1 "
        "to 3 help if new texts contain many unknown words.",
        "Learning", low=0.0, high=1e6, kept=False, default_text="0; 0.5 with adam",
    )  # fmt: skip
    rate: float = option(0.002, _RATE, "Learning", low=1e-9, high=1e6, kept=False)
    warm_up: float = option(
        0.05, "Adam: share of all updates in which the learning rate rises from 0.", "Learning",
        low=0.0, high=1.0, kept=False,
    )  # fmt: skip
    clip: float = option(
        5.0, "Adam: longer gradients are shortened to this length.", "Learning",
        low=1e-9, high=1e12, kept=False,
    )  # fmt: skip


@dataclass(frozen=True)
class LbfgsOptions(Component):
    """L-BFGS on all sentences at once."""

    tag: ClassVar[str] = "lbfgs"
    regularization: float = option(1.0, _REGULARIZATION, "Learning", low=0.0, high=1e12, kept=False)


@dataclass(frozen=True)
class ConjugateGradientOptions(Component):
    """Nonlinear conjugate gradient on all sentences at once (Koo et al. 2007)."""

    tag: ClassVar[str] = "cg"
    regularization: float = option(1.0, _REGULARIZATION, "Learning", low=0.0, high=1e12, kept=False)


@dataclass(frozen=True)
class ExponentiatedGradientOptions(Component):
    """Exponentiated gradient on the dual (Koo et al. 2007, Figure 2)."""

    tag: ClassVar[str] = "eg"
    regularization: float | None = option(
        None, _REGULARIZATION, "Learning", low=1e-12, high=1e12, kept=False,
        default_text=_DEFAULT_REGULARIZATION,
    )  # fmt: skip


OptimizerOptions = (
    AdaGradOptions
    | SgdOptions
    | AdamOptions
    | LbfgsOptions
    | ConjugateGradientOptions
    | ExponentiatedGradientOptions
)
