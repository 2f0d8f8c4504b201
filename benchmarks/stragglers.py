"""A simulation of many files on many cores: slow cores, files of different sizes, lost workers.

    python benchmarks/stragglers.py --words 1e9 --cores 100 --speed 30000
    python benchmarks/stragglers.py --table             # the table of docs/scale.md

A free core takes the next file. The time of a file is its words over the core's speed, plus what a
task costs. Some cores are slow. A worker is lost at random; its file starts again on a new worker,
after a pause. Nothing is started twice on purpose, as in `arbora parse --ray`.
"""

from __future__ import annotations

import argparse
import heapq
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Cluster:
    """What is simulated; times are in seconds."""

    words: float = 1e9
    cores: int = 100
    speed: float = 30_000.0  # words per core-second
    file_words: float = 1e6  # on average
    spread: float = 0.0  # of the sizes of files: sigma of a log-normal distribution
    longest_first: bool = False
    task_seconds: float = 0.05  # what a file costs besides its words
    start_seconds: float = 10.0  # the cluster, and a new worker with its model
    slow_share: float = 0.0  # of the cores
    slow_factor: float = 4.0
    hours_between_losses: float = float("inf")  # of one core
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """Seconds until the last file is done, and where the cores' time went, as shares."""

    seconds: float
    useful: float
    lost: float
    waiting: float
    tasks: int
    losses: int


def simulate(cluster: Cluster) -> Outcome:
    """Runs all files; the same settings give the same outcome."""
    rng = np.random.default_rng(cluster.seed)
    tasks = max(1, round(cluster.words / cluster.file_words))
    sizes = rng.lognormal(0.0, cluster.spread, tasks)
    sizes *= cluster.words / sizes.sum()
    if cluster.longest_first:
        sizes = np.sort(sizes)[::-1]
    slow = rng.random(cluster.cores) < cluster.slow_share
    speed = np.where(slow, cluster.speed / cluster.slow_factor, cluster.speed)
    life = cluster.hours_between_losses * 3600.0
    free = [(cluster.start_seconds, core) for core in range(cluster.cores)]
    heapq.heapify(free)
    useful = lost = end = 0.0
    losses = 0
    for size in sizes.tolist():
        now, core = heapq.heappop(free)
        needed = size / float(speed[core]) + cluster.task_seconds
        while (survived := float(rng.exponential(life)) if np.isfinite(life) else needed) < needed:
            now += survived + cluster.start_seconds
            lost += survived + cluster.start_seconds
            losses += 1
        now += needed
        useful += size / cluster.speed
        end = max(end, now)
        heapq.heappush(free, (now, core))
    whole = end * cluster.cores
    waiting = sum(end - now for now, _ in free)
    return Outcome(end, useful / whole, lost / whole, waiting / whole, tasks, losses)


def table(speed: float) -> None:
    """What each kind of trouble costs, for a billion words and for a trillion."""
    small = Cluster(speed=speed)
    large = replace(small, words=1e12, cores=10_000)
    kinds = {
        "equal files, no trouble": {},
        "sizes differ (log-normal, sigma 1)": {"spread": 1.0},
        "the same, longest first": {"spread": 1.0, "longest_first": True},
        "5 % of the cores 4 times slower": {"slow_share": 0.05},
        "a core is lost every 24 h": {"hours_between_losses": 24.0},
        "a core is lost every hour": {"hours_between_losses": 1.0},
        "all three (sigma 1, 5 % slow, 24 h), longest first": {
            "spread": 1.0, "longest_first": True, "slow_share": 0.05, "hours_between_losses": 24.0,
        },
        "the same with files of 10 million words": {
            "spread": 1.0, "longest_first": True, "slow_share": 0.05, "hours_between_losses": 24.0,
            "file_words": 1e7,
        },
    }  # fmt: skip
    print("| | 10⁹ words, 100 cores | useful | 10¹² words, 10,000 cores | useful |")
    print("| --- | --- | --- | --- | --- |")
    for name, changes in kinds.items():
        cells = []
        for cluster in (small, large):
            found = simulate(replace(cluster, **changes))  # type: ignore[arg-type]
            cells += [f"{found.seconds / 60:,.1f} min", f"{found.useful:.0%}"]
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--table", action="store_true", help="print the table of the page")
    plain = Cluster()
    for name in Cluster.__dataclass_fields__:
        value = getattr(plain, name)
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=type(value), default=value)
    given = vars(parser.parse_args())
    if given.pop("table"):
        table(given["speed"])
        return
    found = simulate(Cluster(**given))
    print(
        f"{found.seconds / 3600:,.2f} h for {found.tasks:,} files: {found.useful:.1%} of the "
        f"cores' time is useful, {found.lost:.1%} lost with {found.losses:,} workers, "
        f"{found.waiting:.1%} waiting for the last file."
    )


if __name__ == "__main__":
    main()
