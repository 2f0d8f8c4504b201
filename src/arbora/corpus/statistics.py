"""Intervals for counts: what the parser doubts, and what a gold sample says of its bias.

The number N of matches in a corpus is a sum over sentences. Under the model it has the mean F (the
expected count) and the variance V (the sum of the sentences' variances); drawing adds a variance to
the estimate of F. That is all there is without a gold sample: then the interval holds if the
model's probabilities are right.

With annotated sentences, the model's bias and the size of its errors are estimated. The bias of a
pattern is a factor R: the gold count y of a sentence has the mean R f and the variance D v, with f
and v of the model. The sample's totals are y ~ (R F', D V'), and R has the prior N(1, 1/4), which
matters only if the sample has few matches. So

    1 / Var[R] = F'^2 / (D V') + 4,    E[R] = Var[R] (F' y / (D V') + 4),
    D = (sum (y_i - R f_i)^2 + 2) / (sum v_i + 2),

and the corpus has N ~ (R F, D V): mean E[R] F, variance D V + F^2 Var[R] + R^2 noise. This is the
ratio estimator of survey sampling; f is what prediction-powered inference calls the prediction. The
factor does not depend on the lengths of sentences, so that sample and corpus may differ in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from arbora.errors import ArgumentError
from arbora.types import FloatArray

__all__ = ["Bias", "Figures", "estimate_bias", "interval"]

_PRIOR_VARIANCE = 0.25  # of R: the sample decides as soon as it has a few matches
_PRIOR_ERRORS = 2.0  # of D: as if 2 units of doubt had been right
_STEPS = 20


@dataclass
class Figures:
    """Sums over the sentences of a corpus."""

    expected: float = 0.0
    variance: float = 0.0
    noise: float = 0.0
    best: float = 0.0

    def add(self, other: Figures) -> None:
        """Adds those of other sentences."""
        self.expected += other.expected
        self.variance += other.variance
        self.noise += other.noise
        self.best += other.best


@dataclass(frozen=True)
class Bias:
    """The factor from expected to gold counts, its variance, and the dispersion D of errors."""

    ratio: float = 1.0
    variance: float = 0.0
    dispersion: float = 1.0
    gold: float | None = field(default=None)  # the sample's gold count
    expected: float | None = field(default=None)  # and its expected count


def estimate_bias(gold: FloatArray, expected: FloatArray, variance: FloatArray) -> Bias:
    """The bias of a pattern from annotated sentences: one number of each kind per sentence."""
    total, mean = float(gold.sum()), float(expected.sum())
    doubt = float(variance.sum())
    ratio, dispersion = 1.0, 1.0
    precision = 1.0 / _PRIOR_VARIANCE
    for _ in range(_STEPS):
        errors = float(((gold - ratio * expected) ** 2).sum())
        dispersion = (errors + _PRIOR_ERRORS) / (doubt + _PRIOR_ERRORS)
        own = max(dispersion * doubt, 1e-12)
        precision = mean * mean / own + 1.0 / _PRIOR_VARIANCE
        ratio = max(0.0, (mean * total / own + 1.0 / _PRIOR_VARIANCE) / precision)
    return Bias(ratio, 1.0 / precision, dispersion, total, mean)


def interval(
    figures: Figures, level: float, bias: Bias | None = None
) -> tuple[float, tuple[int, int]]:
    """The corrected count and an interval that has the gold count with probability `level`.

    Counts are whole numbers and not negative, so the interval has quantiles of a gamma
    distribution with the mean and the variance of the count, rounded; for large counts it is the
    normal one.
    """
    if not 0.0 < level < 1.0:
        raise ArgumentError(f"level must be between 0 and 1, not {level}.")
    known = Bias() if bias is None else bias
    expected = max(figures.expected, 0.0)
    mean = known.ratio * expected
    variance = known.dispersion * figures.variance + expected**2 * known.variance
    variance += known.ratio**2 * figures.noise
    if mean <= 0.0:
        return 0.0, (0, 0)
    if variance <= 0.0:
        return mean, (round(mean), round(mean))
    from scipy.special import gammaincinv

    shape = mean * mean / variance
    tails = (0.5 - level / 2.0, 0.5 + level / 2.0)
    low, high = (float(gammaincinv(shape, tail)) * variance / mean for tail in tails)
    if not np.isfinite(high):  # beyond the function's range, the normal quantiles
        from scipy.special import ndtri

        low, high = (mean + float(ndtri(tail)) * variance**0.5 for tail in tails)
    return mean, (max(0, round(low)), max(0, round(high)))
