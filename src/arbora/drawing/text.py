"""Text drawings of trees and marginals."""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NamedTuple, TextIO

import numpy as np
from numpy.typing import ArrayLike

from arbora.errors import ShapeError
from arbora.inference.arguments import as_heads

__all__ = ["heat_table", "make_printable", "tree_text"]

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
LINES = {
    0: " ",
    UP | DOWN: "│",
    LEFT | RIGHT: "─",
    DOWN | RIGHT: "╭",
    DOWN | LEFT: "╮",
    UP | DOWN | RIGHT: "├",
    UP | DOWN | LEFT: "┤",
    DOWN | LEFT | RIGHT: "┬",
    UP | DOWN | LEFT | RIGHT: "┼",
}
SHADES = " ░▒▓█"
IN_ASCII = str.maketrans("│─╭╮├┤┬┼▼░▒▓█·…", "|-++++++v.:*#.~")


class _Arc(NamedTuple):
    head: int
    modifier: int
    label: str

    @property
    def low(self) -> int:
        return min(self.head, self.modifier)

    @property
    def high(self) -> int:
        return max(self.head, self.modifier)


def tree_text(
    words: Sequence[str],
    heads: ArrayLike,
    labels: Sequence[str] | None = None,
    *,
    root: str = "ROOT",
) -> str:
    """A dependency tree drawn above its sentence.

    Arcs leave the head on the modifier's side and end in an arrow over the modifier. They may
    cross.
    """
    tokens = [root, *words]
    arcs = _arcs(len(words), heads, labels)
    levels = _levels(arcs)
    centres, width = _centres(tokens, arcs)
    rows = max(levels.values()) + 1
    grid = [[0] * width for _ in range(rows)]
    for arc in arcs:
        _draw(grid, arc, rows - 1 - levels[arc], centres)
    lines = [[LINES[cell] for cell in row] for row in grid]
    for arc in arcs:
        start = centres[arc.modifier]
        lines[-1][start] = "▼"
        _write_label(lines[rows - 1 - levels[arc]], arc, centres)
    text = ["".join(line).rstrip() for line in lines]
    sentence = ""
    for token, centre in zip(tokens, centres, strict=True):
        start = centre - (_width(token) - 1) // 2
        sentence += " " * (start - _width(sentence)) + token
    return "\n".join([*text, sentence])


def _arcs(n_words: int, heads: ArrayLike, labels: Sequence[str] | None) -> list[_Arc]:
    above = np.asarray(heads)
    if n_words == 0 or above.shape != (n_words,):
        raise ShapeError(f"there are {n_words} words, but heads of shape {above.shape}.")
    names = [""] * n_words if labels is None else list(labels)
    if len(names) != n_words:
        raise ShapeError(f"there are {n_words} words, but {len(names)} labels.")
    for word, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise ShapeError(f"the label of word {word} is {name!r}: give its name as a string.")
    arcs = [_Arc(int(h), m, names[m - 1]) for m, h in enumerate(as_heads(above, n_words), start=1)]
    for arc in arcs:
        if arc.head == arc.modifier:
            raise ShapeError(f"word {arc.modifier} is its own head: give another.")
    return arcs


def _levels(arcs: list[_Arc]) -> dict[_Arc, int]:
    """The row of each arc: above all arcs inside, on a free row; short arcs first."""
    levels: dict[_Arc, int] = {}
    for arc in sorted(arcs, key=lambda a: (a.high - a.low, a.low)):
        overlapping = [
            level
            for other, level in levels.items()
            if other.low < arc.high and arc.low < other.high
        ]
        levels[arc] = 1 + max(overlapping, default=0)
    return levels


def _centres(tokens: list[str], arcs: list[_Arc]) -> tuple[list[int], int]:
    """The centre column of each word, with room for labels on arcs between neighbours."""
    room = [0] * len(tokens)  # minimum distance to the word before
    for arc in arcs:
        if arc.high - arc.low == 1 and arc.label:
            room[arc.high] = max(room[arc.high], len(arc.label) + 4)
    centres: list[int] = []
    end = -3
    for i, token in enumerate(tokens):
        left = (_width(token) - 1) // 2
        centre = max(end + 3 + max(left, 1), centres[-1] + room[i] if centres else 0)
        centres.append(centre)
        end = centre + max(_width(token) - 1 - left, 1)
    return centres, end + 1


def _ends(arc: _Arc, centres: list[int]) -> tuple[int, int]:
    """The columns of an arc's ends; it leaves beside its head's centre, on the modifier's side."""
    leaving = centres[arc.head] + (1 if arc.modifier > arc.head else -1)
    return min(leaving, centres[arc.modifier]), max(leaving, centres[arc.modifier])


def _draw(grid: list[list[int]], arc: _Arc, row: int, centres: list[int]) -> None:
    low, high = _ends(arc, centres)
    grid[row][low] |= RIGHT | DOWN
    grid[row][high] |= LEFT | DOWN
    for column in range(low + 1, high):
        grid[row][column] |= LEFT | RIGHT
    for below in range(row + 1, len(grid)):
        grid[below][low] |= UP | DOWN
        grid[below][high] |= UP | DOWN


def _write_label(line: list[str], arc: _Arc, centres: list[int]) -> None:
    """Writes the label in the middle of the arc, unless it would hide a crossing."""
    if not arc.label:
        return
    low, high = _ends(arc, centres)
    start = (low + high + 1 - len(arc.label)) // 2
    if all(line[start + i] == "─" for i in range(len(arc.label))):
        line[start : start + len(arc.label)] = arc.label


def heat_table(words: Sequence[str], marginals: ArrayLike, *, root: str = "ROOT") -> str:
    """A table of P(head | word) in percent with shades, one column per word and row per head."""
    p = np.asarray(marginals)
    if p.shape != (len(words) + 1, len(words) + 1):
        raise ShapeError(f"there are {len(words)} words, but marginals of shape {p.shape}.")
    tokens = [root, *words]
    margin = max(_width(token) for token in tokens)
    headings = [word if len(word) <= 7 else word[:6] + "…" for word in words]
    cell = max(6, *(_width(word) + 1 for word in headings))
    lines = [" " * margin + "".join(_right(word, cell) for word in headings)]
    for h, token in enumerate(tokens):
        line = token + " " * (margin - _width(token))
        for m in range(1, len(tokens)):
            line += _right(_heat(float(p[h, m])), cell)
        lines.append(line.rstrip())
    return "\n".join(lines)


def _heat(p: float) -> str:
    """A shade and a percentage; a dot for what rounds to 0, blank for exactly 0."""
    if p < 0.005:
        return "·" if p > 0 else ""
    return f"{SHADES[int(np.ceil(p * (len(SHADES) - 1)))]}{100 * p:3.0f}"


def _right(text: str, width: int) -> str:
    return " " * (width - _width(text)) + text


def _width(text: str) -> int:
    """The width of a text on a terminal."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def make_printable(stream: TextIO) -> None:
    """Makes a stream that cannot encode box-drawing characters print ASCII lookalikes.

    Characters without a lookalike become question marks. Other streams are not changed.
    """
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="arbora.drawing")


def _lookalikes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(IN_ASCII)
    return "".join(c if c.isascii() else "?" for c in text), error.end


codecs.register_error("arbora.drawing", _lookalikes)
