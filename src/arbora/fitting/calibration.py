"""Temperature: one number that makes the probabilities honest, fitted on dev."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from arbora.scores import Layout
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
    layout = Layout(dev.encoded.n_words[sentences])
    words = int(layout.n_words.sum())
    heads = dev.heads[:words]
    known = np.flatnonzero(dev.counted[:words])
    if not len(known):
        return 1.0
    cells = layout.arcs(np.maximum(heads, 0))[known]
    marginals_at, size = decoder.arc_marginals(dev.encoded, sentences)

    def surprise(log_temperature: float) -> float:
        marginals = marginals_at(math.exp(log_temperature))[cells]
        return -float(np.log(np.maximum(marginals, _SMALLEST)).mean())

    # Learners differ in the size of their scores by many powers of ten, so that is where the search
    # begins; far from the best temperature the surprise is flat, so it begins with a coarse grid.
    if size == 0.0:
        return 1.0
    grid = math.log(size) + np.arange(-8.0, 5.0)
    middle = grid[np.argmin([surprise(float(at)) for at in grid])]
    found = minimize_scalar(surprise, bounds=(middle - 1.0, middle + 1.0), method="bounded")
    return math.exp(float(found.x))
