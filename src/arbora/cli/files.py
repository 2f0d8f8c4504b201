"""Files as arguments; `-` is standard input."""

from __future__ import annotations

from arbora.errors import ArgumentError

__all__ = ["check_one_input"]


def check_one_input(*paths: str) -> None:
    """Standard input can be read only once."""
    if paths.count("-") > 1:
        raise ArgumentError("standard input (-) can stand for one file only")
