"""Limit on the length of sentences."""

from __future__ import annotations

import numpy as np

from arbora.data.blocks import Block, OnError
from arbora.data.whole import block_from_bytes
from arbora.errors import DataError, TooLargeError
from arbora.options import spelled

__all__ = ["check_lengths", "without_long_sentences"]


def check_lengths(block: Block, max_words: int) -> None:
    """Raises an error if a sentence of a list is too long."""
    for i in np.flatnonzero(block.n_words > max_words).tolist():
        raise TooLargeError(f"sentence {i + 1}: {_reason(block, i, max_words)}.")


def without_long_sentences(
    block: Block, max_words: int, file: str, skip: bool, on_error: OnError | None
) -> Block:
    """A block of a file without its long sentences; they raise an error unless skipped."""
    long = np.flatnonzero(block.n_words > max_words).tolist()
    for i in long:
        error = DataError(_reason(block, i, max_words), file, block.line(i))
        if not skip:
            raise error
        if on_error is not None:
            on_error(error)
    if not long:
        return block
    kept = [block.text(i) for i in range(len(block)) if i not in long]
    return block_from_bytes(b"".join(kept), "conllx" if block.format else "conllu")


def _reason(block: Block, i: int, max_words: int) -> str:
    return (
        f"the sentence has {block.words(i)} words and the limit is {max_words}: split it, or "
        f"raise {spelled('max_words')}"
    )
