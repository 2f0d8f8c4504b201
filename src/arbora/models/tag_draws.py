"""Drawn tags of the sentences of a block, each different drawing once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block

__all__ = ["TagDraws"]


@dataclass(frozen=True)
class TagDraws:
    """K drawings of a block's tags, without repetitions.

    A sentence's first drawing is in the first block; a later block counts for those sentences whose
    tags differ from all earlier ones. `sentences[k]` are the numbers of these sentences,
    increasing, and `shares[k]` says how many of the `count` drawings each stands for. `doubtful`
    marks the sentences that have drawings: those whose tags are not all in the input.
    """

    count: int
    blocks: tuple[Block, ...]
    sentences: tuple[NDArray[np.int64], ...]
    shares: tuple[NDArray[np.int64], ...]
    doubtful: NDArray[np.bool_]

    @classmethod
    def found(cls, given: Block, drawn: Sequence[Block], finished: Sequence[Block]) -> TagDraws:
        """From the input, its drawings, and these again with all that follows from the tags."""
        shares = np.zeros((len(drawn), len(given)), dtype=np.int64)
        for i in range(len(given)):
            text = given.text(i)
            if all(block.text(i) == text for block in drawn):
                continue
            seen: dict[bytes, int] = {}
            for k, block in enumerate(finished):
                shares[seen.setdefault(block.text(i), k), i] += 1
        used = shares.max(axis=1, initial=0) > 0
        return cls(
            len(drawn),
            tuple(block for block, is_used in zip(finished, used, strict=True) if is_used),
            tuple(np.flatnonzero(row) for row in shares[used]),
            tuple(row[row > 0] for row in shares[used]),
            shares[0] > 0,
        )
