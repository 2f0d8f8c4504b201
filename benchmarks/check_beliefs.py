"""Comparison of belief propagation with enumeration in the log domain, at every scale of scores.

    python benchmarks/check_beliefs.py --graphs 20000

Half of the random graphs are sentences (`LoopyTrees`), half are factor graphs with hard constraints
(`FactorGraph`), with scores of 1 to 10,000. Both sides use the same schedule and number of
iterations.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from arbora.testing import RandomFactorGraph, RandomSentence

LARGEST_ERROR = 1e-6


def check(kind: type[RandomSentence] | type[RandomFactorGraph], count: int, seed: int) -> int:
    """Prints a line for every scale and every wrong graph; returns the number of wrong graphs."""
    rng = np.random.default_rng(seed)
    errors: dict[int, list[float]] = {}
    start = time.perf_counter()
    for i in range(count):
        graph = kind.draw(rng)
        error = graph.error()
        errors.setdefault(int(np.log10(graph.scale)), []).append(error)
        if not error <= LARGEST_ERROR:
            print(f"{kind.__name__} {i} of seed {seed} is wrong by {error:.1e}: {graph}")
    wrong = 0
    for power, found in sorted(errors.items()):
        bad = sum(not error <= LARGEST_ERROR for error in found)
        wrong += bad
        print(f"{kind.__name__}, scores from 1e{power} to 1e{power + 1}: {len(found)} graphs, "
              f"{bad} wrong, largest error {max(found):.1e}")  # fmt: skip
    print(f"{time.perf_counter() - start:.0f} s", flush=True)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    kinds = (RandomSentence, RandomFactorGraph)
    wrong = sum(check(kind, arguments.graphs // 2, arguments.seed) for kind in kinds)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
