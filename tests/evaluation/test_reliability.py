"""Calibration on data with known results."""

from __future__ import annotations

import json

import numpy as np
import pytest

from arbora import ArgumentError, ShapeError
from arbora.evaluation import calibration


def test_by_hand():
    """Two bins of two: means .15 and .8, one of two right in each."""
    answer = calibration([0.7, 0.1, 0.9, 0.2], [True, False, False, True], bins=2)
    assert [b.count for b in answer.bins] == [2, 2]
    assert [b.confidence for b in answer.bins] == pytest.approx([0.15, 0.8])
    assert [b.accuracy for b in answer.bins] == [0.5, 0.5]
    assert (answer.bins[1].low, answer.bins[1].high) == (0.7, 0.9)
    assert answer.ece == pytest.approx((0.35 + 0.3) / 2)
    assert answer.worst == pytest.approx(0.35)
    assert (answer.count, answer.accuracy) == (4, 0.5)


def test_bins_have_equal_mass(rng):
    answer = calibration(rng.random(1_003), rng.random(1_003) < 0.5)
    counts = [b.count for b in answer.bins]
    assert len(counts) == 15
    assert sum(counts) == 1_003
    assert max(counts) - min(counts) <= 1


def test_honest_probabilities_have_a_small_error(rng):
    p = rng.random(200_000)
    assert calibration(p, rng.random(200_000) < p).ece < 0.01  # noise of a bin's mean is 0.004
    assert calibration(p, rng.random(200_000) < p**2).ece == pytest.approx(1 / 6, abs=0.01)


def test_the_order_of_ties_does_not_matter(rng):
    """Many predictions are certain, and some of those are wrong."""
    p = np.repeat([0.4, 1.0], [100, 900])
    right = rng.random(1_000) < 0.8
    first = calibration(p, right)
    for _ in range(5):
        order = rng.permutation(1_000)
        again = calibration(p[order], right[order])
        assert again.ece == pytest.approx(first.ece, abs=1e-12)


def test_fewer_predictions_than_bins():
    answer = calibration([0.5], [1])
    assert len(answer.bins) == 1
    assert answer.ece == 0.5


def test_rounding_is_forgiven():
    assert calibration([1 + 1e-12, -1e-12], [1, 0]).ece == 0


@pytest.mark.parametrize(
    ("p", "right", "bins", "error", "message"),
    [
        ([0.5], [1, 0], 15, ShapeError, "equally long"),
        ([[0.5]], [[1]], 15, ShapeError, "one-dimensional"),
        ([], [], 15, ArgumentError, "no predictions"),
        ([0.5], [1], 0, ArgumentError, "at least 1"),
        ([0.5, float("nan")], [1, 0], 15, ArgumentError, "prediction 1 has probability nan"),
        ([0.5, 1.5], [1, 0], 15, ArgumentError, "prediction 1 has probability 1.5"),
        ([0.5], [0.3], 15, ArgumentError, "true or false"),
    ],
)
def test_refusals(p, right, bins, error, message):
    with pytest.raises(error, match=message):
        calibration(p, right, bins)


def test_plain_values_and_text():
    answer = calibration([0.7, 0.1, 0.9, 0.2], [True, False, False, True], bins=2)
    plain = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert plain["bins"][0]["accuracy"] == 0.5
    assert "expected calibration error 32.50 %" in str(answer)
