"""Coverage and size of head sets: how often the right head is in the set, on unseen sentences.

    python benchmarks/head_sets.py --treebanks DIR [--only NAME ...] [--output FOLDER]

Trains a first-order parser on each treebank. A part of dev is set aside to calibrate the sets, and
chooses nothing. The error of the coverage is a bootstrap over sentences, of the test and of the
calibration, because the words of a sentence are not independent. Treebanks that the output has
already are not run again. Dev and test may differ in kind, so the coverage of shuffled sentences is
measured, too.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import arbora
from arbora.data.treebank import read_treebank
from arbora.fitting.head_sets import word_scores
from arbora.models.head_sets import HeadSets
from arbora.options import ParseOptions
from arbora.parsers.training_data import set_aside

TREEBANKS = ("ud_german_gsd_resplit", "ud_hungarian_szeged", "ud_turkish_imst")
LEVELS = {"all": (0.8, 0.9, 0.95, 0.99), "label": (0.95,), "distance": (0.95,)}
SHARE = 0.5  # of dev, for calibration
SAMPLES = 100  # of the bootstrap
OUTPUT = Path(__file__).parent / "results" / "head_sets"


def measure(folder: Path, passes: int) -> dict[str, Any]:
    """The figures of one treebank."""
    train, dev, test = (
        read_treebank(str(folder / f"{p}.conllu")) for p in ("train", "dev", "test")
    )
    parser = arbora.Parser(passes=passes, threads=1).fit(train, dev, calibration_share=SHARE)
    _, aside = set_aside(dev, SHARE)
    assert aside is not None
    gold = np.asarray(test.heads)
    scores = sampled_scores(parser, aside), sampled_scores(parser, test)
    groups = word_scores(parser.decoder(), test, gold).groups
    answer: dict[str, Any] = {
        "calibration": {"sentences": len(aside), "words": aside.total_words},
        "test": {"sentences": len(test), "words": test.total_words},
        "sets": [],
    }
    answer["uas"] = 100 * float(
        (parser.parse_block(test, ParseOptions()).trees.heads == gold).mean()
    )
    for by, levels in LEVELS.items():
        for level in levels:
            options = ParseOptions(head_sets=level, head_sets_by=by)  # type: ignore[arg-type]
            trees = parser.parse_block(test, options).trees
            inside, _ = covered(trees, gold)
            answer["sets"].append({
                "by": by, "level": level, "coverage": 100 * float(inside.mean()),
                "error": error(*scores, by, level),
                "mean_size": float(trees.set_sizes.mean()),
                "single": 100 * float((trees.set_sizes == 1).mean()),
                "group_gap": None if by == "all" else group_gap(inside, groups[by], level),
            })  # fmt: skip
            print(folder.name, answer["sets"][-1], flush=True)
    answer["shuffled"] = shuffled(parser, aside, test)
    print(folder.name, answer["shuffled"], flush=True)
    return answer


def covered(trees: Any, gold: Any) -> tuple[Any, Any]:
    """Which words have the right head in their set, and which as the likeliest in it."""
    sets = np.split(trees.set_heads, np.cumsum(trees.set_sizes)[:-1])
    pairs = list(zip(gold.tolist(), sets, strict=True))
    return np.array([g in s for g, s in pairs]), np.array([g == s[0] for g, s in pairs])


def shuffled(parser: arbora.Parser, aside: Any, test: Any) -> list[dict[str, float]]:
    """Coverage if the sentences of both files are shuffled: then they are exchangeable.

    Half of them calibrates, and the other half is measured; mean and standard deviation over
    random halves.
    """
    scores: list[Any] = []
    tops: list[Any] = []
    for block in (aside, test):
        scores += sampled_scores(parser, block)[0]
        gold, options = np.asarray(block.heads), ParseOptions(head_sets=0.9)
        _, top = covered(parser.parse_block(block, options).trees, gold)
        tops += np.split(top, np.cumsum(block.n_words)[:-1])
    rng = np.random.default_rng(0)
    found: dict[float, list[float]] = {level: [] for level in LEVELS["all"]}
    for _ in range(SAMPLES):
        halves = np.array_split(rng.permutation(len(scores)), 2)
        known, (values, likeliest) = (
            np.concatenate([scores[i] for i in halves[0]]),
            (np.concatenate([each[i] for i in halves[1]]) for each in (scores, tops)),
        )
        sets = HeadSets.calibrated(known, {}, 1, False)
        for level, shares in found.items():
            inside = (values >= sets.at(level).other) | likeliest
            shares.append(100 * float(inside.mean()))
    return [
        {"level": level, "coverage": float(np.mean(shares)), "deviation": float(np.std(shares))}
        for level, shares in found.items()
    ]


def group_gap(inside: np.ndarray, groups: list[str], level: float) -> float:
    """The mean distance of the coverage of groups of 100 words or more from the level, by word."""
    names = np.array(groups)
    kinds, counts = np.unique(names, return_counts=True)
    large = kinds[counts >= 100]
    gaps = [abs(inside[names == kind].mean() - level) for kind in large]
    return 100 * float(np.average(gaps, weights=counts[counts >= 100]))


def sampled_scores(parser: arbora.Parser, block: Any) -> tuple[Any, ...]:
    """The scores and groups of a block, cut by sentence."""
    heads = np.asarray(block.heads)
    found = word_scores(parser.decoder(), block, heads)
    cuts = np.cumsum(block.n_words)[:-1]
    groups = {by: np.split(np.array(names), cuts) for by, names in found.groups.items()}
    return np.split(found.scores, cuts), groups


def error(calibration: tuple[Any, ...], test: tuple[Any, ...], by: str, level: float) -> float:
    """The bootstrap's standard error of the coverage, over sentences of calibration and test."""
    (scores, groups), (on_test, test_groups) = calibration, test
    rng = np.random.default_rng(0)
    found = []
    for _ in range(SAMPLES):
        drawn = rng.integers(len(scores), size=len(scores))
        own = {}
        if by != "all":
            own[by] = np.concatenate([groups[by][i] for i in drawn]).tolist()
        sets = HeadSets.calibrated(np.concatenate([scores[i] for i in drawn]), own, 1, False)
        at = sets.at(level, by)  # type: ignore[arg-type]
        other = rng.integers(len(on_test), size=len(on_test))
        values = np.concatenate([on_test[i] for i in other])
        least: Any = at.other
        if by != "all":
            names = np.concatenate([test_groups[by][i] for i in other]).tolist()
            least = np.array([at.of_group.get(name, at.other) for name in names])
        found.append(float((values >= least).mean()))
    return 100 * float(np.std(found))


def main() -> None:
    """Runs the treebanks that are not done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--treebanks", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=TREEBANKS)
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    for name in given.only:
        path = given.output / f"{name}.json"
        if not path.exists():
            figures = measure(given.treebanks / name, given.passes)
            path.write_text(json.dumps(figures, indent=1) + "\n")
    for path in sorted(given.output.glob("*.json")):
        report(path.stem, json.loads(path.read_text()))


def report(name: str, figures: dict[str, Any]) -> None:
    """Prints the figures of a treebank."""
    print(f"\n{name}: UAS {figures['uas']:.2f}, calibrated on {figures['calibration']}")
    print("by        level  coverage  error  mean size  single heads %")
    for one in figures["sets"]:
        print(
            f"{one['by']:9} {one['level']:5}  {one['coverage']:8.2f} {one['error']:6.2f} "
            f"{one['mean_size']:10.2f} {one['single']:15.1f}"
        )
    for one in figures["shuffled"]:
        print(f"shuffled  {one['level']:5}  {one['coverage']:8.2f} {one['deviation']:6.2f}")


if __name__ == "__main__":
    main()
