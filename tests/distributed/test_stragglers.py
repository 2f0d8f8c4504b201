"""The simulation of stragglers agrees with what can be computed by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.stragglers import Cluster, simulate

PLAIN = Cluster(words=1000.0, cores=4, speed=10.0, file_words=10.0, task_seconds=0.5,
                start_seconds=2.0)  # fmt: skip


def test_equal_files():
    found = simulate(PLAIN)  # 100 files of 1.5 s on 4 cores
    assert found.tasks == 100
    assert found.seconds == pytest.approx(2.0 + 25 * 1.5)
    assert found.useful == pytest.approx(100.0 / (4 * 39.5))
    assert (found.lost, found.losses) == (0.0, 0)
    assert found.waiting == 0.0
    assert simulate(replace(PLAIN, words=1010.0)).seconds == pytest.approx(2.0 + 26 * 1.5)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_scheduling_keeps_its_bounds(seed):
    """Graham: at most the mean load plus the longest file; no less than either of them."""
    cluster = replace(PLAIN, spread=1.0, task_seconds=0.0, start_seconds=0.0, seed=seed)
    sizes = np.random.default_rng(seed).lognormal(0.0, 1.0, 100)
    longest = sizes.max() / sizes.sum() * 100.0
    found = simulate(cluster)
    assert max(25.0, longest) <= found.seconds <= 25.0 + longest
    assert simulate(replace(cluster, longest_first=True)).seconds <= found.seconds


def test_slow_cores_take_fewer_files():
    cluster = replace(PLAIN, words=1e5, cores=100, task_seconds=0.0, start_seconds=0.0)
    fast = simulate(cluster).seconds
    slow = simulate(replace(cluster, slow_share=1.0)).seconds
    assert slow == pytest.approx(4 * fast)
    assert fast < simulate(replace(cluster, slow_share=0.1)).seconds < slow


def test_lost_work_has_the_expected_length():
    """A file of L seconds with losses at rate r takes (exp(r L) - 1) / r on average."""
    cluster = Cluster(
        words=20_000.0, cores=1, speed=1.0, file_words=1.0, task_seconds=0.0, start_seconds=0.0,
        hours_between_losses=1.0 / 3600.0, seed=3,
    )  # fmt: skip
    found = simulate(cluster)
    assert found.seconds / 20_000 == pytest.approx(np.e - 1.0, rel=0.03)
    assert found.useful + found.lost == pytest.approx(1.0)
    assert simulate(cluster) == found
