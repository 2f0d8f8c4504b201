"""Speed of two installations of Arbora, in one interleaved run.

python benchmarks/against.py OLD_PYTHON NEW_PYTHON --text FILE --model MODEL [--model MODEL ...]

OLD_PYTHON and NEW_PYTHON are interpreters of environments with Arbora. Both processes load the same
model files, run in turns, and report processor time. Ratios are new / old, so values below 1 mean
that the new one is faster. The jobs are reading, parsing with and without probabilities, and belief
propagation on random scores.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
from pathlib import Path

WORKER = r"""
import os, sys, time
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import arbora
from arbora.data import read_blocks
from arbora.inference import LoopyTrees
try:
    from arbora.options import ParseOptions
except ImportError:
    from arbora.parsers import ParseOptions

text, models = sys.argv[1], sys.argv[2:]
jobs = {"read": lambda: [len(chunk.block) for chunk in read_blocks(text)]}


def parsing(model, probabilities):
    parser = arbora.load(model, threads=1)
    options = ParseOptions(probabilities=probabilities)
    if hasattr(parser, "stage"):
        stage = parser.stage(options)
        return lambda: [stage(chunk.block).size for chunk in parser.chunks(text, options)]
    parsed = parser.parse_blocks  # of an older installation
    return lambda: [block.to_bytes(probabilities) for block, _ in parsed(text, options)]


for number, model in enumerate(models):
    jobs[f"parse {number}"] = parsing(model, False)
    jobs[f"parse {number} with probabilities"] = parsing(model, True)

rng = np.random.default_rng(0)
n, parts = 25, []
for _ in range(40):
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[rng.random(arcs.shape) < 0.7] = -np.inf
    arcs[np.arange(n), np.arange(1, n + 1)] = 0.0
    kept = np.argwhere(np.isfinite(arcs))
    kept = kept[(kept[:, 1] > 0) & (kept[:, 0] != kept[:, 1])]
    rows = [(g, h, m) for g, h in kept for k, m in kept if k == h and m != g]
    parts.append(arbora.Parts(arcs, grandparents=(rows, rng.normal(size=len(rows)))))


def beliefs():
    for one in parts:
        trees = LoopyTrees(one)
        trees.vjp(trees.marginals)


jobs["belief propagation"] = beliefs
for job in jobs.values():
    job()
print("\t".join(jobs), flush=True)
for line in sys.stdin:
    started = time.process_time()
    jobs[line.strip()]()
    print(time.process_time() - started, flush=True)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--text", required=True, type=Path)
    parser.add_argument("--model", action="append", default=[], dest="models")
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    workers = [
        subprocess.Popen(
            [python, "-c", WORKER, str(chosen.text), *chosen.models],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for python in (chosen.old, chosen.new)
    ]  # fmt: skip
    names = ask(workers[0]).split("\t")
    ask(workers[1])
    print(f"{'':<34}{'old ms':>10}{'new ms':>10}{'median':>9}{'best':>8}")
    for name in names:
        old, new = times(workers, name, chosen.rounds)
        ratio = statistics.median(b / a for a, b in zip(old, new, strict=True))
        print(
            f"{name:<34}{1e3 * statistics.median(old):>10.1f}{1e3 * statistics.median(new):>10.1f}"
            f"{ratio:>9.3f}{min(new) / min(old):>8.3f}",
            flush=True,
        )
    for worker in workers:
        worker.communicate()


def times(
    workers: list[subprocess.Popen[str]], name: str, rounds: int
) -> tuple[list[float], list[float]]:
    """Seconds of the old and the new installation, measured in turns."""
    found: tuple[list[float], list[float]] = ([], [])
    for i in range(rounds):
        for turn in ((0, 1), (1, 0))[i % 2]:
            found[turn].append(float(ask(workers[turn], name)))
    return found


def ask(worker: subprocess.Popen[str], name: str | None = None) -> str:
    assert worker.stdin is not None
    assert worker.stdout is not None
    if name is not None:
        worker.stdin.write(name + "\n")
        worker.stdin.flush()
    return worker.stdout.readline().strip()


if __name__ == "__main__":
    main()
