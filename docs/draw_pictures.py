"""Draws the figures of README and docs; run it with `make pictures`."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from arbora import SpanningTrees
from arbora.drawing import draw_reliability
from arbora.evaluation.reliability import Calibration, CalibrationBin
from arbora.testing import lu_marginals, precise_spanning

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
INK, SOFT, BEST = "#22303c", "#b8c4cc", "#1b6ca8"

mpl.rcParams.update({"svg.hashsalt": "arbora", "font.size": 11, "axes.edgecolor": SOFT})


def save(figure: plt.Figure, name: str) -> None:
    figure.savefig(IMAGES / name, metadata={"Date": None}, bbox_inches="tight", facecolor="white")
    plt.close(figure)


def draw_arcs(axes: Axes, words: list[str], trees: SpanningTrees) -> None:
    """Draws arcs with a probability of at least 2 %, as wide as they are probable."""
    best = trees.argmax().heads
    tokens = ["ROOT", *words]
    widths = [0.62 + 0.15 * len(token) for token in tokens]
    x = np.cumsum(widths) - np.array(widths) / 2
    for m in range(1, len(tokens)):
        for h in range(len(tokens)):
            p = trees.marginals[h, m]
            if h == m or p < 0.02:
                continue
            chosen = best[m - 1] == h
            side = 0.09 if x[h] < x[m] else -0.09
            axes.add_patch(
                FancyArrowPatch(
                    (x[h] + side, 0.0),
                    (x[m] - side / 3, 0.0),
                    connectionstyle=f"arc3,rad={-0.55 if x[h] < x[m] else 0.55}",
                    arrowstyle="-|>",
                    mutation_scale=9,
                    linewidth=0.6 + 2.4 * p,
                    color=BEST if chosen else "#d98b4a",
                    alpha=0.35 + 0.65 * p,
                    shrinkA=0,
                    shrinkB=0,
                )
            )
    for token, place in zip(tokens, x, strict=True):
        colour = SOFT if token == "ROOT" else INK
        axes.text(place, -0.08, token, ha="center", va="top", color=colour, fontsize=13)
    axes.set_xlim(0, sum(widths))
    axes.set_ylim(-0.3, 1.12)
    axes.axis("off")


def draw_heat(axes: Axes, words: list[str], trees: SpanningTrees) -> None:
    n = len(words)
    p = trees.marginals[:, 1:]
    axes.imshow(p, cmap="Blues", vmin=0, vmax=1.15, aspect="auto")
    for h in range(n + 1):
        for m in range(n):
            if h != m + 1 and p[h, m] >= 0.005:
                colour = "white" if p[h, m] > 0.6 else INK
                axes.text(m, h, f"{100 * p[h, m]:.0f}", ha="center", va="center", color=colour)
    axes.set_xticks(range(n), words)
    axes.set_yticks(range(n + 1), ["ROOT", *words])
    axes.xaxis.tick_top()
    axes.set_ylabel("head")
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def picture_of_a_sentence() -> None:
    demo = runpy.run_path(str(DOCS.parent / "examples" / "demo.py"))
    words, trees = demo["WORDS"], SpanningTrees(demo["scores"]())
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(8.2, 6.4), height_ratios=[1, 1.25], layout="constrained"
    )
    draw_arcs(top, words, trees)
    draw_heat(bottom, words, trees)
    bottom.set_title(
        f"P(head | word) in percent · log Z = {trees.log_partition:.2f} · "
        f"entropy {trees.entropy():.2f} nats",
        loc="left", fontsize=11, color=INK, pad=26,
    )  # fmt: skip
    save(figure, "sentence.svg")


def worst_errors(scale: float, rng: np.random.Generator, count: int = 15) -> tuple[float, float]:
    """The largest error of a marginal with the usual formula and with Arbora; 2 stands for NaN."""
    usual = ours = 0.0
    for _ in range(count):
        scores = rng.normal(size=(11, 11)) * scale
        truth = precise_spanning(scores, np.zeros_like(scores), "multi").marginals
        with np.errstate(all="ignore"):
            try:
                error = np.abs(lu_marginals(scores, "multi") - truth).max()
            except np.linalg.LinAlgError:
                error = np.nan
        usual = max(usual, 2.0 if np.isnan(error) else min(error, 1.0))
        mine = np.abs(SpanningTrees(scores, "multi").marginals - truth).max()
        ours = max(ours, mine, 1e-17)
    return usual, ours


def picture_of_the_numbers() -> None:
    scales = [1, 2, 5, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000, 2000, 5000, 10_000]
    rng = np.random.default_rng(0)
    errors = np.array([worst_errors(scale, rng) for scale in scales])
    figure, axes = plt.subplots(figsize=(7.4, 3.8), layout="constrained")
    fails = errors[:, 0] == 2.0
    usual = np.where(fails, 1.0, errors[:, 0])
    axes.loglog(scales, usual, "o-", color="#d98b4a", label="LU of the Laplacian (usual formula)")
    axes.loglog(np.array(scales)[fails], usual[fails], "x", color="#a02020", ms=9, mew=2.5,
                label="NaN or singular matrix")  # fmt: skip
    axes.loglog(scales, errors[:, 1], "o-", color=BEST, label="Arbora")
    axes.set_xlabel("scale of the scores (standard deviation, 10 words, multi-root)")
    axes.set_ylabel("largest error of a marginal")
    axes.set_ylim(1e-17, 8)
    axes.grid(alpha=0.3)
    axes.legend(loc="center right", frameon=False)
    save(figure, "numbers.svg")


def measured_reliability() -> Calibration:
    """The calibration table of results.md, so that drawing requires no training."""
    section = (DOCS / "results.md").read_text(encoding="utf-8").split("## Calibration")[1]
    row = re.compile(r"^ +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d,]+)$", re.MULTILINE)
    bins = []
    for *percent, count in row.findall(section):
        low, high, confidence, accuracy = (float(value) / 100 for value in percent)
        bins.append(CalibrationBin(int(count.replace(",", "")), low, high, confidence, accuracy))
    counts = np.array([one.count for one in bins])
    predicted = np.array([one.confidence for one in bins])
    right = np.array([one.accuracy for one in bins])
    gaps = np.abs(right - predicted)
    means = (float(np.average(values, weights=counts)) for values in (predicted, right, gaps))
    return Calibration(int(counts.sum()), *means, float(gaps.max()), tuple(bins))


def picture_of_reliability() -> None:
    figure, axes = plt.subplots(figsize=(4.6, 4.6), layout="constrained")
    draw_reliability(measured_reliability(), axes)
    save(figure, "reliability.svg")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    picture_of_a_sentence()
    picture_of_the_numbers()
    picture_of_reliability()
