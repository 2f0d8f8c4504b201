"""Escaping of text from files, so that it cannot control the terminal."""

from __future__ import annotations

import re

import typer

__all__ = ["plain", "tell", "visible"]

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # escape sequences begin with a control character


def visible(text: str) -> str:
    """The text with control characters escaped: `\\x1b`."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def plain(text: str) -> str:
    """The text escaped for Rich markup, control characters included."""
    from rich.markup import escape

    return escape(visible(text))


def tell(sentence: str) -> None:
    """Prints one line to standard error."""
    typer.echo(f"arbora: {visible(sentence)}", err=True)
