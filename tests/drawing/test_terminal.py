"""Trees as text. A slow twin reads the arcs back from the drawing, line by line."""

from __future__ import annotations

import io
import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import ShapeError, TreeDrawing
from arbora.drawing import make_printable
from arbora.drawing.terminal import tree_markup
from arbora.drawing.widths import cell_width, to_cells, visible

from .drawn_trees import ANY_TEXT, drawings


def test_a_small_tree():
    assert TreeDrawing(["He", "saw", "her"], [2, 0, 2]).text() == "\n".join([
        "    root",
        "╭───╮│╭────╮",
        "▼   │▼│    ▼",
        "He  saw   her",
    ])  # fmt: skip


def test_labels_tags_and_probabilities():
    drawing = TreeDrawing(
        ["He", "saw", "her"], [2, 0, 2], ["nsubj", "root", "obj"],
        tags=["PRON", "VERB", "PRON"], probabilities=[0.994, 0.5, 0.001],
    )  # fmt: skip
    assert drawing.text() == "\n".join([
        "           root 50%",
        " ╭─nsubj 99%─╮│╭─obj <1%─╮",
        " ▼           │▼│         ▼",
        " He          saw        her",
        "PRON         VERB       PRON",
    ])  # fmt: skip


def test_long_sentences_are_broken_and_arcs_go_on():
    drawing = TreeDrawing(["one", "two", "three", "four"], [2, 0, 2, 1], ["a", "r", "c", "d"])
    assert drawing.text(width=20) == "\n".join([
        "      r",
        "  ╭───┼─d──────→4",
        " ╭┼a─╮│╭─c──╮",
        " ▼│  │▼│    ▼",
        "one  two  three",
        " 1    2     3",
        "",
        "1←──d─╮",
        "      ▼",
        "     four",
        "      4",
    ])  # fmt: skip


class Grid:
    """The cells of one row of a drawing: lines of arcs, and the words below them."""

    def __init__(self, lines):
        bottom = next(i for i, line in enumerate(lines) if set(line) & set("ab"))
        self.cells = [to_cells(line) for line in lines[:bottom]]
        self.starts = [found.start() for found in re.finditer("a+", lines[bottom])]
        self.ends = [found.end() for found in re.finditer("a+", lines[bottom])]

    def at(self, row, column):
        line = self.cells[row]
        return line[column] if 0 <= column < len(line) else " "

    def word_at(self, centre):
        """The word with that centre: the left one of the two in the middle of an even width."""
        return next(
            i for i, (start, end) in enumerate(zip(self.starts, self.ends, strict=True))
            if start + (end - start - 1) // 2 == centre
        )  # fmt: skip

    def arcs(self, first):
        """(head, modifier, label) of every arc that ends in this row; words count from `first`."""
        arrows = [c for c, x in enumerate(self.cells[-1]) if x == "▼"] if self.cells else []
        for column in arrows:
            modifier = first + self.word_at(column)
            row = len(self.cells) - 2
            while self.at(row, column) in "│┼q%0123456789 " and row >= 0:
                assert self.at(row, column) != " ", "a line ends"
                row -= 1
            assert row >= 0
            corner = self.at(row, column)
            if corner in "ROT":
                yield 0, modifier
                continue
            step = {"╭": 1, "╮": -1}[corner]
            place = column + step
            while self.at(row, place) not in ("╮┤→" if step > 0 else "╭├←"):
                assert self.at(row, place) in "─┼q%0123456789< ", "a line breaks"
                place += step
            if self.at(row, place) in "→←":
                text = "".join(self.cells[row])
                number = re.match(r"→(\d+)", text[place:]) or re.search(r"(\d+)←", text)
                yield int(number[1]), modifier
            else:
                yield first + self.word_at(place + step), modifier


@settings(max_examples=120, deadline=None)
@given(drawing=drawings(alternatives=False), width=st.sampled_from([24, 50, 500]))
def test_the_arcs_can_be_read_back(drawing, width):
    drawing.multiword = ()
    drawing.tags = ()
    drawing.probabilities = (None,) * len(drawing)  # a label may hide a line; its spaces, too
    drawing.right_to_left = False
    found, first = [], 1
    for piece in drawing.text(width).split("\n\n"):
        grid = Grid(piece.split("\n"))
        found += grid.arcs(first)
        first += len(grid.starts)
    assert sorted(found) == sorted((arc.head, arc.modifier) for arc in drawing.arcs)
    assert first == len(drawing) + 1


