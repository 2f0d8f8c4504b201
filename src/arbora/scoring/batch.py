"""Sentences to be scored, with their annotation."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arbora.features import Encoded
from arbora.scores import Layout
from arbora.types import IntArray

__all__ = ["Batch"]


def _no_numbers() -> IntArray:
    return np.zeros(0, dtype=np.int32)


def _no_mask() -> NDArray[np.uint8]:
    return np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class Batch:
    """Some of a block's sentences.

    `heads` and `labels` are those of the annotation, flat, -1 where unknown, and empty when new
    sentences are parsed. `kept` is a mask over the cells, flat as scores are, of the arcs
    that survived pruning; it is empty if all arcs are scored. `noise` is the seed of dropout in
    training, for scorers that have any.
    """

    encoded: Encoded
    sentences: NDArray[np.int64]
    heads: IntArray = field(default_factory=_no_numbers)
    labels: IntArray = field(default_factory=_no_numbers)
    kept: NDArray[np.uint8] = field(default_factory=_no_mask)
    noise: int | None = None

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def n_words(self) -> NDArray[np.int64]:
        """Number of words of each sentence, int64 (sentences,)."""
        return self.encoded.n_words[self.sentences]

    @property
    def layout(self) -> Layout:
        """Positions in the flat arrays of arcs."""
        return Layout(self.n_words)
