"""Drawings as the bytes of a file, whose ending determines the format."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from arbora.drawing.displacy import to_displacy
from arbora.drawing.latex import tree_latex
from arbora.drawing.page import html_page
from arbora.drawing.tree_drawing import TreeDrawing
from arbora.errors import ArgumentError

__all__ = ["ENDINGS", "drawings_to_bytes", "ending_of"]

ENDINGS = (".svg", ".pdf", ".png", ".tex", ".html", ".json", ".txt")
ONE_TREE = (".svg", ".png")


def ending_of(path: str | os.PathLike[str]) -> str:
    """The ending of a drawing's file; raises an error for one that is not known."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ArgumentError(
            f"{os.fspath(path)}: the name of a drawing must end in {', '.join(ENDINGS[:-1])} or "
            f"{ENDINGS[-1]}."
        )
    return ending


def drawings_to_bytes(
    drawings: Sequence[TreeDrawing], path: str | os.PathLike[str], width: float | None = None
) -> bytes:
    """The content of a file with that name.

    `width` is in characters for .txt and in pixels for pictures. A file .svg or .png holds one
    drawing, a .pdf one per page, the others any number; .json is a list in displaCy's format.
    """
    ending = ending_of(path)
    if ending in ONE_TREE and len(drawings) != 1:
        raise ArgumentError(
            f"a {ending} file holds one sentence, not {len(drawings)}: select one, or write .html "
            "or .pdf."
        )
    if ending in (".pdf", ".png"):
        from arbora.drawing.figure import figure_bytes

        return figure_bytes(drawings, ending[1:], width)
    return _text(drawings, ending, width).encode("utf-8", errors="replace")


def _text(drawings: Sequence[TreeDrawing], ending: str, width: float | None) -> str:
    match ending:
        case ".svg":
            return drawings[0].svg(width)
        case ".tex":
            return tree_latex(drawings, document=True)
        case ".html":
            return html_page(drawings, width=width)
        case ".json":
            made = [to_displacy(drawing) for drawing in drawings]
            return json.dumps(made, ensure_ascii=False, indent=1) + "\n"
        case _:
            columns = None if width is None else int(width)
            texts = [drawing.text(columns, ascii=False) for drawing in drawings]
            return "\n\n".join(texts) + "\n"
