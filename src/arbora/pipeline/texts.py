"""Whether a file is raw text or a treebank."""

from __future__ import annotations

import codecs

from arbora.data.blocks import is_model
from arbora.data.formats import FORMATS
from arbora.data.formats.protocols import Sign

__all__ = ["PEEKED", "is_clean", "looks_like_text"]

PEEKED = 1 << 16  # bytes that tell what a file is


def looks_like_text(beginning: bytes) -> bool:
    """Whether no format recognises the beginning of a file, and its first line has no tab."""
    if is_model(beginning):
        return False
    if any(one.reader.recognises(beginning) is not Sign.no for one in FORMATS.values()):
        return False
    lines = (line.strip() for line in beginning.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return bool(first) and b"\t" not in first


def is_clean(beginning: bytes) -> bool:
    """Whether the beginning of a file is UTF-8 without NUL; its last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return False
    return b"\0" not in beginning
