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


def without_enhanced(parsed: Block, before: Block | None, sentences: NDArray[np.int64]) -> bytes:
    """The text of parsed sentences without DEPS and empty nodes.

    With `before`, those whose trees are the same there keep them; `sentences` has the number in
    `before` of each.
    """
    stale = np.ones(len(parsed), dtype=np.bool_)
    if before is not None:
        stale = np.array([_changed(parsed, i, before, s) for i, s in enumerate(sentences.tolist())])
    deps = [
        ["_"] * parsed.words(i) if gone else parsed.column(i, _DEPS) for i, gone in enumerate(stale)
    ]
    parsed = parsed.with_columns(deps=deps)
    return b"".join(
        _EMPTY_NODE.sub(b"", parsed.text(i)) if gone else parsed.text(i)
        for i, gone in enumerate(stale)
    )


def _changed(parsed: Block, i: int, before: Block, s: int) -> bool:
    """Whether sentence i has another tree than sentence s of the block before."""
    trees = []
    for block, place in ((parsed, i), (before, s)):
        first = int(block.n_words[:place].sum())
        heads = block.heads[first : first + block.words(place)].tolist()
        trees.append((heads, block.column(place, _DEPREL)))
    return trees[0] != trees[1]
