"""Drawings of trees and probabilities as text and pictures, and of training and calibration."""

import warnings as _warnings
from collections.abc import Sequence as _Sequence

from arbora.drawing.displacy import from_displacy, to_displacy
from arbora.drawing.files import drawings_to_bytes
from arbora.drawing.heat import heat_html, heat_table
from arbora.drawing.history import draw_history
from arbora.drawing.lookalikes import make_printable
from arbora.drawing.page import html_page
from arbora.drawing.reliability import draw_reliability, reliability_text
from arbora.drawing.tree_drawing import Arc, MultiwordToken, TreeDrawing
from arbora.drawing.tree_lists import draw_tree_list, tree_lists

__all__ = [
    "Arc",
    "MultiwordToken",
    "TreeDrawing",
    "draw_history",
    "draw_reliability",
    "draw_tree_list",
    "drawings_to_bytes",
    "from_displacy",
    "heat_html",
    "heat_table",
    "html_page",
    "make_printable",
    "reliability_text",
    "to_displacy",
    "tree_lists",
]


def __getattr__(name: str) -> object:
    if name != "tree_text":
        raise AttributeError(f"module 'arbora.drawing' has no attribute {name!r}")
    _warnings.warn(
        "arbora.drawing.tree_text is deprecated and will be removed in version 0.4: use "
        "TreeDrawing.",
        DeprecationWarning,
        stacklevel=2,
    )
    return _tree_text


def _tree_text(
    words: _Sequence[str], heads: object, labels: _Sequence[str] | None = None, *, root: str = ""
) -> str:
    """A tree as text; the root has no word of its own any more, so `root` has no effect."""
    del root
    return TreeDrawing(words, heads, labels).text()  # type: ignore[arg-type]  # checked there
