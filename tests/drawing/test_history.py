"""Training curves."""

from __future__ import annotations

import pytest

from arbora import ArgumentError, FileError
from arbora.drawing import draw_history
from arbora.fitting.loop import History, PassRecord

pytest.importorskip("matplotlib")

PASSES = [
    PassRecord(1, 0.5, 80.0, 75.0, 1.0, {"gap": 3.0}),
    PassRecord(2, 0.3, 85.0, 80.0, 1.0, {"gap": 0.4}),
    PassRecord(3, 0.2, 84.0, 79.0, 1.0, {"gap": 0.1}),
]


def values(figure):
    """The curves by the titles of their panels."""
    return {
        axes.get_title(): [
            line.get_ydata().tolist() for line in axes.lines if len(line.get_xdata()) == 3
        ]
        for axes in figure.axes
    }


def test_draw_history(tmp_path):
    figure = draw_history(History(PASSES, 2), path=tmp_path / "course.svg")
    assert values(figure) == {
        "loss per word": [[0.5, 0.3, 0.2]],
        "duality gap": [[3.0, 0.4, 0.1]],
        "dev score in %, best in pass 2": [[80.0, 85.0, 84.0], [75.0, 80.0, 79.0]],
    }
    assert "<svg" in (tmp_path / "course.svg").read_text(encoding="utf-8")


def test_without_gap_labels_and_dev():
    plain = [PassRecord(n, 1.0 / n, 80.0 + n, None, 1.0) for n in (1, 2, 3)]
    assert list(values(draw_history(History(plain, 3)))) == [
        "loss per word",
        "dev score in %, best in pass 3",
    ]
    without = [PassRecord(n, 1.0 / n, None, None, 1.0) for n in (1, 2, 3)]
    assert list(values(draw_history(History(without, 3)))) == ["loss per word"]


def test_what_cannot_be_drawn(tmp_path):
    with pytest.raises(ArgumentError, match="no passes"):
        draw_history(History())
    with pytest.raises(ArgumentError, match=r"\.png, \.svg or \.pdf"):
        draw_history(History(PASSES, 2), path="course.doc")
    with pytest.raises(FileError, match="cannot be written"):
        draw_history(History(PASSES, 2), path=tmp_path / "nowhere" / "course.png")
