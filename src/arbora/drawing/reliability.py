"""Reliability diagrams: how often predictions of a given probability are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from arbora.drawing.figure import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_reliability", "reliability_text"]

EIGHTHS = " ▏▎▍▌▋▊▉█"


class Bin(Protocol):
    """Predictions of similar probability."""

    @property
    def confidence(self) -> float: ...
    @property
    def accuracy(self) -> float: ...


class Reliability(Protocol):
    """The fields of a `Calibration` that are drawn."""

    @property
    def ece(self) -> float: ...
    @property
    def bins(self) -> Sequence[Bin]: ...


def reliability_text(calibration: Reliability, *, width: int = 50) -> str:
    """One line per bin: a bar for the share of correct predictions, and a mark for the predicted
    probability."""
    lines = [f"predicted   right  0 %{'100 %':>{width - 2}}"]
    for entry in calibration.bins:
        bar = list(_bar(entry.accuracy, width))
        mark = min(round(entry.confidence * width), width - 1)
        bar[mark] = "┃" if bar[mark] == " " else "┫"
        line = f"{100 * entry.confidence:9.2f}{100 * entry.accuracy:8.2f}  {''.join(bar)}"
        lines.append(line.rstrip())
    lines.append(
        f"┃ predicted   █ right   expected calibration error {100 * calibration.ece:.2f} %"
    )
    return "\n".join(lines)


def _bar(share: float, width: int) -> str:
    whole, rest = divmod(round(share * width * 8), 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def draw_reliability(calibration: Reliability, axes: Axes | None = None) -> Axes:
    """Draws accuracy against probability with matplotlib (`pip install "arbora[plot]"`).

    Draws into `axes`, or into a new figure (`.figure` of the returned axes).
    """
    if axes is None:
        axes = _new_axes()
    predicted = [entry.confidence for entry in calibration.bins]
    right = [entry.accuracy for entry in calibration.bins]
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=1)
    axes.vlines(predicted, predicted, right, color="#c44e52", alpha=0.5, linewidth=2, zorder=2)
    axes.plot(predicted, right, "o-", color="#2b5c8a", markersize=5, linewidth=1.2, zorder=3)
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
        xlabel="predicted probability",
        ylabel="share that is right",
        title=f"expected calibration error {100 * calibration.ece:.2f} %",
    )
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _new_axes() -> Axes:
    axes: Axes = new_figure((4.2, 4.2), layout="constrained").add_subplot()
    return axes
