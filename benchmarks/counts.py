"""Counts of patterns against gold: do intervals hold the gold count, are expected counts better?

python benchmarks/counts.py TREEBANKS [NAME ...] --models DIR [--out FILE]

For each treebank, a first-order parser is trained on train and dev (once; its model is kept in DIR,
so that an interrupted run continues). 20 patterns come from the training data, by frequency: 8
labels, 6 labels with a lemma, 6 of two arcs. The test file is the corpus, of which a third of the
sentences is the gold sample; counts are those of the other sentences, none of which was used in
training. Tags and lemmas are those of the treebank.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from arbora import Parser, load, read_conllu
from arbora.corpus.estimator import Estimator, Rows, count_annotated
from arbora.corpus.pattern import Pattern
from arbora.corpus.pattern_parser import read_pattern
from arbora.corpus.statistics import Bias, Figures, estimate_bias, interval
from arbora.data.treebank import read_treebank

TREEBANKS = (
    "ud_swedish_lines", "ud_greek_gdt", "ud_turkish_imst", "ud_gothic_proiel",
    "ud_slovenian_ssj_resplit",
)  # fmt: skip
LEVEL = 0.9
DRAWS = 16
SAMPLE = 3  # one of so many sentences is in the gold sample


def patterns_of(train: Path) -> list[tuple[str, str]]:
    """Kinds and texts of 20 patterns, the most frequent ones of the training data."""
    labels: Counter[str] = Counter()
    heads: Counter[tuple[str, str]] = Counter()
    modifiers: Counter[tuple[str, str]] = Counter()
    chains: Counter[tuple[str, str]] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for sentence in read_conllu(train):
        names, lemmas, above = sentence.labels, sentence.lemmas, sentence.heads.tolist()
        below: dict[int, list[str]] = {}
        for word, head in enumerate(above):
            label = names[word]
            if label in ("punct", "root") or head == 0:
                continue
            labels[label] += 1
            heads[label, lemmas[head - 1]] += 1
            modifiers[label, lemmas[word]] += 1
            if above[head - 1] != 0 and names[head - 1] != "punct":
                chains[names[head - 1], label] += 1
            for other in below.setdefault(head, []):
                if other != label:
                    first, second = sorted((other, label))
                    pairs[first, second] += 1
            below[head].append(label)
    quoted = [("label", f'[] -"{label}"-> []') for label, _ in labels.most_common(8)]
    quoted += [
        ("lemma", f'[lemma="{lemma}"] -"{label}"-> []') for label, lemma in _distinct(heads, 3)
    ]
    quoted += [
        ("lemma", f'[] -"{label}"-> [lemma="{lemma}"]') for label, lemma in _distinct(modifiers, 3)
    ]
    quoted += [
        ("two arcs", f'[] -"{first}"-> [] -"{second}"-> []')
        for (first, second), _ in chains.most_common(3)
    ]
    quoted += [
        ("two arcs", f'[] <-"{first}"- [] -"{second}"-> []')
        for (first, second), _ in pairs.most_common(3)
    ]
    return quoted


def _distinct(counts: Counter[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """The most frequent pairs with different labels."""
    found: dict[str, str] = {}
    for (label, lemma), _ in counts.most_common():
        if label not in found and lemma != "_":
            found[label] = lemma
        if len(found) == most:
            break
    return list(found.items())


def model_of(folder: Path, models: Path) -> Parser:
    """The parser of a treebank, trained now or before."""
    path = models / f"{folder.name}.arbora"
    if not path.exists():
        models.mkdir(parents=True, exist_ok=True)
        parser = Parser(passes=5, threads=1)
        parser.fit(folder / "train.conllu", dev=folder / "dev.conllu").save(path)
    return load(path, threads=1)


def per_sentence(rows: Rows, count: int) -> dict[str, np.ndarray]:
    """The figures of all sentences, also of those without a row."""
    return {
        name: np.bincount(rows.sentences, weights=getattr(rows, name), minlength=count)
        for name in ("expected", "variance", "noise", "best")
    }


def measure(parser: Parser, pattern: Pattern, test: Path) -> dict[str, Any]:
    """Counts and intervals of one pattern."""
    block = read_treebank(test)
    began = time.process_time()
    estimate = Estimator(parser.decoder(), pattern, draws=DRAWS)
    found = per_sentence(estimate(block, 0), len(block))
    seconds = time.process_time() - began
    gold = per_sentence(count_annotated(pattern, block), len(block))["best"]
    sampled = np.random.default_rng(0).permutation(len(block)) % SAMPLE == 0
    rest = ~sampled
    total = Figures(*(float(found[name][rest].sum()) for name in found))
    bias = estimate_bias(gold[sampled], found["expected"][sampled], found["variance"][sampled])
    _, alone = interval(total, LEVEL)
    corrected, checked = interval(total, LEVEL, bias)
    best = Bias(float((gold[sampled].sum() + 1) / (found["best"][sampled].sum() + 1)))
    return {
        "pattern": re.sub(r'lemma="[^"]*"', "lemma=...", pattern.text),
        "gold": float(gold[rest].sum()), "expected": total.expected,
        "best": total.best, "best_corrected": total.best * best.ratio, "corrected": corrected,
        "interval": alone, "interval_with_gold": checked, "ratio": bias.ratio,
        "dispersion": bias.dispersion, "seconds": seconds,
    }  # fmt: skip


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Coverage and mean absolute errors."""
    gold = np.array([row["gold"] for row in rows])

    def held(name: str) -> float:
        return float(np.mean([row[name][0] <= row["gold"] <= row[name][1] for row in rows]))

    def error(name: str) -> float:
        return float(np.abs(np.array([row[name] for row in rows]) - gold).mean())

    def width(name: str) -> float:
        return float(np.mean([(row[name][1] - row[name][0]) / max(row["gold"], 1) for row in rows]))

    return {
        "patterns": len(rows), "coverage": held("interval"),
        "coverage_with_gold": held("interval_with_gold"), "error_best": error("best"),
        "error_expected": error("expected"), "error_best_corrected": error("best_corrected"),
        "error_corrected": error("corrected"),
        "ratio_of_errors": error("expected") / max(error("best"), 1e-9),
        "width": width("interval"), "width_with_gold": width("interval_with_gold"),
    }  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("treebanks", type=Path)
    options.add_argument("names", nargs="*", default=TREEBANKS)
    options.add_argument("--models", type=Path, required=True)
    options.add_argument("--out", type=Path)
    options.add_argument("--verbose", action="store_true")
    given = options.parse_args()
    rows: list[dict[str, Any]] = []
    for name in given.names:
        folder = given.treebanks / name
        parser = model_of(folder, given.models)
        own = []
        for kind, text in patterns_of(folder / "train.conllu"):
            row = measure(parser, read_pattern(text), folder / "test.conllu")
            own.append({"treebank": name, "kind": kind} | row)
            if given.verbose:
                print(json.dumps(own[-1], ensure_ascii=False), flush=True)
        print(name, _line(summary(own)), flush=True)
        rows += own
    for kind in ("label", "lemma", "two arcs"):
        print(kind, _line(summary([row for row in rows if row["kind"] == kind])))
    print("all", _line(summary(rows)))
    if given.out is not None:
        answer = {"level": LEVEL, "draws": DRAWS, "summary": summary(rows), "rows": rows}
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n")


def _line(figures: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in figures.items())


if __name__ == "__main__":
    main()
