"""Sentences that are too long to be parsed by mistake."""

from __future__ import annotations

import numpy as np

from arbora.data.blocks import Block, OnError
from arbora.data.whole import block_from_bytes
from arbora.errors import DataError, TooLargeError

__all__ = ["check_lengths", "without_long_sentences"]


def check_lengths(block: Block, max_words: int) -> None:
    """Refuses a list of sentences of which one is too long."""
    for i in np.flatnonzero(block.n_words > max_words).tolist():
        raise TooLargeError(f"sentence {i + 1}: {_reason(block, i, max_words)}.")


def without_long_sentences(
    block: Block, max_words: int, file: str, skip: bool, on_error: OnError | None
) -> Block:
    """A block of a file without sentences that are too long: an error, unless they are skipped."""
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
        f"the sentence has {block.words(i)} words and the limit is {max_words}; split it, or "
        "raise max_words"
    )
