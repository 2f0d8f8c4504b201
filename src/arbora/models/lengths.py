"""Limit on the length of sentences."""

from __future__ import annotations

import numpy as np

from arbora.data import Block
from arbora.errors import TooLargeError

__all__ = ["check_lengths"]


def check_lengths(block: Block, max_words: int) -> None:
    """Raises an error if a sentence of a list is too long."""
    for i in np.flatnonzero(block.n_words > max_words).tolist():
        raise TooLargeError(
            f"sentence {i + 1}: the sentence has {block.words(i)} words and the limit is "
            f"{max_words}: split it, or raise the limit (--max-words, max_words)."
        )
