"""Texts from files on a terminal: they are shown, and never obeyed."""

from __future__ import annotations

import re

import typer

__all__ = ["plain", "tell", "visible"]

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # escape sequences begin with one of them


def visible(text: str) -> str:
    """The text with control characters written out: an escape is `\\x1b`."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def plain(text: str) -> str:
    """The text as Rich's markup of itself: brackets are brackets too."""
    from rich.markup import escape

    return escape(visible(text))


def tell(sentence: str) -> None:
    """One line on standard error."""
    typer.echo(f"arbora: {visible(sentence)}", err=True)
