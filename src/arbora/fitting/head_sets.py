"""Calibration of head sets on annotated sentences; `models/head_sets.py` has the method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arbora.data import Block
from arbora.errors import DataError
from arbora.models.decoding import Decoder
from arbora.models.head_sets import HeadSets, distance_groups, places_of
from arbora.models.reductions import summed_over_labels
from arbora.types import FloatArray, IntArray

__all__ = ["WordScores", "calibrate_head_sets", "word_scores"]

_FEWEST = 50  # words


class WordScores(NamedTuple):
    """The probability of each word's right head, and its groups in the predicted tree, flat."""

    scores: FloatArray
    groups: dict[str, list[str]]


def calibrate_head_sets(
    decoder: Decoder, block: Block, heads: IntArray, own_tags: bool
) -> HeadSets:
    """The thresholds from the probabilities of the given heads; words without one do not count."""
    known = np.asarray(heads) >= 0
    if int(known.sum()) < _FEWEST:
        raise DataError(
            f"{int(known.sum())} words have a head; calibration requires at least {_FEWEST}",
            "the calibration data", 1,
        )  # fmt: skip
    found = word_scores(decoder, block, heads)
    groups = {
        by: [name for name, counts in zip(names, known.tolist(), strict=True) if counts]
        for by, names in found.groups.items()
    }
    sentence = np.repeat(np.arange(len(block)), block.n_words)
    n_sentences = len(np.unique(sentence[known]))
    return HeadSets.calibrated(found.scores[known], groups, n_sentences, own_tags)


def word_scores(decoder: Decoder, block: Block, heads: IntArray) -> WordScores:
    """The scores and groups of all words of a block; those of words without a head mean nothing."""
    model = decoder.model
    encoded = model.encoder.encode(block)
    scores: list[FloatArray] = []
    labels: list[str] = []
    distances: list[str] = []
    start = 0
    for piece in decoder.pieces(encoded):
        scored = decoder.score(encoded, piece)
        found = decoder.best(scored)
        chosen, _ = model.labeller.label(
            encoded, piece, found.heads, found.labels, probabilities=False
        )
        words = slice(start, start + len(found.heads))
        start += len(found.heads)
        arcs = summed_over_labels(decoder.calibrated(scored))
        scores.append(arcs[scored.summed.layout.arcs(np.maximum(heads[words], 0))])
        labels += [model.labels[k] if k >= 0 else "_" for k in chosen.tolist()]
        distances += distance_groups(found.heads, places_of(scored.summed.n_words))
    return WordScores(np.concatenate(scores), {"label": labels, "distance": distances})
