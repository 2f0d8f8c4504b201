"""Ctrl-C ends whatever takes long, however many threads are at it."""

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


# Questions that take many seconds, each with what it is asked of.
QUESTIONS = {
    "sums": ("SpanningTrees(normal(4001, 4001))", "it.log_partition"),
    "sums in wide numbers": ("SpanningTrees(1000 * normal(4001, 4001))", "it.marginals"),
    "projective sums": ("ProjectiveTrees(normal(2001, 2001))", "it.marginals"),
    "gradients": ("SpanningTrees(normal(2501, 2501))", "it.vjp(np.ones((2501, 2501)))"),
    "projective gradients": ("ProjectiveTrees(normal(1501, 1501))", "it.vjp(np.eye(1501))"),
    "sums over labels": ("SpanningTrees(normal(1501, 1501, 20))", "it.marginals"),
    "margins": ("SpanningTrees(normal(501, 501))", "it.arc_margins()"),
    "projective margins": ("ProjectiveTrees(normal(2501, 2501))", "it.arc_margins()"),
    "best projective tree": ("ProjectiveTrees(normal(4001, 4001))", "it.argmax()"),
    "samples": ("SpanningTrees(normal(301, 301))", "it.sample(200_000)"),
    "projective samples": ("ProjectiveTrees(normal(301, 301))", "it.sample(500_000)"),
    "labelled samples": ("SpanningTrees(normal(41, 41, 40))", "it.sample(500_000)"),
    "batches": ("SpanningTrees.batch(normal(5000, 81, 81))", "[it.arc_margins() for _ in '..']"),
    "second-order lists": ("second_order(40)", "it.kbest(1_000_000)"),
    "second-order samples": ("second_order(40)", "it.sample(2_000_000)"),
    "second-order sums": ("second_order(80)", "[it.entropy() for _ in range(20)]"),
    "mixtures": ("Mixture([SpanningTrees(normal(301, 301))])", "it.sample(200_000)"),
    "derivations": (
        "Hypergraph(np.repeat(np.arange(20), 3), np.repeat(np.arange(-1, 19), 6).reshape(60, 2))"
        ".derivations(np.zeros(60))",
        "it.sample(10_000)",
    ),
}

QUESTION = """
import numpy as np
from arbora import Hypergraph, Mixture, Parts, ProjectiveTrees, SecondOrderTrees, SpanningTrees

def normal(*shape):
    return np.random.default_rng(0).normal(size=shape)

def second_order(n):
    words = np.arange(1, n + 1)
    rows = np.stack(np.meshgrid(np.arange(n + 1), words, words), -1).reshape(-1, 3)
    g, h, m = rows.T
    rows = rows[(g != h) & (h != m) & (g != m)]
    return SecondOrderTrees(Parts(normal(n + 1, n + 1), grandparents=(rows, normal(len(rows)))))

it = {it}
print("ready", flush=True)
try:
    {question}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def seconds_to_end(program, *arguments):
    """How long a program goes on after a signal that comes in the middle of its work."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.25)
        sent = time.perf_counter()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        took = time.perf_counter() - sent
        assert process.wait() == 0
    return took


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent there")
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_signal_ends_a_question(name):
    it, question = QUESTIONS[name]
    took = seconds_to_end(QUESTION.format(it=it, question=question))
    assert took < 2.0  # about 0.05 s; slack as below


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
    took = seconds_to_end(PROGRAM, count, threads, solver)
    assert took < 2.0  # about 0.05 s; machines under load get slack
