"""Timing on a noisy machine: candidates run in turns, and ratios are computed within a round."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

Candidate = Callable[[], object]
Name = TypeVar("Name")


def interleaved(
    candidates: dict[str, Candidate],
    rounds: int = 9,
    at_least: float = 0.02,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, np.ndarray]:
    """Seconds per call of each candidate in each round; a turn lasts about `at_least` seconds.

    `time.process_time` as the clock leaves out what other programs take of the core.
    """
    calls = {name: _calls_for(run, at_least) for name, run in candidates.items()}
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    names = list(candidates)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start = clock()
            for _ in range(calls[name]):
                candidates[name]()
            seconds[name].append((clock() - start) / calls[name])
    return {name: np.array(times) for name, times in seconds.items()}


def wall_and_processor(
    candidates: dict[Name, Callable[[], int]], rounds: int
) -> tuple[int, dict[Name, list[float]], dict[Name, list[float]]]:
    """The count that the last run returned, and the wall and processor seconds of each run.

    For long runs: candidates run in turns, once per round.
    """
    wall: dict[Name, list[float]] = {name: [] for name in candidates}
    busy: dict[Name, list[float]] = {name: [] for name in candidates}
    count = 0
    for _ in range(rounds):
        for name, run in candidates.items():
            started, cpu = time.perf_counter(), time.process_time()
            count = run()
            wall[name].append(time.perf_counter() - started)
            busy[name].append(time.process_time() - cpu)
    return count, wall, busy


def ratio(times: dict[str, np.ndarray], slow: str, fast: str) -> float:
    """The speed ratio of `fast` to `slow`: the median over rounds."""
    return float(np.median(times[slow] / times[fast]))


def _calls_for(run: Candidate, at_least: float) -> int:
    """The number of calls that take about `at_least` seconds; also warms up."""
    run()
    start = time.perf_counter()
    run()
    return max(1, int(at_least / max(time.perf_counter() - start, 1e-7)))
