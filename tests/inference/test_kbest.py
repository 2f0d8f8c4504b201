"""Long lists of best trees; short ones are compared with enumeration elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from arbora.inference.tree_checks import in_class
from tests.helpers import cyclic_scores, random_scores


@pytest.mark.parametrize("make", [random_scores, cyclic_scores], ids=["random", "cyclic"])
def test_a_thousand_trees_of_forty_words(kind, root, make, rng):
    trees = kind(make(rng, 40), root)
    listed = trees.kbest(1000)
    scores = np.array([tree.score for tree in listed])
    heads = np.array([tree.heads for tree in listed])
    assert len(listed) == 1000
    assert (np.diff(scores) <= 0).all()
    assert len(np.unique(heads, axis=0)) == 1000
    assert in_class(heads.astype(np.int64), kind.trees, root).all()
    assert np.allclose(scores, trees.scores[heads, np.arange(1, 41)].sum(axis=1), atol=1e-11)
    assert listed[0] == trees.argmax()


def test_no_tree_outside_the_list_is_better(kind, root, rng):
    """Every draw that is not among the 200 best scores less than they do."""
    trees = kind(random_scores(rng, 12, 4.0), root)
    listed = trees.kbest(200)
    known = {tree.heads.tobytes() for tree in listed}
    for heads in trees.sample(3000, seed=1):
        if heads.tobytes() not in known:
            assert trees.scores[heads, np.arange(1, 13)].sum() <= listed[-1].score + 1e-12


LONG = """
import numpy, arbora
kind = {kind}
if {many}:
    trees = kind.batch([numpy.random.default_rng(i).normal(size=(801, 801)) for i in range(4)])
else:
    trees = kind(numpy.random.default_rng(0).normal(size=(801, 801)))
print("ready", flush=True)
try:
    trees.kbest(100_000)
except KeyboardInterrupt:
    print("interrupted", len(trees.argmax()) if {many} else trees.argmax().heads.size)
"""


@pytest.mark.skipif(os.name == "nt", reason="interrupts are sent differently there")
@pytest.mark.parametrize("many", [False, True])
def test_long_sentences_can_be_interrupted(kind, many):
    """The list would take hours; an interrupt ends the search, and the next question works."""
    code = LONG.format(kind=f"arbora.{kind.__name__}", many=many)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "ready\n"
            time.sleep(0.5)  # it is in the middle of it; if not yet, the test is only easier
            run.send_signal(signal.SIGINT)
            assert run.communicate(timeout=60)[0] == f"interrupted {4 if many else 800}\n"
        finally:
            run.kill()


def test_a_shorter_list_is_a_prefix(kind, root, rng):
    for n_labels in (None, 4):
        trees = kind(random_scores(rng, 8, 1.0, 0.2, n_labels), root)
        assert trees.kbest(5) == trees.kbest(60)[:5]
