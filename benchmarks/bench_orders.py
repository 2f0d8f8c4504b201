"""Speed of labelled parsing with first and higher orders, and of exact second-order sums.

    python benchmarks/bench_orders.py --treebank DIR     # a folder with train, dev and test files

Times include reading the file, features, pruning, parts, trees, labels and writing. The orders are
measured in turns, on one and two threads. Models are trained for two passes and kept (`--memory`);
models with more passes are not slower.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from bench_parser import Parse, arbora_parse, find
from timing import interleaved, ratio, wall_and_processor

import arbora
from arbora.data.treebank import read_treebank
from arbora.inference.packed_second_order import PackedSecondOrder
from arbora.models.decoding import Decoder

GOALS = {"sibling": 15_000, "grandsibling": 8_000}
ORDERS = ("first", *GOALS)


def model_of(folder: Path, memory: Path, order: str, **options: Any) -> Path:
    """The file of a model, trained now or earlier."""
    chosen = "".join(f"-{value}" for value in options.values())
    path = memory / f"speed-{folder.name}-{order}{chosen}.arbora"
    if not path.exists():
        memory.mkdir(parents=True, exist_ok=True)
        parser = arbora.Parser(passes=2, order=order, **options)  # type: ignore[arg-type]
        parser.fit(find(folder, "train"), find(folder, "dev")).save(path)
    return path


def parsing(folder: Path, memory: Path, rounds: int) -> None:
    test, output = find(folder, "test"), memory / "parsed.conllu"
    candidates: dict[tuple[str, int], Parse] = {}
    for order in ORDERS:
        model = model_of(folder, memory, order)
        for threads in (1, 2):
            candidates[order, threads] = arbora_parse(model, test, threads, output)
    words, times, busy = wall_and_processor(candidates, rounds)
    output.unlink()
    print(f"Labelled parsing of {words} words, words per second: best and median of {rounds}")
    print("In parentheses: median words per second of processor time, for shared machines")
    for (order, threads), seconds in times.items():
        best, middle = words / min(seconds), words / float(np.median(seconds))
        of_cpu = f"({words / float(np.median(busy[order, threads])):.0f})"
        goal = f"   goal {GOALS[order]}" if threads == 1 and order in GOALS else ""
        gain = float(np.median(np.array(times[order, 1]) / np.array(seconds)))
        scaling = "" if threads == 1 else f"   {gain:.2f}x"
        figures = f"{best:9.0f} {middle:9.0f} {of_cpu:>9}"
        print(f"  {order:14} {threads} thread(s) {figures}{goal}{scaling}")


def exact_sums(folder: Path, memory: Path, rounds: int) -> None:
    """Exact marginals of projective trees with grandsiblings, on one and two threads."""
    model = arbora.load(
        model_of(folder, memory, "grandsibling", trees="projective", inference="exact"), threads=1
    ).model
    block = read_treebank(list(arbora.read_conllu(find(folder, "test"))))
    encoded = model.encoder.encode(block)
    scores = Decoder(model, 1).score(encoded, np.arange(len(block))).scores
    one, two = (PackedSecondOrder(scores, model.root, threads) for threads in (1, 2))
    questions = {"marginals": "sums", "best trees": "argmax"}
    print(f"Exact projective grandsiblings, {len(block)} sentences, sentences per second")
    for name, method in questions.items():
        times = interleaved({"one": getattr(one, method), "two": getattr(two, method)}, rounds)
        rates = [len(block) / float(np.median(times[which])) for which in ("one", "two")]
        gain = ratio(times, "one", "two")
        print(f"  {name:14} {rates[0]:9.0f}   two threads {rates[1]:9.0f}   {gain:.2f}x")


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--treebank", type=Path, required=True)
    arguments.add_argument("--memory", type=Path, default=Path("build/experiments"))
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--only", choices=("parsing", "sums"))
    chosen = arguments.parse_args()
    if chosen.only != "sums":
        parsing(chosen.treebank, chosen.memory, chosen.rounds)
    if chosen.only != "parsing":
        exact_sums(chosen.treebank, chosen.memory, chosen.rounds)


if __name__ == "__main__":
    main()
