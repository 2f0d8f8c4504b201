"""Speed of parsers with belief propagation, including features.

    python benchmarks/bench_beliefs.py --treebank DIR     # a folder with train, dev and test files

Measures labelled parsing with 4 iterations, compared with dual decomposition and the exact chart on
the same model, and training in sentences per second, compared with parsing the same sentences. Uses
one thread. Models are trained for two passes and kept (`--memory`).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from bench_orders import model_of
from bench_parser import arbora_parse, find
from timing import wall_and_processor

import arbora
from arbora.models.model_file import write_model
from arbora.options import ParserOptions

LEARNERS = {"surrogate likelihood": "loglinear", "l2": "l2"}
SENTENCES = 2000  # of training, of which passes are timed


class Clock:
    """Records when training passes begin and end."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def begin(self, total: int, passes: int) -> None:  # noqa: ARG002
        self.started = time.perf_counter()

    def tick(self, count: int) -> None:  # noqa: ARG002
        self.now = time.perf_counter()

    def end_pass(self, record: object, is_best: bool) -> None:  # noqa: ARG002
        # Up to the last training sentence, without the evaluation on dev.
        self.seconds.append(self.now - self.started)
        self.started = time.perf_counter()


def rates(candidates: dict[str, Callable[[], int]], rounds: int) -> None:
    """Best and median words per second, and the median by processor time, measured in turns."""
    count, wall, busy = wall_and_processor(candidates, rounds)
    print("Labelled parsing, words per second: best, median, median by processor time")
    for name in candidates:
        seconds = (min(wall[name]), float(np.median(wall[name])), float(np.median(busy[name])))
        print(f"  {name:32}" + "".join(f"{count / value:10.0f}" for value in seconds))


def parsing(folder: Path, memory: Path, rounds: int) -> None:
    test, output = find(folder, "test"), memory / "parsed.conllu"
    pairs = model_of(folder, memory, "grandsibling", inference="bp")
    candidates = {"beliefs, pairs": arbora_parse(pairs, test, 1, output)}
    automata = model_of(
        folder, memory, "grandsibling", inference="bp", factors="automata", trees="projective"
    )
    model = arbora.load(automata).model
    for inference in ("bp", "dual", "exact"):
        decode = "map" if inference == "dual" else "mbr"
        chosen = {"inference": inference, "training_inference": "bp", "decode": decode}
        options = ParserOptions.from_keywords(chosen, model.options.keywords())
        path = memory / f"speed-{folder.name}-same-{inference}.arbora"
        write_model(replace(model, options=options), path)
        candidates[f"one projective model, {inference}"] = arbora_parse(path, test, 1, output)
    rates(candidates, rounds)
    output.unlink()


def training(folder: Path, rounds: int) -> None:
    some = list(arbora.read_conllu(find(folder, "train")))[:SENTENCES]
    few = list(arbora.read_conllu(find(folder, "dev")))[:20]
    print(f"Training on {len(some)} sentences, grandsiblings by pairs: sentences per second, best")
    for name, learner in LEARNERS.items():
        best, parse = np.inf, np.inf
        for _ in range(rounds):
            clock = Clock()
            parser = arbora.Parser(
                order="grandsibling", inference="bp", learner=learner, labels="none", passes=2,
                threads=1,
            )  # fmt: skip
            parser.fit(some, few, observer=clock)
            best = min(best, *clock.seconds[-2:])
            started = time.perf_counter()
            parser.parse(some)
            parse = min(parse, time.perf_counter() - started)
        figures = f"{len(some) / best:7.0f}   parsing them {len(some) / parse:7.0f}"
        print(f"  {name:22} {figures}   ({best / parse:.2f} times as long)", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--treebank", type=Path, required=True)
    arguments.add_argument("--memory", type=Path, default=Path("build/experiments"))
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--only", choices=("parsing", "training"))
    chosen = arguments.parse_args()
    if chosen.only != "training":
        parsing(chosen.treebank, chosen.memory, chosen.rounds)
    if chosen.only != "parsing":
        training(chosen.treebank, min(chosen.rounds, 3))


if __name__ == "__main__":
    main()
