"""Trees as PDF and PNG, through matplotlib."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arbora.drawing.shapes import ARROW, SIZES, ArcShape, Command, shapes_of
from arbora.drawing.svg import stroke_width, xml_text
from arbora.drawing.tree_drawing import TreeDrawing
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure_bytes", "new_figure", "tree_figure"]

INCH = 96.0  # pixels
POINT = 72 / INCH
INK, SOFT, ARC, DOUBT = "#1f2a33", "#66727e", "#2b6cb0", "#b4510f"
COLOURS = {"word": INK, "token": INK, "label": INK, "tag": SOFT, "number": SOFT, "mark": SOFT}
# Fonts in this order, as far as they are installed: each adds the scripts that the others lack.
FONTS = (
    "DejaVu Sans", "Noto Sans", "Noto Sans CJK JP", "Noto Sans JP", "Noto Sans CJK SC",
    "Noto Sans Devanagari", "Noto Sans Thai", "IPAGothic", "WenQuanYi Zen Hei", "Hiragino Sans",
    "Yu Gothic", "Microsoft YaHei", "PingFang SC", "Malgun Gothic", "Arial Unicode MS",
)  # fmt: skip


def new_figure(size: tuple[float, float], **settings: Any) -> Figure:
    """An empty figure of a size in inches; raises an error without matplotlib."""
    try:
        # Not pyplot: it would keep the figure alive and might open a window.
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ArgumentError(
            'drawing requires matplotlib: install it with pip install "arbora[plot]".'
        ) from error
    return Figure(figsize=size, **settings)


def figure_bytes(drawings: Sequence[TreeDrawing], kind: str, width: float | None = None) -> bytes:
    """A PDF file with one page per drawing, or a PNG file of the only drawing."""
    figures = [tree_figure(drawing, width) for drawing in drawings]
    made = io.BytesIO()
    with warnings.catch_warnings():
        # Letters that no font has are drawn as boxes; one warning per letter would say no more.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        if kind == "pdf":
            from matplotlib.backends.backend_pdf import PdfPages

            with PdfPages(made, metadata={"CreationDate": None}) as pages:
                for figure in figures:
                    pages.savefig(figure)
        else:
            figures[0].savefig(made, format=kind, dpi=2 * INCH, metadata={"Software": None})
    return made.getvalue()


def tree_figure(drawing: TreeDrawing, width: float | None = None) -> Figure:
    """The tree as a figure of matplotlib, as large as it needs to be."""
    shapes = shapes_of(drawing, width)
    figure = new_figure((shapes.width / INCH, shapes.height / INCH), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, shapes.width), ylim=(shapes.height, 0))
    axes.axis("off")
    for shape in sorted(shapes.arcs, key=lambda shape: not shape.arc.alternative):
        _draw_arc(axes, shape)
    for bracket in shapes.brackets:
        axes.add_patch(_patch(bracket, edgecolor=SOFT, linewidth=0.75))
    fonts = _fonts()
    for written in [*shapes.texts, *(text for shape in shapes.arcs for text in shape.texts)]:
        axes.text(
            written.x, written.y, _shown(written.text), ha="center", va="baseline", family=fonts,
            color=COLOURS[written.kind], fontsize=SIZES[written.kind] * POINT,
            parse_math=False,
        )  # fmt: skip
    return figure


def _shown(text: str) -> str:
    """The text without characters that no font has."""
    return "".join(c if xml_text(c) != "\ufffd" and c not in "\t\n" else "\ufffd" for c in text)


def _draw_arc(axes: Any, shape: ArcShape) -> None:
    from matplotlib.patches import Polygon

    arc = shape.arc
    doubted = arc.alternative or (arc.probability is not None and arc.probability < 0.5)
    colour = DOUBT if doubted else ARC
    width = stroke_width(arc) * POINT
    dashes = (0, (4, 3)) if arc.alternative else "solid"
    axes.add_patch(_patch(shape.lines, edgecolor=colour, linewidth=width, linestyle=dashes))
    if shape.tip is not None:
        x, y = shape.tip
        corners = [(x, y), (x - ARROW / 2, y - ARROW), (x + ARROW / 2, y - ARROW)]
        axes.add_patch(Polygon(corners, facecolor=colour, edgecolor="none"))


def _patch(commands: list[Command], **style: Any) -> Any:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    codes = {"M": Path.MOVETO, "L": Path.LINETO, "Q": Path.CURVE3}
    points = [point for _, given in commands for point in given]
    kinds = [codes[name] for name, given in commands for _ in given]
    return PathPatch(Path(points, kinds), facecolor="none", **style)


def _fonts() -> list[str]:
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return [name for name in FONTS if name in installed]
