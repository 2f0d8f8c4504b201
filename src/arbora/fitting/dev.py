"""Evaluation on dev during training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.data.conllu import sentences_of
from arbora.errors import DataError
from arbora.evaluation.gold_words import GoldWords
from arbora.fitting.loop import DevScores
from arbora.models.components import Unlabelled
from arbora.models.decoding import Decoder
from arbora.models.model import Model
from arbora.types import IntArray

__all__ = ["DevSet", "dev_set_of"]


class DevSet:
    """Annotated sentences, encoded once and parsed after every pass."""

    def __init__(
        self, block: Block, model: Model, sentences: NDArray[np.int64] | None = None
    ) -> None:
        places = np.arange(len(block)) if sentences is None else sentences
        everything = list(sentences_of(block))
        self.gold = GoldWords([everything[i] for i in places.tolist()], model.labels)
        self.encoded = model.encoder.encode(block, places)
        self._labelled = not isinstance(model.labeller, Unlabelled)

    def score(self, decoder: Decoder) -> DevScores:
        """UAS and LAS of the decoder's trees."""
        parsed = decoder(self.encoded)
        return self.scores_of(parsed.heads, parsed.labels)

    def scores_of(self, heads: IntArray, labels: IntArray) -> DevScores:
        """UAS and LAS of given trees, flat."""
        uas = self.gold.uas(heads)
        return DevScores(uas, self.gold.las(heads, labels) if self._labelled else None)


def dev_set_of(
    model: Model, block: Block | None, sentences: NDArray[np.int64] | None
) -> DevSet | None:
    """Some sentences of a block, or all; None if there are none with heads to hold out."""
    if block is None or len(block) == 0:
        return None
    dev_set = DevSet(block, model, sentences)
    if dev_set.gold.counted.any():
        return dev_set
    if sentences is None:
        raise DataError("no word has a head; dev data must be annotated", "the dev data", 1)
    return None
