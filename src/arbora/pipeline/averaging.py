"""The temperature of distributions that are averaged over drawn tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arbora.data import Block
from arbora.options import ParseOptions
from arbora.types import FloatArray

if TYPE_CHECKING:
    from arbora.pipeline.pipeline import Pipeline

__all__ = ["fit_averaging"]

_SAMPLES = 8
_SCALES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6)
_WORDS = 4000  # of dev are enough for one number
_SMALLEST = 1e-6  # a probability whose logarithm is taken


def fit_averaging(nlp: Pipeline, dev: Block) -> dict[str, Any]:
    """The entry of the card: the scale of the temperature with the least log-loss on dev.

    Scales are tried downwards from 1, as long as the loss falls.
    """
    enough = int(np.searchsorted(np.cumsum(dev.n_words), _WORDS)) + 1
    part = Block(dev.texts(0, min(enough, len(dev))), dev.layout)
    options = ParseOptions(tag_samples=_SAMPLES, retag=True, probabilities=True)
    model, best, least = nlp.model, _SCALES[0], np.inf
    try:
        for scale in _SCALES:
            nlp._model = model.with_card(averaging={"samples": _SAMPLES, "scale": scale})  # noqa: SLF001
            trees = nlp.parse_block(part, options).trees
            loss = _log_loss(trees.arc_probabilities, trees.heads == part.heads, part)
            if loss >= least:
                break
            best, least = scale, loss
    finally:
        nlp._model = model  # noqa: SLF001
    return {"samples": _SAMPLES, "scale": best}


def _log_loss(chances: FloatArray, right: Any, block: Block) -> float:
    """-log P of what is the case, whether each arc is right, over words with a gold head."""
    known = np.asarray(block.heads) >= 0
    truth = np.where(right, chances, 1.0 - chances)[known]
    return float(-np.log(np.maximum(truth, _SMALLEST)).mean()) if len(truth) else 0.0
