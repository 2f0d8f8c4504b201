"""A place in a text, shown with a caret."""

from __future__ import annotations

from arbora.drawing.widths import cell_width, visible

__all__ = ["pointed"]


def pointed(text: str, at: int) -> str:
    """The text with a caret under character `at`, on two lines."""
    before = cell_width(visible(text[:at]))
    return f"{visible(text)}\n{' ' * before}^"
