"""Text drawings."""

from __future__ import annotations

import io

import numpy as np
import pytest

from arbora import ShapeError
from arbora.drawing import heat_table, make_printable, tree_text


def test_a_small_tree():
    assert tree_text(["He", "saw", "her"], [2, 0, 2]) == "\n".join([
        "  ╭─────────╮",
        "  │    ╭───╮│╭───╮",
        "  │    ▼   │▼│   ▼",
        "ROOT   He  saw  her",
    ])  # fmt: skip


def test_labels_stand_on_their_arcs():
    text = tree_text(["He", "saw", "her"], [2, 0, 2], ["nsubj", "root", "obj"])
    assert "─nsubj─" in text
    assert "─obj─" in text
    assert "─root─" in text


def test_every_word_gets_one_arrow():
    from arbora import SpanningTrees

    words = ["a", "bcdefgh", "i", "日本", "x" * 12, "", "z"]
    for heads in SpanningTrees(np.zeros((8, 8)), "multi").sample(50, seed=1):
        text = tree_text(words, heads)
        assert text.count("▼") == 7
        assert text.splitlines()[-1].startswith("ROOT")
        assert "None" not in text


def test_heat_table():
    p = np.array([[0, 1.0, 0.25], [0, 0, 0.75], [0, 1e-9, 0]])
    lines = heat_table(["to", "understand"], p).splitlines()
    assert lines[0].split() == ["to", "unders…"]
    assert lines[1].split() == ["ROOT", "█100", "░", "25"]
    assert lines[2].split() == ["to", "▓", "75"]
    assert lines[3].split() == ["understand", "·"]


def test_bad_shapes():
    with pytest.raises(ShapeError, match="3 words"):
        tree_text(["a", "b", "c"], [0, 1])
    with pytest.raises(ShapeError, match="2 words"):
        heat_table(["a", "b"], np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("heads", "labels", "message"),
    [
        ([0, 3], None, "head of word 2 is 3"),
        ([-1, 0], None, "head of word 1 is -1"),
        ([0, 2], None, "word 2 is its own head"),
        ([0.0, 1.0], None, "integers"),
        ([0, 1], ["root"], "2 words, but 1 labels"),
        ([0, 1], ["root", 7], "label of word 2 is 7"),
    ],
)
def test_bad_heads_and_labels(heads, labels, message):
    with pytest.raises(ShapeError, match=message):
        tree_text(["a", "b"], heads, labels)


def test_no_words():
    with pytest.raises(ShapeError, match="0 words"):
        tree_text([], [])


def test_drawings_on_an_ascii_stream():
    drawing = tree_text(["I", "sah", "ü日"], [2, 0, 2])
    ascii_stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    make_printable(ascii_stream)
    ascii_stream.write(drawing)
    ascii_stream.flush()
    text = ascii_stream.buffer.getvalue().decode("ascii")
    assert text.count("v") == 3
    assert text.endswith("sah  ??")
    assert len(text) == len(drawing)
    make_printable(io.StringIO())  # anything that takes text will do
