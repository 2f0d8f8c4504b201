"""Calibration: how predicted probabilities compare with the share of correct predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arbora.arrays import as_count, as_real
from arbora.errors import ArgumentError, ShapeError
from arbora.types import FloatArray

__all__ = ["Calibration", "CalibrationBin", "calibration"]

ROUNDING = 1e-6  # a probability may exceed [0, 1] by this much and is clipped


@dataclass(frozen=True)
class CalibrationBin:
    """Predictions of similar probability: their mean probability and the share that is right."""

    count: int
    low: float
    high: float
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """Probabilities against outcomes, in bins of equal size from low to high, as fractions.

    `ece` is the expected calibration error: the average over all predictions of
    |accuracy - confidence| in their bin. `worst` is the largest value of any bin.
    """

    count: int
    confidence: float
    accuracy: float
    ece: float
    worst: float
    bins: tuple[CalibrationBin, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        return {**vars(self), "bins": [dict(vars(entry)) for entry in self.bins]}

    def _repr_html_(self) -> str:
        from arbora.drawing.page import html_table

        rows = [
            (
                f"{100 * b.low:.2f} to {100 * b.high:.2f}", f"{100 * b.confidence:.2f}",
                f"{100 * b.accuracy:.2f}", f"{b.count:,}",
            )
            for b in self.bins
        ]  # fmt: skip
        summary = str(self).splitlines()[:2]
        headings = ["bin in %", "probability", "right", "count"]
        return html_table(headings, rows, caption="; ".join(summary))

    def __str__(self) -> str:
        lines = [
            f"{self.count:,} predictions, {100 * self.accuracy:.2f} % right, "
            f"mean probability {100 * self.confidence:.2f} %",
            f"expected calibration error {100 * self.ece:.2f} %, "
            f"worst of {len(self.bins)} bins {100 * self.worst:.2f} %",
            "      from      to  probability   right   count",
        ]
        lines += [
            f"  {100 * b.low:8.2f}{100 * b.high:8.2f}{100 * b.confidence:13.2f}"
            f"{100 * b.accuracy:8.2f}{b.count:8,}"
            for b in self.bins
        ]
        return "\n".join(lines)


def calibration(probabilities: ArrayLike, correct: ArrayLike, bins: int = 15) -> Calibration:
    """Compares predicted probabilities with whether the predictions were right.

    The sizes of the bins differ by at most 1. Predictions with equal probabilities share their
    outcomes evenly, so that the result does not depend on the order of the input when a bin ends
    between them.
    """
    p, right = _checked(probabilities, correct, bins)
    order = np.argsort(p, kind="stable")
    p = p[order]
    _, group, sizes = np.unique(p, return_inverse=True, return_counts=True)
    shared = (np.bincount(group, right[order]) / sizes)[group]
    table = tuple(
        CalibrationBin(
            count=len(members),
            low=float(p[members[0]]),
            high=float(p[members[-1]]),
            confidence=float(p[members].mean()),
            accuracy=float(shared[members].mean()),
        )
        for members in np.array_split(np.arange(len(p)), min(bins, len(p)))
    )
    gaps = [abs(entry.accuracy - entry.confidence) for entry in table]
    return Calibration(
        count=len(p),
        confidence=float(p.mean()),
        accuracy=float(right.mean()),
        ece=sum(gap * entry.count for gap, entry in zip(gaps, table, strict=True)) / len(p),
        worst=max(gaps),
        bins=table,
    )


def _checked(
    probabilities: ArrayLike, correct: ArrayLike, bins: int
) -> tuple[FloatArray, FloatArray]:
    p = as_real(probabilities, "probabilities").astype(np.float64)
    right = as_real(correct, "outcomes").astype(np.float64)
    if p.ndim != 1 or p.shape != right.shape:
        raise ShapeError(
            "probabilities and outcomes must be one-dimensional and equally long, "
            f"not of shapes {p.shape} and {right.shape}."
        )
    if not len(p):
        raise ArgumentError("there are no predictions to calibrate.")
    as_count(bins, "bins")
    bad = np.flatnonzero(~((p >= -ROUNDING) & (p <= 1 + ROUNDING)))
    if bad.size:
        raise ArgumentError(
            f"prediction {bad[0]} has probability {p[bad[0]]}, which is not between 0 and 1."
        )
    if not np.isin(right, (0, 1)).all():
        raise ArgumentError("outcomes must be true or false.")
    return np.clip(p, 0, 1), right
