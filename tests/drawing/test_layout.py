"""The layout's promises, in cells and in pixels, and in the shapes that pictures are made of."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora.drawing import TreeDrawing
from arbora.drawing.layout import lay_out
from arbora.drawing.shapes import ARROW, PIXELS, SIZES, shapes_of
from arbora.drawing.terminal import CELLS

from .drawn_trees import drawings

LIMITS = {"cells": (CELLS, st.sampled_from([20, 40, 1000])),
          "pixels": (PIXELS, st.sampled_from([150, 400, 10_000]))}  # fmt: skip


@pytest.mark.parametrize("unit", LIMITS)
@settings(max_examples=60, deadline=None)
@given(data=st.data(), drawing=drawings(alternatives=False))
def test_promises(unit, data, drawing):
    metrics, limits = LIMITS[unit]
    check_layout(drawing, drawing.arcs, metrics, data.draw(limits))


@settings(max_examples=60, deadline=None)
@given(drawing=drawings(), limit=st.sampled_from([150, 400, 10_000]))
def test_promises_with_alternatives(drawing, limit):
    check_layout(drawing, drawing.arcs, PIXELS, limit)


def check_layout(drawing, arcs, metrics, limit):
    layout = lay_out(drawing, arcs, metrics, limit)
    numbers = [word.number for row in layout.rows for word in row.words]
    assert numbers == list(range(1, len(drawing) + 1))
    for row in layout.rows:
        assert row.width <= limit or len(row.words) == 1
        for one, other in zip(row.words, row.words[1:], strict=False):
            assert one.right + metrics.gap <= other.left + 1e-9
        for one in row.stretches:
            check_label(one, row)
        for one, other in combinations(row.stretches, 2):
            check_pair(one, other)
    check_ends(layout, arcs)


def check_label(one, row):
    """Labels are inside their arcs; those of roots are inside the row."""
    if one.is_root:
        assert one.label_left >= -1e-9
        assert one.label_left + one.label_width <= row.width + 1e-9
    elif one.arc.text:
        assert one.left < one.label_left
        assert one.label_left + one.label_width <= one.right


def check_pair(one, other):
    if not (one.is_root or other.is_root):
        inner, outer = sorted((one, other), key=lambda s: s.right - s.left)
        if outer.left <= inner.left and inner.right <= outer.right:
            assert inner.level < outer.level
        if one.level == other.level:
            assert one.right <= other.left or other.right <= one.left
    if one.level == other.level:
        apart = one.label_left + one.label_width <= other.label_left
        assert (
            apart
            or other.label_left + other.label_width <= one.label_left
            or (not (one.label_width and other.label_width))
        )


def check_ends(layout, arcs):
    """Every arc is drawn once: whole in one row, or with one open end in each of two."""
    found = {}
    for row in layout.rows:
        inside = {word.number: word for word in row.words}
        for one in row.stretches:
            found.setdefault(one.arc, []).append(one)
            for end, is_open in zip(sorted((one.arc.head, one.arc.modifier)),
                                    (one.open_left, one.open_right), strict=True):  # fmt: skip
                if end and not is_open:
                    assert inside[end].left <= one.end_at(end) <= inside[end].right
    assert sorted(found) == sorted(set(arcs))
    for arc, pieces in found.items():
        opened = sum(piece.open_left + piece.open_right for piece in pieces)
        assert (len(pieces), opened) in ((1, 0), (2, 2)), arc


def overlap(a, b):
    return a[0] < b[1] - 0.01 and b[0] < a[1] - 0.01 and a[2] < b[3] - 0.01 and b[2] < a[3] - 0.01


@settings(max_examples=80, deadline=None)
@given(drawing=drawings(), width=st.sampled_from([None, 200, 400]))
def test_texts_and_arrowheads_do_not_overlap(drawing, width):
    shapes = shapes_of(drawing, width)
    texts = [*shapes.texts, *(text for shape in shapes.arcs for text in shape.texts)]
    boxes = [
        (text.x - text.width / 2, text.x + text.width / 2, text.y - 0.75 * SIZES[text.kind],
         text.y + 2)
        for text in texts
        if text.text
    ]  # fmt: skip
    for one, other in combinations(boxes, 2):
        assert not overlap(one, other)
    for shape in shapes.arcs:
        if shape.tip is not None:
            x, y = shape.tip
            arrow = (x - ARROW / 2, x + ARROW / 2, y - ARROW, y)
            assert not any(overlap(arrow, box) for box in boxes)
    for left, right, top, bottom in boxes:
        assert left >= -0.01
        assert right <= shapes.width + 0.01
        assert top >= -0.01
        assert bottom <= shapes.height + 0.01


def test_arcs_that_share_a_word_do_not_cross():
    drawing = TreeDrawing(list("abcde"), [3, 3, 0, 3, 3])
    (row,) = lay_out(drawing, drawing.arcs, PIXELS, 1000).rows
    for one, other in combinations((s for s in row.stretches if not s.is_root), 2):
        nested = one.left < other.left and other.right < one.right
        nested |= other.left < one.left and one.right < other.right
        assert nested or one.right < other.left or other.right < one.left


def test_labels_avoid_lines_that_cross_them():
    heads = [3, 0, 2, 2, 1]  # the arc 1-5 is higher than 3-1 and crosses what is below
    drawing = TreeDrawing(["w" * 8] * 5, heads, ["one", "root", "two", "three", "four"])
    (row,) = lay_out(drawing, drawing.arcs, CELLS, 1000).rows
    for one in row.stretches:
        for other in row.stretches:
            if other.level > one.level and not one.is_root:
                for x in (other.left, other.right):
                    assert not one.label_left <= x < one.label_left + one.label_width


def test_no_word_is_left_alone_if_rows_can_be_narrower():
    drawing = TreeDrawing(["word"] * 9, [2, 0, 2, 2, 2, 2, 2, 2, 2])
    widths = range(40, 400, 5)
    layouts = [lay_out(drawing, drawing.arcs, PIXELS, width) for width in widths]
    sizes = [[len(row.words) for row in layout.rows] for layout in layouts]
    assert [6, 3] in sizes
    assert [8, 1] not in sizes
    assert all(row.width <= width for layout, width in zip(layouts, widths, strict=True)
               for row in layout.rows if len(row.words) > 1)  # fmt: skip


def test_multiword_tokens_stay_together():
    drawing = TreeDrawing(["word"] * 6, [2, 0, 2, 2, 2, 2], multiword=[(3, 4, "wordword")])
    for width in range(150, 400, 5):
        for row in lay_out(drawing, drawing.arcs, PIXELS, width).rows:
            numbers = [word.number for word in row.words]
            assert (3 in numbers) == (4 in numbers)
