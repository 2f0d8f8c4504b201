"""Inner products against exact sums."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import arbora.fitting
from arbora.fitting.dot import dot


@pytest.mark.parametrize("length", [0, 1, 7, 8, 129, 10_000, 300_001])
def test_vectors(length, rng):
    a, b = rng.normal(size=(2, length))
    exact = math.fsum((a * b).tolist())
    assert dot(a, b) == pytest.approx(exact, abs=1e-12 * max(1.0, math.fsum(np.abs(a * b))))


def test_rows(rng):
    rows, vector = rng.normal(size=(5, 1000)), rng.normal(size=1000)
    assert [dot(row, vector) for row in rows] == dot(rows, vector).tolist()
    columns, weights = rows.T, rng.normal(size=5)
    assert [dot(column, weights) for column in columns] == dot(columns, weights).tolist()


def test_learners_leave_blas_alone():
    """In BLAS, sums of long vectors depend on the number of threads."""
    for path in Path(arbora.fitting.__file__).parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert " @ " not in text, path.name
        assert "np.dot" not in text, path.name