@settings(max_examples=60, deadline=None)
@given(drawing=drawings(), width=st.sampled_from([24, 50, 500]))
def test_all_labels_are_written(drawing, width):
    text = drawing.text(width, ascii=False).split("\n\nor:")[0]
    rows = text.split("\n\n")
    labels = [arc.text for arc in drawing.arcs if arc.label and not arc.alternative]
    assert len(rows) > 1 or text.count("q") + text.count("ROOT") == sum(
        1 if "ROOT" in label else label.count("q") for label in labels
    )
    assert text.count("▼") == sum(not arc.alternative for arc in drawing.arcs)
    for line in text.split("\n\n(written")[0].split("\n"):
        widest = max(len(word) for word in drawing.words)
        assert cell_width(line) <= max(width, widest + 40)


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_TEXT, min_size=1, max_size=4), st.booleans())
def test_any_text_keeps_its_lines(words, ascii_only):
    """No word can break a line, escape to the terminal or raise an error."""
    n = len(words)
    drawing = TreeDrawing(words, [0] * n, words, tags=words, right_to_left=False)
    plain = TreeDrawing(["a"] * n, [0] * n, ["b"] * n, tags=["c"] * n)
    text = drawing.text(10_000, ascii=ascii_only)
    assert len(text.split("\n")) == len(plain.text(10_000).split("\n"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", text)


def test_widths():
    assert cell_width("abc") == 3
    assert cell_width("日本") == 4
    assert cell_width("e\u0301") == 1  # e and a combining accent
    assert cell_width("\uff41") == 2  # full-width
    assert cell_width("한") == 2
    assert cell_width("\u1112\u1161\u11ab") == 2  # the same in three parts
    assert to_cells("e\u0301日x") == ["e\u0301", "日", "", "x"]
    assert visible("a\x1bb\u202e") == "a\\x1bb\\u202e"


def test_wide_characters_stand_under_their_arrows():
    lines = TreeDrawing(["日本語", "を", "読む"], [3, 1, 0]).text().split("\n")
    cells = to_cells(lines[-1])
    arrows = [column for column, c in enumerate(to_cells(lines[-2])) if c == "▼"]
    for column, word in zip(arrows, ["日本語", "を", "読む"], strict=True):
        around = {cells[column], cells[max(column - 1, 0)]} - {"", " "}
        assert around & set(word)


def test_right_to_left_is_in_logical_order_with_a_note():
    words = ["قرأ", "الطالب", "كتابا"]
    text = TreeDrawing(words, [0, 1, 1]).text()
    assert "from right to left" in text
    line = next(line for line in text.split("\n") if words[0] in line)
    assert line.index(words[0]) < line.index(words[1]) < line.index(words[2])
    # A mark between the words keeps terminals that reorder lines from moving them.
    assert line.count("\u200e") == 6


def test_multiword_tokens():
    drawing = TreeDrawing(["parle", "de", "le", "chat"], [0, 4, 4, 1], multiword=[(2, 3, "du")])
    lines = drawing.text().split("\n")
    words, tokens = lines[-2:]
    assert tokens.strip() == "└─du─┘"
    assert tokens.index("└") == words.index("de")


def test_alternatives_are_listed():
    drawing = TreeDrawing(
        ["I", "saw", "stars"], [2, 0, 2], alternatives=[(1, 3, 0.2), (0, 3, 0.3, "root")]
    )
    assert drawing.text().split("\n")[-3:] == [
        "or:", " 30%  stars (3) ← root  root", " 20%  stars (3) ← I (1)",
    ]  # fmt: skip


def test_ascii(monkeypatch):
    drawing = TreeDrawing(["I", "sah", "ü"], [2, 0, 2], alternatives=[(1, 3, 0.2)])
    assert drawing.text(ascii=True).replace("ü", "u").isascii()
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert "v" in str(drawing)
    assert "▼" not in str(drawing)
    make_printable(stream)
    stream.write(f"{drawing}│")
    stream.flush()
    assert stream.buffer.getvalue().endswith(b"|")
    make_printable(io.StringIO())  # anything that takes text will do


def test_width_of_a_pipe(monkeypatch):
    words = ["word"] * 30
    drawing = TreeDrawing(words, [0] + [1] * 29)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert max(map(len, str(drawing).split("\n"))) in range(80, 101)
    monkeypatch.setenv("COLUMNS", "50")
    assert max(map(len, str(drawing).split("\n"))) in range(40, 51)
    assert max(map(len, drawing.text(30).split("\n"))) <= 30


def test_styles_on_a_terminal():
    drawing = TreeDrawing(
        ["I", "saw", "her"], [2, 0, 2], ["a", "b", "c"], tags=["X", "Y", "Z"],
        probabilities=[0.95, 0.8, 0.3],
    )  # fmt: skip
    markup = tree_markup(drawing)
    assert markup.plain == drawing.text()
    styles = {markup.plain[span.start : span.end].strip(): span.style for span in markup.spans}
    assert styles["c"] == styles["3"] == "bold red"
    assert styles["b"] == "yellow"
    assert "a" not in styles
    assert styles["X"] == "dim"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 3], None), "head of word 2 is 3"),
        (([-2, 0], None), "head of word 1 is -2"),
        (([0, 2], None), "word 2 is its own head"),
        (([0.0, 1.0], None), "integers"),
        (([0], None), "2 words, but heads"),
        (([0, 1], ["root"]), "2 words, but 1 labels"),
        (([0, 1], ["root", 7]), "label of word 2 is 7"),
    ],
)
def test_bad_heads_and_labels(arguments, message):
    with pytest.raises(ShapeError, match=message):
        TreeDrawing(["a", "b"], *arguments)


def test_no_words():
    with pytest.raises(ShapeError, match="0 words"):
        TreeDrawing([], [])
