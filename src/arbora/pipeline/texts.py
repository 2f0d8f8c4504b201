"""Whether a file is raw text or a treebank."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

from arbora.data.blocks import is_model
from arbora.data.formats import FORMATS
from arbora.data.formats.protocols import Sign
from arbora.data.source import ReadPath

__all__ = ["looks_like_text"]

_BEGINNING = 1 << 16
_COMPRESSED = (b"\x1f\x8b",)  # gzip; a compressed file is a treebank unless the format says text


def looks_like_text(source: ReadPath) -> bool:
    """Whether no format recognises the beginning of a file, and its first line has no tab."""
    beginning = _beginning(source)
    if not beginning or beginning.startswith(_COMPRESSED) or is_model(beginning):
        return False
    if any(one.reader.recognises(beginning) is not Sign.no for one in FORMATS.values()):
        return False
    lines = (line.strip() for line in beginning.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return bool(first) and b"\t" not in first


def _beginning(source: Any) -> bytes:
    """The first bytes of a file, which can be read again; nothing if they cannot."""
    if source == "-":
        source = sys.stdin.buffer
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if not path.is_file():  # a missing file, or a pipe, whose bytes are read only once
            return b""
        with path.open("rb") as file:
            return file.read(_BEGINNING)
    if isinstance(source, io.BufferedReader):
        return source.peek(_BEGINNING)
    if isinstance(source, io.BytesIO):
        return source.getbuffer()[source.tell() :][:_BEGINNING].tobytes()
    return b""
