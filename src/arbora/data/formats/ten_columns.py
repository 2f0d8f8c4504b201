"""CoNLL-U or CoNLL-X? Both have ten columns."""

from __future__ import annotations

from functools import lru_cache

from arbora._core import data as _core
from arbora.data.formats.column_format import columns_of
from arbora.data.formats.protocols import Sign

__all__ = ["ten_column_sign"]


def ten_column_sign(beginning: bytes, *, universal: bool) -> Sign:
    """Whether a file is CoNLL-U (`universal`) or CoNLL-X, from its first lines.

    The core's `block.hpp` and docs/treebanks.md state the rule.
    """
    if columns_of(beginning) != 10:
        return Sign.no
    is_universal, is_certain = _guess(beginning)
    if is_universal != universal:
        return Sign.no
    return Sign.certain if is_certain else Sign.possible


@lru_cache(maxsize=1)  # both formats ask about the same file
def _guess(beginning: bytes) -> tuple[bool, bool]:
    return _core.guess_format(beginning)
