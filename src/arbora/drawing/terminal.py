"""Trees as text: box-drawing characters above the words, or ASCII characters like them."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from arbora.drawing.layout import Metrics, Row, Stretch, lay_out, root_text
from arbora.drawing.lookalikes import IN_ASCII, shows_lines
from arbora.drawing.tree_drawing import Arc, TreeDrawing, percent
from arbora.drawing.widths import cell_width, is_right_to_left, to_cells, visible

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["terminal_width", "tree_markup", "tree_text"]

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
LINES = {
    0: " ",
    UP | DOWN: "│",
    LEFT: "─",
    RIGHT: "─",
    LEFT | RIGHT: "─",
    DOWN | RIGHT: "╭",
    DOWN | LEFT: "╮",
    UP | DOWN | RIGHT: "├",
    UP | DOWN | LEFT: "┤",
    DOWN | LEFT | RIGHT: "┬",
    UP | DOWN | LEFT | RIGHT: "┼",
}
LEFT_TO_RIGHT = "\u200e"  # keeps a word where it is on terminals that reorder lines
NARROWEST = 20
IN_A_PIPE = 100  # columns

# Styles on a terminal.
DIM, UNSURE, DOUBTFUL = "dim", "yellow", "bold red"


def _halves(width: float) -> tuple[float, float]:
    left = (max(int(width), 1) - 1) // 2
    return left, max(int(width), 1) - left


def _shown_width(text: str) -> float:
    return cell_width(visible(text))


CELLS = Metrics(
    word_width=_shown_width, label_width=_shown_width, halves=_halves, gap=2, padding=1.5,
    shortest=2, port=0, before=0, after=1, edge=1,
)  # fmt: skip


def terminal_width() -> int:
    """The columns of the terminal; in a pipe what COLUMNS says, or 100."""
    if sys.stdout is not None and sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    wanted = os.environ.get("COLUMNS", "")
    return int(wanted) if wanted.isdecimal() and int(wanted) else IN_A_PIPE


def tree_text(
    drawing: TreeDrawing,
    width: int | None = None,
    *,
    ascii: bool | None = None,  # noqa: A002  # the public name
) -> str:
    """The tree as plain text."""
    lines = _lines(drawing, width)
    if ascii if ascii is not None else not shows_lines(sys.stdout):
        lines = [[(text.translate(IN_ASCII) if own else text, "", own) for text, _, own in line]
                 for line in lines]  # fmt: skip
    return "\n".join("".join(text for text, _, _ in line).rstrip() for line in lines)


def tree_markup(drawing: TreeDrawing, width: int | None = None) -> Text:
    """The tree as text of the library rich: tags are dim, uncertain arcs coloured."""
    from rich.text import Text

    made = Text(no_wrap=True)
    lines = _lines(drawing, width)
    plain = not shows_lines(sys.stdout)
    for place, line in enumerate(lines):
        for text, style, own in line:
            made.append(text.translate(IN_ASCII) if own and plain else text, style or None)
        if place < len(lines) - 1:
            made.append("\n")
    return made


Cell = tuple[str, str, bool]  # text, style, and whether it is part of a line


def _lines(drawing: TreeDrawing, width: int | None) -> list[list[Cell]]:
    limit = max(terminal_width() if width is None else width, NARROWEST)
    arcs = [arc for arc in drawing.arcs if not arc.alternative]
    layout = lay_out(drawing, arcs, CELLS, limit)
    lines: list[list[Cell]] = []
    for row in layout.rows:
        if lines:
            lines.append([])
        lines += _arc_lines(row)
        lines += _word_lines(drawing, row, numbered=len(layout.rows) > 1)
    if drawing.alternatives:
        lines += [[], *_alternatives(drawing)]
    if drawing.right_to_left:
        note = "(written from right to left; drawn in the order in which it is read)"
        lines += [[], [(note, DIM, False)]]
    return lines


def _style(arc: Arc) -> str:
    p = arc.probability
    return "" if p is None or p >= 0.9 else DOUBTFUL if p < 0.5 else UNSURE


class _Grid:
    """Cells of lines and texts."""

    def __init__(self, height: int, width: int) -> None:
        self.lines = [[0] * width for _ in range(height)]
        self.texts: list[list[str | None]] = [[None] * width for _ in range(height)]
        self.styles = [[""] * width for _ in range(height)]

    def join(self, row: int, column: int, sides: int, style: str) -> None:
        self.lines[row][column] |= sides
        self.styles[row][column] = style or self.styles[row][column]

    def write(self, row: int, column: int, text: str, style: str) -> None:
        for place, cell in enumerate(to_cells(visible(text)), start=column):
            self.texts[row][place] = cell
            self.styles[row][place] = style

    def cells(self, row: int) -> list[Cell]:
        made = [
            (LINES[sides], style, True) if text is None else (text, style, text in "▼→←")
            for sides, text, style in zip(
                self.lines[row], self.texts[row], self.styles[row], strict=True
            )
        ]
        while made and made[-1][0] == " ":
            made.pop()
        return made


def _arc_lines(row: Row) -> list[list[Cell]]:
    levels = row.levels
    if not levels:
        return []
    grid = _Grid(levels + 1, int(row.width))
    ordered = sorted(row.stretches, key=lambda one: -one.level)
    for one in ordered:
        _draw_line(grid, one, levels - one.level, levels)
    for one in ordered:
        _draw_texts(grid, one, levels - one.level, levels)
    return [grid.cells(line) for line in range(levels + 1)]


def _draw_line(grid: _Grid, one: Stretch, top: int, bottom: int) -> None:
    style = _style(one.arc)
    left, right = int(one.left), int(one.right)
    if not one.is_root:
        grid.join(top, left, RIGHT if one.open_left else RIGHT | DOWN, style)
        grid.join(top, right, LEFT if one.open_right else LEFT | DOWN, style)
        for column in range(left + 1, right):
            grid.join(top, column, LEFT | RIGHT, style)
    ends = {left} if not one.open_left else set()
    ends |= {right} if not one.open_right else set()
    for column in ends:
        for line in range(top + 1, bottom + 1):
            grid.join(line, column, UP | DOWN, "")


def _draw_texts(grid: _Grid, one: Stretch, top: int, bottom: int) -> None:
    style = _style(one.arc)
    if one.open_left:
        grid.write(top, int(one.left), f"{one.mark}←", DIM)
    if one.open_right:
        grid.write(top, int(one.right) - len(one.mark), f"→{one.mark}", DIM)
    text = root_text(one.arc) if one.is_root else one.arc.text
    grid.write(top, int(one.label_left), text, style)
    into = one.arc.modifier
    is_open = one.open_right if into > one.arc.head else one.open_left
    if not is_open:
        grid.write(bottom, int(one.end_at(into)), "▼", style)


def _word_lines(drawing: TreeDrawing, row: Row, *, numbered: bool) -> list[list[Cell]]:
    kinds = [([drawing.words[word.number - 1] for word in row.words], "")]
    if drawing.tags:
        kinds.append(([drawing.tags[word.number - 1] for word in row.words], DIM))
    if numbered or drawing.alternatives:
        kinds.append(([str(word.number) for word in row.words], DIM))
    lines = []
    for texts, style in kinds:
        line: list[Cell] = []
        end = 0
        for word, text in zip(row.words, map(visible, texts), strict=True):
            width = cell_width(text)
            start = int(word.centre) - int(_halves(width)[0])
            if is_right_to_left((text,)):
                text = f"{LEFT_TO_RIGHT}{text}{LEFT_TO_RIGHT}"
            line += [(" " * (start - end), "", False), (text, style, False)]
            end = start + width
        lines.append(line)
    if row.tokens:
        lines.insert(1, _token_line(row))
    return lines


def _token_line(row: Row) -> list[Cell]:
    """Multiword tokens under their words: `└─du─┘`."""
    line: list[Cell] = []
    end = 0
    for token, left, right in row.tokens:
        form = visible(token.form)
        room = int(right) - int(left) - 2
        before = max(room - cell_width(form), 0) // 2
        after = max(room - cell_width(form) - before, 0)
        line += [
            (" " * (int(left) - end), "", False), ("└" + "─" * before, DIM, True),
            (form, "", False), ("─" * after + "┘", DIM, True),
        ]  # fmt: skip
        end = int(left) + before + cell_width(form) + after + 2
    return line


def _alternatives(drawing: TreeDrawing) -> list[list[Cell]]:
    """One line per alternative, the most probable first."""
    listed: list[list[Cell]] = [[("or:", DIM, False)]]
    for arc in sorted(drawing.alternatives, key=lambda arc: -(arc.probability or 0)):
        head = "root" if arc.head == 0 else f"{visible(drawing.words[arc.head - 1])} ({arc.head})"
        word = f"{visible(drawing.words[arc.modifier - 1])} ({arc.modifier})"
        label = f"  {visible(arc.label)}" if arc.label else ""
        start = f"{percent(arc.probability):>4}  {word} "
        listed.append([(start, DIM, False), ("←", DIM, True), (f" {head}{label}", DIM, False)])
    return listed
