"""Trees for LaTeX, with the package tikz-dependency."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from arbora.drawing.tree_drawing import Arc, TreeDrawing

__all__ = ["escape_latex", "tree_latex"]

# `\\&` separates the columns of deptext, so an ampersand is written by its number; brackets would
# begin an optional argument after `\\\\`.
SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "%": r"\%", "#": r"\#",
    "_": r"\_", "&": r"{\char38}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"{\char34}",
    "[": "{[}", "]": "{]}", "*": "{*}", "`": r"{\char96}", "'": r"{\char39}", "-": "{-}",
}  # fmt: skip

PREAMBLE = r"""% lualatex and xelatex show all letters that the font has; pdflatex those of Latin.
\documentclass[border=4pt, multi=dependency]{standalone}
\usepackage{iftex}
\ifpdftex\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi
\usepackage{tikz-dependency}
\begin{document}
"""


def escape_latex(text: str) -> str:
    """The text with everything escaped that means something to LaTeX or tikz-dependency."""
    return "".join(SPECIAL.get(c, c) for c in text if not _is_control(c))


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}


def tree_latex(drawings: Sequence[TreeDrawing], *, document: bool = False) -> str:
    """The trees as `dependency` environments; `document` adds a preamble for lualatex or pdflatex.

    The words of right-to-left sentences are in visual order. Alternatives are dashed.
    """
    pieces = [_environment(drawing) for drawing in drawings]
    if not document:
        return "\n".join(pieces)
    return PREAMBLE + "\n".join(pieces) + "\\end{document}\n"


def _environment(drawing: TreeDrawing) -> str:
    n = len(drawing)
    order = range(n, 0, -1) if drawing.right_to_left else range(1, n + 1)
    places = {word: place for place, word in enumerate(order, start=1)}
    lines = [r"\begin{dependency}", r"  \begin{deptext}[column sep=1em]"]
    lines.append(_text_row([drawing.words[word - 1] for word in order]))
    if drawing.tags:
        lines.append(_text_row([drawing.tags[word - 1] for word in order]))
    lines.append(r"  \end{deptext}")
    lines += [_edge(arc, places) for arc in drawing.arcs]
    for number, token in enumerate(drawing.multiword, start=1):
        first, last = sorted((places[token.first], places[token.last]))
        lines.append(f"  \\wordgroup{{1}}{{{first}}}{{{last}}}{{token{number}}}")
    lines.append(r"\end{dependency}")
    return "\n".join(lines) + "\n"


def _text_row(texts: list[str]) -> str:
    return "    " + r" \& ".join(escape_latex(text) or "{}" for text in texts) + r" \\"


def _edge(arc: Arc, places: dict[int, int]) -> str:
    style = "[edge style={dashed, thin}]" if arc.alternative else ""
    text = escape_latex(arc.text)
    if arc.head == 0:
        return f"  \\deproot{style}{{{places[arc.modifier]}}}{{{text or 'root'}}}"
    return f"  \\depedge{style}{{{places[arc.head]}}}{{{places[arc.modifier]}}}{{{text}}}"
