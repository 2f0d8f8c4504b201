"""Counts with intervals, drawn as points and lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arbora.drawing.figure import new_figure
from arbora.drawing.widths import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_counts"]


def draw_counts(
    groups: Sequence[str],
    counts: Sequence[float],
    intervals: Sequence[tuple[int, int]],
    best: Sequence[int],
    level: float,
    title: str = "",
) -> Axes:
    """Draws a line for each interval, a point for the count and a cross for best trees."""
    figure = new_figure((6.4, 1.2 + 0.24 * len(groups)), layout="constrained")
    axes: Axes = figure.add_subplot()
    places = list(range(len(groups)))
    lows, highs = [low for low, _ in intervals], [high for _, high in intervals]
    axes.hlines(places, lows, highs, color="#2b5c8a", linewidth=2, label=f"{level:.0%} interval")
    axes.plot(counts, places, "o", color="#2b5c8a", markersize=5, label="count")
    axes.plot(best, places, "x", color="#c44e52", markersize=5, label="best trees")
    axes.set_yticks(places, [visible(group).replace("$", r"\$") for group in groups])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_title(visible(title).replace("$", r"\$"), fontsize=9)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return axes
