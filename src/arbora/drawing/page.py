"""Pages and tables of HTML: many sentences on one page, results in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arbora.drawing.svg import xml_text
from arbora.drawing.tree_drawing import TreeDrawing

__all__ = ["html_page", "html_table"]

WIDTH = 960.0  # pixels
STYLE = """
:root { color-scheme: light dark; }
body { font-family: system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }
section { margin: 0 0 2.5rem; overflow-x: auto; }
h2 { font-size: 1rem; margin: 0 0 .2rem; }
h2 a { color: inherit; text-decoration: none; }
p { margin: 0 0 .8rem; }
"""


def html_page(
    drawings: Iterable[TreeDrawing], title: str = "Trees", *, width: float | None = None
) -> str:
    """A page of its own with all trees: text to search, a picture each, no script.

    The heading of a sentence is its identifier, or its number on the page. Links such as
    `page.html#s3` lead to sentences by number.
    """
    room = WIDTH if width is None else width
    sections = [_section(number, one, room) for number, one in enumerate(drawings, start=1)]
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{xml_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{xml_text(title)}</h1>\n{''.join(sections)}</body>\n</html>\n"
    )


def _section(number: int, drawing: TreeDrawing, width: float) -> str:
    direction = "rtl" if drawing.right_to_left else "ltr"
    return (
        f'<section id="s{number}">\n'
        f'<h2><a href="#s{number}">{xml_text(drawing.name or str(number))}</a></h2>\n'
        f'<p dir="{direction}">{xml_text(drawing.sentence)}</p>\n'
        f"{drawing.svg(width, inline=True)}</section>\n"
    )


def html_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    caption: str = "",
    notes: Iterable[str] = (),
) -> str:
    """A table for notebooks: names on the left, figures on the right, everything escaped.

    It has no colours of its own, so it is readable on any background.
    """
    head = "".join(_entry("th", name, place) for place, name in enumerate(headings))
    body = "".join(
        f"<tr>{''.join(_entry('td', value, place) for place, value in enumerate(row))}</tr>"
        for row in rows
    )
    top = f"<caption style='caption-side:top;text-align:left'>{xml_text(caption)}</caption>"
    below = "".join(f"<div style='font-size:90%'>{xml_text(note)}</div>" for note in notes)
    return f"<table>{top if caption else ''}<tr>{head}</tr>{body}</table>{below}"


def _entry(tag: str, value: object, place: int) -> str:
    side = "left" if place == 0 else "right"
    return f"<{tag} style='text-align:{side}'>{xml_text(str(value))}</{tag}>"
