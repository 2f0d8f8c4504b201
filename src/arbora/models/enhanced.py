"""Enhanced dependencies of the input, which belong to the tree that it had."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.data.block import COLUMNS

__all__ = ["has_enhanced", "without_enhanced"]

_DEPREL, _DEPS = COLUMNS.index("labels"), COLUMNS.index("deps")
_EMPTY_NODE = re.compile(rb"^\d+\.\d+\t.*(?:\n|\Z)", re.MULTILINE)


def has_enhanced(block: Block) -> bool:
    """Whether a block has enhanced dependencies or empty nodes."""
    if any(name != "_" for name, _ in block.column_names(_DEPS)):
        return True
    return _EMPTY_NODE.search(block.texts(0, len(block))) is not None


def without_enhanced(parsed: Block, before: Block, sentences: NDArray[np.int64]) -> bytes:
    """The text of parsed sentences, without DEPS and empty nodes where the tree has changed.

    `sentences` has the number in `before` of each parsed sentence.
    """
    ends, own_ends = np.cumsum(before.n_words), np.cumsum(parsed.n_words)
    changed = []
    for i, s in enumerate(sentences.tolist()):
        n = before.words(s)
        old, new = before.heads[ends[s] - n : ends[s]], parsed.heads[own_ends[i] - n : own_ends[i]]
        same = np.array_equal(old, new) and before.column(s, _DEPREL) == parsed.column(i, _DEPREL)
        changed.append(not same)
    deps = [
        ["_"] * parsed.words(i) if stale else parsed.column(i, _DEPS)
        for i, stale in enumerate(changed)
    ]
    parsed = parsed.with_columns(deps=deps)
    return b"".join(
        _EMPTY_NODE.sub(b"", parsed.text(i)) if stale else parsed.text(i)
        for i, stale in enumerate(changed)
    )
