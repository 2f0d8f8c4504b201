"""Ctrl-C ends a long search, however many threads are at it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import sys
import numpy as np
from arbora.inference.dual import decode_dual
from arbora.inference.packed_loopy import PackedLoopy
from arbora.scores import Scores

count, threads, solver = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
n_words = np.full(count, 60)
kinds = ("consecutive_siblings", "grandparents")
packed = Scores.over(rng.normal(size=count * 61 * 61), n_words, kinds, threads)
for table in packed.tables.values():
    table[:] = rng.normal(size=len(table))
print("ready", flush=True)
try:
    if solver == "bp":
        PackedLoopy(packed, iterations=10**6, threads=threads).sums()
    else:
        decode_dual(packed, max_iterations=2**31 - 1, solver=solver, threads=threads)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent there")
@pytest.mark.parametrize(
    ("count", "threads", "solver"),
    [
        (1, 1, "subgradient"),
        (2, 2, "subgradient"),
        (1, 1, "ad3"),
        (1, 1, "exact"),
        (1, 1, "bp"),
        (2, 2, "bp"),
    ],
)
def test_a_signal_ends_the_search(count, threads, solver):
    command = [sys.executable, "-c", PROGRAM, str(count), str(threads), solver]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        sent = time.perf_counter()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        took = time.perf_counter() - sent
        assert process.wait() == 0
    assert took < 2.0  # about 0.05 s; machines under load get slack
