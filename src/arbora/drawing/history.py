"""Training curves: loss and dev scores by pass."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from arbora.drawing.figure import new_figure
from arbora.errors import ArgumentError, unwritable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check_drawing", "draw_history"]

BLUE, RED, GREY = "#2b5c8a", "#c44e52", "0.45"


class PassLike(Protocol):
    """The fields of a `PassRecord` that are drawn."""

    @property
    def number(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def uas(self) -> float | None: ...
    @property
    def las(self) -> float | None: ...
    @property
    def figures(self) -> dict[str, float]: ...


class HistoryLike(Protocol):
    """The fields of a `History` that are drawn: its passes, and the number of the best."""

    @property
    def passes(self) -> Sequence[PassLike]: ...
    @property
    def best(self) -> int: ...


def draw_history(history: HistoryLike, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draws loss and dev scores by pass, and the duality gap if the learner has one.

    Requires matplotlib (`pip install "arbora[plot]"`). With `path`, the figure is also saved; the
    ending determines the format.
    """
    if path is not None:
        check_drawing(path)
    passes = list(history.passes)
    if not passes:
        raise ArgumentError("the history has no passes to draw.")
    numbers = [one.number for one in passes]
    gaps = [one.figures["gap"] for one in passes if "gap" in one.figures]
    scored = [one for one in passes if one.uas is not None]
    figure = _new_figure(1 + bool(gaps) + bool(scored))
    left, *others = figure.subplots(1, 1 + bool(gaps) + bool(scored), squeeze=False)[0]
    left.plot(numbers, [one.loss for one in passes], "o-", color=RED, markersize=4)
    _label(left, "loss per word")
    if gaps:
        axes = others.pop(0)
        axes.plot(numbers[-len(gaps) :], gaps, "o-", color=GREY, markersize=4)
        if min(gaps) > 0:
            axes.set_yscale("log")
        _label(axes, "duality gap")
    if scored:
        _draw_scores(others.pop(0), scored, history.best)
    if path is not None:
        try:
            figure.savefig(os.fspath(path), dpi=150)
        except OSError as error:
            raise unwritable(os.fspath(path), error) from error
    return figure


def _draw_scores(axes: Axes, passes: list[PassLike], best: int) -> None:
    numbers = [one.number for one in passes]
    axes.plot(
        numbers, [one.uas or 0.0 for one in passes], "o-", color=BLUE, markersize=4, label="UAS"
    )
    labelled = [one.las for one in passes if one.las is not None]
    if labelled:
        axes.plot(numbers[-len(labelled) :], labelled, "s-", color=RED, markersize=4, label="LAS")
    axes.axvline(best, color="0.8", linewidth=1, zorder=0)
    axes.legend(frameon=False, loc="lower right")
    _label(axes, f"dev score in %, best in pass {best}")


def _label(axes: Axes, title: str) -> None:
    axes.set(xlabel="pass", title=title)
    axes.locator_params(axis="x", integer=True)
    axes.spines[["top", "right"]].set_visible(False)


def check_drawing(path: str | os.PathLike[str]) -> None:
    """Raises an error without matplotlib, or if it does not know the file's ending."""
    kinds = _new_figure(1).canvas.get_supported_filetypes()
    ending = Path(path).suffix.removeprefix(".")
    if ending.lower() not in kinds:
        raise ArgumentError(
            f"{os.fspath(path)}: the name of a plot must end in .png, .svg or .pdf."
        )


def _new_figure(panels: int) -> Figure:
    return new_figure((4.2 * panels, 3.4), layout="constrained")
