"""Calibration of head sets on annotated sentences; `models/head_sets.py` has the method."""

from __future__ import annotations

import numpy as np

from arbora.data import Block
from arbora.errors import DataError
from arbora.models.decoding import Decoder
from arbora.models.decoding_steps import summed_over_labels
from arbora.models.head_sets import HeadSets, distance_groups, places_of
from arbora.types import IntArray

__all__ = ["calibrate_head_sets"]

_FEWEST = 50  # words


def calibrate_head_sets(
    decoder: Decoder, block: Block, heads: IntArray, own_tags: bool
) -> HeadSets:
    """The thresholds from the probabilities of the given heads; words without one do not count."""
    model = decoder.model
    encoded = model.encoder.encode(block)
    known = np.asarray(heads) >= 0
    if int(known.sum()) < _FEWEST:
        raise DataError(
            f"{int(known.sum())} words have a head; calibration requires at least {_FEWEST}",
            "the calibration data", 1,
        )  # fmt: skip
    scores, labels, distances, start = [], [], [], 0
    for piece in decoder.pieces(encoded):
        scored = decoder.score(encoded, piece)
        found = decoder.best(scored)
        chosen, _ = model.labeller.label(
            encoded, piece, found.heads, found.labels, probabilities=False
        )
        n_words = scored.summed.n_words
        words = slice(start, start + len(found.heads))
        start += len(found.heads)
        arcs = summed_over_labels(decoder.calibrated(scored))
        scores.append(arcs[scored.summed.layout.arcs(np.maximum(heads[words], 0))])
        labels += [model.labels[k] if k >= 0 else "_" for k in chosen.tolist()]
        distances += distance_groups(found.heads, places_of(n_words))
    groups = {
        by: [name for name, counts in zip(names, known.tolist(), strict=True) if counts]
        for by, names in (("label", labels), ("distance", distances))
    }
    sentence = np.repeat(np.arange(len(block)), block.n_words)
    return HeadSets.calibrated(
        np.concatenate(scores)[known], groups, len(np.unique(sentence[known])), own_tags
    )
