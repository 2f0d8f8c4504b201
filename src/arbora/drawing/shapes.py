"""Trees as shapes: lines, arrowheads and texts in pixels, for every format of pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from arbora.drawing.layout import Layout, Metrics, Row, Stretch, lay_out, root_text
from arbora.drawing.tree_drawing import Arc, TreeDrawing
from arbora.drawing.widths import pixel_width

__all__ = ["ArcShape", "Place", "Shapes", "Written", "shapes_of"]

Point = tuple[float, float]
Command = tuple[Literal["M", "L", "Q"], tuple[Point, ...]]
Kind = Literal["word", "tag", "number", "token", "label", "mark"]

SIZES: dict[Kind, float] = {
    "word": 16, "tag": 10.5, "number": 10.5, "token": 12, "label": 11.5, "mark": 10.5,
}  # fmt: skip
LEVEL = 22.0  # between the lines of two levels: room for a label
LOWEST = 10.0  # from the ends of arcs to the level below the first
CORNER = 9.0
ARROW = 7.0  # its length; it is as wide
ROWS = 26.0  # between two rows
MARGIN = 8.0
ABOVE = 14.0  # room for the labels of the highest arcs


@dataclass(frozen=True)
class Written:
    """A text: its middle and its baseline."""

    kind: Kind
    text: str
    x: float
    y: float
    width: float


@dataclass
class ArcShape:
    """The lines of an arc in one row, the tip of its arrowhead if it ends there, and its texts."""

    arc: Arc
    lines: list[Command]
    tip: Point | None
    texts: list[Written] = field(default_factory=list)


@dataclass
class Shapes:
    """All shapes of a drawing, within `width` and `height`; y grows downwards."""

    width: float
    height: float = 0.0
    arcs: list[ArcShape] = field(default_factory=list)
    texts: list[Written] = field(default_factory=list)
    brackets: list[list[Command]] = field(default_factory=list)


def _halves(width: float) -> tuple[float, float]:
    return width / 2, width / 2


PIXELS = Metrics(
    word_width=lambda text: pixel_width(text, SIZES["word"]),
    label_width=lambda text: pixel_width(text, SIZES["label"]),
    halves=_halves, gap=14, padding=7, shortest=22, port=8, before=3, after=3,
)  # fmt: skip


def shapes_of(drawing: TreeDrawing, width: float | None = None) -> Shapes:
    """The shapes of a drawing, in several rows if it is wider than `width`."""
    limit = float("inf") if width is None else max(width - 2 * MARGIN, 100)
    layout = lay_out(drawing, drawing.arcs, PIXELS, limit)
    shapes = Shapes(layout.width + 2 * MARGIN, MARGIN)
    place = Place(layout, drawing.right_to_left)
    for row in layout.rows:
        _draw_row(shapes, drawing, row, place)
        shapes.height += ROWS
    shapes.height += MARGIN - ROWS
    return shapes


@dataclass(frozen=True)
class Place:
    """The position of a layout in the picture, mirrored for right-to-left scripts."""

    layout: Layout
    mirrored: bool

    def x(self, x: float) -> float:
        """Where a place of the layout is in the picture."""
        return MARGIN + (self.layout.width - x if self.mirrored else x)


def _draw_row(shapes: Shapes, drawing: TreeDrawing, row: Row, place: Place) -> None:
    levels = row.levels
    ground = shapes.height + (levels * LEVEL + LOWEST + ABOVE if levels else 0)  # the ends of arcs
    for one in row.stretches:
        shapes.arcs.append(_arc_shape(one, ground, place))
    y = ground + SIZES["word"] + 2
    for word in row.words:
        shapes.texts.append(_written("word", drawing.words[word.number - 1], word.centre, y, place))
    if row.tokens:
        y += 7
        shapes.brackets += [
            [("M", ((place.x(left), y - 3),)), ("L", ((place.x(left), y),)),
             ("L", ((place.x(right), y),)), ("L", ((place.x(right), y - 3),))]
            for _, left, right in row.tokens
        ]  # fmt: skip
        y += SIZES["token"]
        shapes.texts += [
            _written("token", token.form, (left + right) / 2, y, place)
            for token, left, right in row.tokens
        ]
    if drawing.tags:
        y += SIZES["tag"] + 5
        for word in row.words:
            tag = drawing.tags[word.number - 1]
            shapes.texts.append(_written("tag", tag, word.centre, y, place))
    if len(place.layout.rows) > 1:
        y += SIZES["number"] + 3
        for word in row.words:
            shapes.texts.append(_written("number", str(word.number), word.centre, y, place))
    shapes.height = y + 4


def _written(kind: Kind, text: str, x: float, y: float, place: Place) -> Written:
    return Written(kind, text, place.x(x), y, pixel_width(text, SIZES[kind]))


def _arc_shape(one: Stretch, ground: float, place: Place) -> ArcShape:
    y = ground - LOWEST - one.level * LEVEL
    into = one.arc.modifier
    ends_here = not (one.open_right if into > one.arc.head else one.open_left)
    tip = (place.x(one.end_at(into)), ground) if ends_here else None
    shape = ArcShape(one.arc, list(_lines(one, y, ground, place)), tip)
    text = root_text(one.arc) if one.is_root else one.arc.text
    if text:
        middle = one.label_left + one.label_width / 2
        shape.texts.append(_written("label", text, middle, y - 5, place))
    if one.open_left or one.open_right:
        leftwards = one.open_left != place.mirrored
        mark = f"{one.mark}←" if leftwards else f"→{one.mark}"
        half = _mark_width(one) / 2
        middle = one.left + half if one.open_left else one.right - half
        shape.texts.append(_written("mark", mark, middle, y + 3.5, place))
    return shape


def _mark_width(one: Stretch) -> float:
    return pixel_width(f"→{one.mark}", SIZES["label"])


def _lines(one: Stretch, y: float, ground: float, place: Place) -> Iterator[Command]:
    """Up from one end, round a corner, along the level, and down to the other end."""

    def foot(word_is_modifier: bool) -> float:
        return ground - ARROW + 1 if word_is_modifier else ground

    arc = one.arc
    if one.is_root:
        yield "M", ((place.x(one.left), y),)
        yield "L", ((place.x(one.left), foot(True)),)
        return
    round_ = min(CORNER, (one.right - one.left) / 2)
    left, right = place.x(one.left), place.x(one.right)
    side = -1 if place.mirrored else 1
    if one.open_left:
        yield "M", ((left + side * (_mark_width(one) + 2), y),)
    else:
        yield "M", ((left, foot(arc.modifier < arc.head)),)
        yield "L", ((left, y + round_),)
        yield "Q", ((left, y), (left + side * round_, y))
    if one.open_right:
        yield "L", ((right - side * (_mark_width(one) + 2), y),)
    else:
        yield "L", ((right - side * round_, y),)
        yield "Q", ((right, y), (right, y + round_))
        yield "L", ((right, foot(arc.modifier > arc.head)),)
