"""Characters as the core sees them."""

from __future__ import annotations

from arbora._core import segmentation as _core

__all__ = ["lowered"]


def lowered(text: str) -> str:
    """Small letters, one for each character; unlike `str.lower` this never changes the length."""
    if text.isascii():
        return text.lower()
    _, small = _core.look_at(text.encode("utf-8"))
    return "".join(map(chr, small.tolist()))
