from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from arbora import ArgumentError
from arbora.drawing import draw_reliability, reliability_text
from arbora.evaluation import calibration


@pytest.fixture
def honest(rng):
    p = rng.random(5_000)
    return calibration(p, rng.random(5_000) < p, bins=10)


def test_bars_and_marks():
    """One overconfident and one underconfident bin: the mark is beyond the bar, and inside it."""
    answer = calibration([0.25, 0.75] * 4, [1, 1, 1, 0, 1, 1, 1, 1], bins=2)
    assert reliability_text(answer, width=8).splitlines() == [
        "predicted   right  0 % 100 %",
        "    25.00  100.00  ██┫█████",
        "    75.00   75.00  ██████┃",
        "┃ predicted   █ right   expected calibration error 37.50 %",
    ]


def test_text_at_the_ends_of_the_scale():
    text = reliability_text(calibration([0, 1], [0, 1], bins=2), width=10)
    assert "     0.00    0.00  ┃" in text
    assert "   100.00  100.00  █████████┫" in text


def test_lines_fit_a_terminal(honest):
    assert max(map(len, reliability_text(honest).splitlines())) <= 80


def test_diagram(honest):
    axes = draw_reliability(honest)
    drawn = axes.lines[-1]
    assert np.allclose(drawn.get_xdata(), [b.confidence for b in honest.bins])
    assert np.allclose(drawn.get_ydata(), [b.accuracy for b in honest.bins])
    picture = io.BytesIO()
    axes.figure.savefig(picture, format="png")
    assert picture.getvalue().startswith(b"\x89PNG")
    assert draw_reliability(honest, axes) is axes


def test_without_matplotlib(honest, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ArgumentError, match=r"arbora\[plot\]"):
        draw_reliability(honest)
