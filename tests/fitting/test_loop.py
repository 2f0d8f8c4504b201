"""The training loop: which pass is kept, and when training ends."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.fitting.loop import DevScores, LoopSettings, run_loop
from arbora.fitting.trainer import PassReport


class Counter:
    """A trainer whose only parameter is the number of its passes."""

    def __init__(self):
        self.passes = 0

    def run_pass(self, order, tick):
        self.passes += 1
        tick(len(order))
        return PassReport(0.0)

    def parameters(self):
        return {"passes": np.array([self.passes])}


def kept(scores, patience, passes=20):
    """The pass that is kept and the number of passes, for given scores on dev."""

    def evaluate(parameters):
        return DevScores(*scores[int(parameters["scorer.passes"][0]) - 1])

    settings = LoopSettings(passes, patience, 0)
    best, history = run_loop({"scorer": Counter()}, 3, evaluate, settings)
    assert best["scorer.passes"] == [history.best]
    return history.best, len(history.passes)


def test_the_first_of_the_best_passes_is_kept():
    """LAS decides, an equal score is no improvement, and patience counts passes without any."""
    scores = [(90.0, 70.0), (80.0, 75.0), (95.0, 75.0), (99.0, 74.0), (99.0, 80.0)]
    assert kept(scores, 2) == (2, 4)
    assert kept(scores, 3, passes=5) == (5, 5)


@pytest.mark.parametrize(("patience", "expected"), [(1, (2, 3)), (2, (4, 5))])
def test_uas_decides_without_labels(patience, expected):
    scores = [(70.0,), (72.0,), (71.0,), (73.0,), (60.0,)]
    assert kept(scores, patience, passes=5) == expected
