"""Draws the figures of README and docs; run it with `make pictures`."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from arbora import Sentence, SpanningTrees, TreeDrawing, read_conllu
from arbora.drawing import draw_reliability
from arbora.evaluation.reliability import Calibration, CalibrationBin
from arbora.testing import lu_marginals, precise_spanning

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
SOFT, BEST = "#b8c4cc", "#1b6ca8"

mpl.rcParams.update({"svg.hashsalt": "arbora", "font.size": 11, "axes.edgecolor": SOFT})


def save(figure: plt.Figure, name: str) -> None:
    figure.savefig(IMAGES / name, metadata={"Date": None}, bbox_inches="tight", facecolor="white")
    plt.close(figure)


def telescope() -> SpanningTrees:
    """The distribution of an example."""
    example = runpy.run_path(str(DOCS.parent / "examples" / "05_who_has_the_telescope.py"))
    trees = SpanningTrees(example["scores"]())
    trees.words = example["WORDS"]
    return trees


def example_sentence(name: str) -> Sentence:
    """A sentence of the example treebank by its identifier."""
    for part in ("train", "dev", "test"):
        for sentence in read_conllu(DOCS.parent / "examples" / "treebank" / f"{part}.conllu"):
            if f"# sent_id = {name}" in sentence.comments:
                return sentence
    raise LookupError(name)


def pictures_of_trees() -> dict[str, str]:
    """The picture of README, and those of the page on drawing, by name."""
    return {
        "sentence.svg": telescope().svg(threshold=0.02),
        "tree.svg": example_sentence("weather-16").svg(),
        "tree_in_rows.svg": example_sentence("tools-06").svg(width=520),
        "tree_right_to_left.svg": ARABIC.svg(),
        "tree_nonprojective.svg": NONPROJECTIVE.svg(),
    }


ARABIC = TreeDrawing(
    ["قرأ", "الطالب", "كتابا", "جديدا", "في", "المكتبة", "."],
    [0, 1, 1, 3, 6, 1, 1],
    ["root", "nsubj", "obj", "amod", "case", "obl", "punct"],
    tags=["VERB", "NOUN", "NOUN", "ADJ", "ADP", "NOUN", "PUNCT"],
)
NONPROJECTIVE = TreeDrawing(
    ["A", "talk", "began", "about", "the", "weather"],
    [2, 3, 0, 6, 6, 2],
    ["det", "nsubj", "root", "case", "det", "nmod"],
)


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
    for name, picture in pictures_of_trees().items():
        (IMAGES / name).write_text(picture, encoding="utf-8")
    picture_of_the_numbers()
    picture_of_reliability()
