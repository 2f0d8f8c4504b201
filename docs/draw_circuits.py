"""Draws a factor graph and the circuit of belief propagation (Gormley et al. 2015, figures 1 and
2); run it with `make pictures`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle

IMAGES = Path(__file__).parent / "images"
INK, SOFT, TREE, GRAND, SIBLING = "#22303c", "#b8c4cc", "#b03030", "#7a4fa3", "#2e8b57"
WORDS = ["$", "Juan", "su", "abdica", "reino"]
Place = tuple[float, float]

mpl.rcParams.update({"svg.hashsalt": "arbora", "font.size": 10})


def save(figure: plt.Figure, name: str) -> None:
    figure.savefig(IMAGES / name, metadata={"Date": None}, bbox_inches="tight", facecolor="white")
    plt.close(figure)


def place(head: int, modifier: int) -> Place:
    """The position of a variable: above the middle of its arc, higher for longer arcs."""
    side = 0.0 if head == 0 else 0.23 if head > modifier else -0.23
    return (head + modifier) / 2 + side, 0.95 * abs(head - modifier)


def factor(axes: Axes, where: Place, arcs: list[tuple[int, int]], colour: str) -> None:
    """A square, connected to the variables of its arcs."""
    for arc in arcs:
        x, y = place(*arc)
        axes.plot([where[0], x], [where[1], y], color=colour, linewidth=1.1, zorder=1)
    corner = (where[0] - 0.055, where[1] - 0.055)
    axes.add_patch(Rectangle(corner, 0.11, 0.11, color=colour, zorder=3))


def between(*arcs: tuple[int, int]) -> Place:
    xs, ys = zip(*(place(*arc) for arc in arcs), strict=True)
    return sum(xs) / len(xs), sum(ys) / len(ys)


def picture_of_a_factor_graph() -> None:
    figure, axes = plt.subplots(figsize=(8.0, 5.4), layout="constrained")
    n = len(WORDS) - 1
    arcs = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    top = (n / 2 + 0.1, 5.0)
    for arc in arcs:
        x, y = place(*arc)
        axes.plot([top[0], x], [top[1], y], color=TREE, linewidth=0.6, alpha=0.45, zorder=0)
        axes.plot([x, x], [y, y - 0.33], color=INK, linewidth=0.8, zorder=1)
        axes.add_patch(Rectangle((x - 0.045, y - 0.38), 0.09, 0.09, color=INK, zorder=3))
        axes.add_patch(Circle((x, y), 0.185, facecolor="white", edgecolor=INK, zorder=4))
        axes.text(x, y, f"{arc[0]},{arc[1]}", ha="center", va="center", fontsize=8, zorder=5)
    for first, second in (((0, 3), (3, 1)), ((0, 4), (4, 1)), ((2, 4), (4, 3))):
        factor(axes, between(first, second), [first, second], GRAND)
    for first, second in (((3, 1), (3, 2)), ((0, 1), (0, 2))):
        factor(axes, between(first, second), [first, second], SIBLING)
    box = FancyBboxPatch(
        (top[0] - 0.42, top[1] - 0.13), 0.84, 0.28, boxstyle="round,pad=0.02", color=TREE, zorder=3
    )
    axes.add_patch(box)
    axes.text(*top, "trees only", color="white", ha="center", va="center", fontsize=9, zorder=4)
    for i, word in enumerate(WORDS):
        axes.text(i, 0.05, word, ha="center", fontsize=13, color=SOFT if i == 0 else INK)
        axes.text(i, -0.2, str(i), ha="center", fontsize=8, color=SOFT)
    names = [(INK, "an arc"), (GRAND, "grandparents"), (SIBLING, "two siblings"), (TREE, "trees")]
    for i, (colour, name) in enumerate(names):
        axes.add_patch(Rectangle((4.1, 4.95 - 0.27 * i), 0.11, 0.11, color=colour))
        axes.text(4.3, 5.0 - 0.27 * i, name, va="center", color=INK)
    axes.set(xlim=(-0.4, 5.2), ylim=(-0.35, 5.3))
    axes.axis("off")
    save(figure, "factor_graph.svg")


def box(axes: Axes, x: float, y: float, text: str, wide: float, colour: str = INK) -> None:
    shape = FancyBboxPatch(
        (x - wide / 2, y - 0.3), wide, 0.6, boxstyle="round,pad=0.05", facecolor="white",
        edgecolor=colour, linewidth=1.3,
    )  # fmt: skip
    axes.add_patch(shape)
    axes.text(x, y, text, ha="center", va="center", color=INK)


def arrow(axes: Axes, start: Place, end: Place, colour: str, bend: float = 0.0) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=11, color=colour, linewidth=1.3,
            connectionstyle=f"arc3,rad={bend}", shrinkA=0, shrinkB=0,
        )
    )  # fmt: skip


def picture_of_the_circuit() -> None:
    """Forward in blue, gradients back in orange."""
    forward, back = "#1b6ca8", "#d98b4a"
    figure, axes = plt.subplots(figsize=(8.6, 6.2), layout="constrained")
    chain = [
        (0.0, "(A) scores of arcs and parts:\nweights times features"),
        (1.4, "(B) messages at the start: log-odds 0"),
        (2.8, "(C) messages, one sweep after the other"),
        (4.2, "(D) beliefs in arcs and parts"),
        (5.6, "(E) the loss"),
    ]
    for height, text in chain:
        box(axes, 0.0, height, text, 3.9)
    for low, high in pairwise(chain):
        arrow(axes, (-0.25, low[0] + 0.38), (-0.25, high[0] - 0.38), forward)
        arrow(axes, (0.25, high[0] - 0.38), (0.25, low[0] + 0.38), back)
    arrow(axes, (-2.05, 3.0), (-2.05, 2.6), forward, bend=2.2)
    axes.text(-2.85, 2.8, "t times", ha="center", va="center", color=INK, fontsize=9)
    for first, title, steps in (
        (1.7, "the tree's messages", (
            "(C.1) scores := log-odds from the arcs",
            "(C.2) sums over trees: marginals",
            "(C.3) log-odds of marginals minus what came in",
        )),
        (4.9, "annealed risk", (
            "(E.1) scores := beliefs / temperature",
            "(E.2) sums over trees: marginals",
            "(E.3) expected number of right heads",
        )),
    ):  # fmt: skip
        axes.text(4.7, first + 2.05, title, ha="center", color=TREE)
        for i, text in enumerate(steps):
            box(axes, 4.7, first + 0.75 * i, text, 4.5, TREE)
        source = 2.8 if first < 3 else 5.6
        for edge in (first - 0.35, first + 1.85):
            axes.plot([2.02, 2.38], [source, edge], color=TREE, linewidth=0.8, linestyle=":")
    arrow(axes, (-2.9, 0.0), (-2.9, 0.9), forward)
    arrow(axes, (-2.6, 0.9), (-2.6, 0.0), back)
    axes.text(-2.75, -0.15, "values  gradients", ha="center", va="top", fontsize=8, color=INK)
    axes.set(xlim=(-3.4, 7.1), ylim=(-0.6, 7.2))
    axes.axis("off")
    save(figure, "circuit.svg")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    picture_of_a_factor_graph()
    picture_of_the_circuit()
