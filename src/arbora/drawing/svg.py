"""Trees as SVG: no script, no outside fonts, readable on light and dark pages."""

from __future__ import annotations

from html import escape

from arbora.drawing.shapes import ARROW, SIZES, ArcShape, Command, Shapes, Written, shapes_of
from arbora.drawing.tree_drawing import Arc, TreeDrawing

__all__ = ["COLOURS", "tree_svg", "xml_text"]

FONT = "system-ui, 'Segoe UI', Helvetica, Arial, 'Noto Sans', sans-serif"

# Colours by what they are for: on light pages, on dark ones, and in the text of any page.
_LIGHT = {"ink": "#1f2a33", "soft": "#66727e", "arc": "#2b6cb0", "doubt": "#b4510f"}
_DARK = {"ink": "#e4e9ee", "soft": "#9aa7b4", "arc": "#79b4ee", "doubt": "#f0a15e"}
_ANY = {"ink": "currentColor", "soft": "#8391a0", "arc": "#4a90d9", "doubt": "#dd7a2b"}


def _variables(colours: dict[str, str]) -> str:
    return ";".join(f"--arbora-{name}:{value}" for name, value in colours.items())


COLOURS = (
    f".arbora-tree{{{_variables(_LIGHT)}}}"
    f"@media(prefers-color-scheme:dark){{.arbora-tree{{{_variables(_DARK)}}}}}"
)
_KINDS = {
    "word": "ink", "token": "ink", "label": "ink", "tag": "soft", "number": "soft", "mark": "soft",
}  # fmt: skip
_RULES = "".join(
    f".arbora-tree .{kind}{{fill:var(--arbora-{colour})}}" for kind, colour in _KINDS.items()
) + "".join(
    f".arbora-tree .{name}{{stroke:var(--arbora-{name})}}"
    f".arbora-tree .{name}-tip{{fill:var(--arbora-{name})}}"
    for name in ("arc", "doubt", "soft")
)


def xml_text(text: str) -> str:
    """Text for XML: escaped, and without the characters that XML does not allow."""
    allowed = "".join(c if _is_allowed(ord(c)) else "\ufffd" for c in text)
    return escape(allowed, quote=True)


def _is_allowed(code: int) -> bool:
    """The characters of XML 1.0, without those that it discourages."""
    if code < 0xA0:
        return 0x20 <= code < 0x7F or code in (0x09, 0x0A)
    return not (0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code < 0xFDF0)


def tree_svg(drawing: TreeDrawing, width: float | None = None, *, inline: bool = False) -> str:
    """The tree as SVG; `inline` is for pages, whose text colour it takes."""
    shapes = shapes_of(drawing, width)
    colours = _variables(_ANY) if inline else ""
    style = f' style="{colours}"' if inline else ""
    rules = _RULES if inline else COLOURS + _RULES
    size = f'width="{_number(shapes.width)}" height="{_number(shapes.height)}"'
    box = f'viewBox="0 0 {_number(shapes.width)} {_number(shapes.height)}"'
    name = xml_text(drawing.sentence)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="arbora-tree" {size} {box} role="img" '
        f'aria-label="{name}" font-family="{FONT}" text-anchor="middle"{style}>',
        f"<title>{name}</title>",
        f"<desc>{xml_text(description(drawing))}</desc>",
        f"<style>{rules}</style>",
        *_body(shapes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def description(drawing: TreeDrawing) -> str:
    """The arcs in words, for those who cannot see them."""
    names = ["the root", *drawing.words]
    said = [
        f"{names[arc.modifier]} ({arc.modifier}) under {names[arc.head]}"
        + (f" ({arc.head})" if arc.head else "")
        + (f": {arc.text}" if arc.text else "")
        + (" (alternative)" if arc.alternative else "")
        for arc in drawing.arcs
    ]
    return "; ".join(said) + "."


def _body(shapes: Shapes) -> list[str]:
    # Sure arcs are drawn over alternatives.
    ordered = sorted(shapes.arcs, key=lambda shape: not shape.arc.alternative)
    made = [_arc(shape) for shape in ordered]
    if shapes.brackets:
        lines = " ".join(map(_path, shapes.brackets))
        made.append(f'<path class="soft" stroke="{_LIGHT["soft"]}" fill="none" d="{lines}"/>')
    return made + [_text(text) for text in shapes.texts]


def _colour(arc: Arc) -> str:
    if arc.alternative:
        return "doubt"
    return "doubt" if arc.probability is not None and arc.probability < 0.5 else "arc"


def stroke_width(arc: Arc) -> float:
    """Probable arcs are wide; arcs of unknown probability are in between."""
    if arc.alternative:
        return 0.9
    return 1.5 if arc.probability is None else 0.8 + 1.4 * arc.probability


def _arc(shape: ArcShape) -> str:
    # Programs without CSS variables ignore the rules and use the attributes.
    colour = _colour(shape.arc)
    dashes = ' stroke-dasharray="4 3"' if shape.arc.alternative else ""
    made = (
        f'<g data-head="{shape.arc.head}" data-modifier="{shape.arc.modifier}">'
        f'<path class="{colour}" stroke="{_LIGHT[colour]}" fill="none" '
        f'stroke-width="{_number(stroke_width(shape.arc))}"{dashes} d="{_path(shape.lines)}"/>'
    )
    if shape.tip is not None:
        x, y = shape.tip
        made += (
            f'<path class="{colour}-tip" fill="{_LIGHT[colour]}" d="M{_number(x)},{_number(y)}'
            f'l{-ARROW / 2:g},{-ARROW:g}h{ARROW:g}z"/>'
        )
    return made + "".join(map(_text, shape.texts)) + "</g>"


def _path(commands: list[Command]) -> str:
    return "".join(
        name + " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        for name, points in commands
    )


def _text(written: Written) -> str:
    if not written.text:
        return ""
    colour = _LIGHT[_KINDS[written.kind]]
    place = f'x="{_number(written.x)}" y="{_number(written.y)}"'
    size = f'font-size="{SIZES[written.kind]:g}"'
    shown = xml_text(written.text)
    return f'<text class="{written.kind}" fill="{colour}" {place} {size}>{shown}</text>'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
