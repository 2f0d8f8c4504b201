"""Tables of head probabilities as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.drawing.widths import cell_width, visible
from arbora.errors import ShapeError

__all__ = ["heat_html", "heat_table"]

SHADES = " ░▒▓█"
MOST_WORDS = 40  # of a table in a notebook


def heat_table(words: Sequence[str], marginals: ArrayLike, *, root: str = "ROOT") -> str:
    """A table of P(head | word) in percent with shades, one column per word and row per head."""
    p = _probabilities(words, marginals)
    tokens = [root, *map(visible, words)]
    margin = max(cell_width(token) for token in tokens)
    headings = [word if len(word) <= 7 else word[:6] + "…" for word in tokens[1:]]
    cell = max(6, *(cell_width(word) + 1 for word in headings))
    lines = [" " * margin + "".join(_right(word, cell) for word in headings)]
    for h, token in enumerate(tokens):
        line = token + " " * (margin - cell_width(token))
        for m in range(1, len(tokens)):
            line += _right(_heat(float(p[h, m])), cell)
        lines.append(line.rstrip())
    return "\n".join(lines)


def _probabilities(words: Sequence[str], marginals: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(marginals, dtype=np.float64)
    p = p.sum(axis=2) if p.ndim == 3 else p
    if p.shape != (len(words) + 1, len(words) + 1):
        raise ShapeError(f"there are {len(words)} words, but marginals of shape {p.shape}.")
    return p


def _heat(p: float) -> str:
    """A shade and a percentage; a dot for what rounds to 0, blank for exactly 0."""
    if p < 0.005:
        return "·" if p > 0 else ""
    return f"{SHADES[min(int(np.ceil(p * (len(SHADES) - 1))), len(SHADES) - 1)]}{100 * p:3.0f}"


def _right(text: str, width: int) -> str:
    return " " * (width - cell_width(text)) + text


def heat_html(marginals: ArrayLike, words: Sequence[str] | None = None, caption: str = "") -> str:
    """The same as an HTML table, darker if more probable; long sentences are cut.

    Without words, their numbers stand for them.
    """
    n = np.asarray(marginals).shape[0] - 1
    names = [str(word) for word in range(1, n + 1)] if words is None else list(words)
    p = _probabilities(names, marginals)
    shown = min(n, MOST_WORDS)
    head = "".join(f"<th>{escape(name)}</th>" for name in names[:shown])
    rows = []
    for h, name in enumerate(["ROOT", *names[:shown]]):
        cells = "".join(_cell(float(p[h, m])) for m in range(1, shown + 1))
        rows.append(f"<tr><th style='text-align:right'>{escape(name)}</th>{cells}</tr>")
    cut = "" if shown == n else f"; the first {shown} of {n} words"
    title = f"{caption}; P(head | word) in percent, one row per head{cut}".lstrip("; ")
    return (
        "<table style='border-collapse:collapse;font-size:90%'>"
        f"<caption style='caption-side:top;text-align:left'>{escape(title)}</caption>"
        f"<tr><th></th>{head}</tr>{''.join(rows)}</table>"
    )


def _cell(p: float) -> str:
    """A cell whose colour is transparent where it is improbable, so that any page shows through."""
    text = "" if p <= 0 else "·" if p < 0.005 else f"{100 * p:.0f}"
    shade = f"background:rgba(59,130,196,{min(p, 1.0) * 0.75:.2f})" if p >= 0.005 else ""
    return f"<td style='text-align:right;{shade}'>{text}</td>"
