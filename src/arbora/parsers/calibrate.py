"""Temperature: one number that makes the probabilities honest, fitted on dev."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from arbora.inference.layout import Layout
from arbora.parsers.decoding import BlockDecoder
from arbora.parsers.dev import DevSet
from arbora.parsers.model import Model

__all__ = ["fit_temperature"]

_ENOUGH = 500  # sentences
_CELLS = 1 << 23  # numbers to score at most, since joint models have many per arc
_SMALLEST = 1e-6  # probability that a gold head counts with, if the model gives it less


def fit_temperature(model: Model, dev: DevSet, threads: int) -> float:
    """The temperature under which the dev words' heads are likeliest."""
    decoder = BlockDecoder(model, threads, decode="map")
    cells = np.cumsum((dev.encoded.n_words + 1) ** 2 * decoder.depth)
    sentences = np.arange(min(_ENOUGH, max(1, int(np.searchsorted(cells, _CELLS)))))
    trees = decoder.distribution(dev.encoded, sentences)
    layout = Layout(trees.n_words)
    words = len(layout.arcs(np.zeros(int(trees.n_words.sum()), dtype=np.int32)))
    heads = dev.heads[:words]
    known = np.flatnonzero(dev.counted[:words])
    if not len(known):
        return 1.0
    cells = layout.arcs(np.maximum(heads, 0))[known]
    depth = trees.n_labels or 1

    def surprise(log_temperature: float) -> float:
        scaled = trees.with_scores(trees.flat / math.exp(log_temperature))
        marginals = scaled.sums(marginals=True).marginals.reshape(-1, depth)[cells].sum(axis=1)
        return -float(np.log(np.maximum(marginals, _SMALLEST)).mean())

    # Learners differ in the size of their scores by many powers of ten, so that is where the search
    # begins; far from the best temperature the surprise is flat, so it begins with a coarse grid.
    size = float(trees.flat[np.isfinite(trees.flat)].std())
    if size == 0.0:
        return 1.0
    grid = math.log(size) + np.arange(-8.0, 5.0)
    middle = grid[np.argmin([surprise(float(at)) for at in grid])]
    found = minimize_scalar(surprise, bounds=(middle - 1.0, middle + 1.0), method="bounded")
    return math.exp(float(found.x))
