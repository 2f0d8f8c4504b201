"""ASCII characters that look like box-drawing characters, for terminals that have no others."""

from __future__ import annotations

import codecs
from io import TextIOWrapper
from typing import TextIO

__all__ = ["IN_ASCII", "make_printable", "shows_lines"]

IN_ASCII = str.maketrans("│─╭╮├┤┬┼└┘▼→←░▒▓█·…", "|-++++++++v><.:*#.~")


def shows_lines(stream: TextIO | None) -> bool:
    """Whether a stream can encode box-drawing characters."""
    encoding = getattr(stream, "encoding", None) or "utf-8"  # streams of text have none
    try:
        "╭▼".encode(encoding)
    except (UnicodeError, LookupError):
        return False
    return True


def make_printable(stream: TextIO) -> None:
    """Makes a stream that cannot encode box-drawing characters print ASCII lookalikes.

    Characters without a lookalike become question marks. Other streams are not changed.
    """
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="arbora.drawing")


def _lookalikes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(IN_ASCII)
    return "".join(c if c.isascii() else "?" for c in text), error.end


codecs.register_error("arbora.drawing", _lookalikes)
