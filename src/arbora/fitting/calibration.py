"""Temperature scaling: calibrates probabilities with one parameter, fitted on dev."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from arbora.fitting.dev import DevSet
from arbora.models.decoding import Decoder
from arbora.models.model import Model
from arbora.scores import Layout

__all__ = ["fit_temperature"]

_ENOUGH = 500  # sentences
_CELLS = 1 << 23  # maximum number of scores; joint models have many per arc
_SMALLEST = 1e-6  # lower bound on the probability of a gold head


def fit_temperature(model: Model, dev: DevSet, threads: int) -> float:
    """The temperature that maximises the likelihood of the dev heads."""
    decoder = Decoder(model, threads)
    cells = np.cumsum((dev.encoded.n_words + 1) ** 2 * decoder.depth)
    sentences = np.arange(min(_ENOUGH, max(1, int(np.searchsorted(cells, _CELLS)))))
    layout = Layout(dev.encoded.n_words[sentences])
    words = int(layout.n_words.sum())
    heads = dev.gold.heads[:words]
    known = np.flatnonzero(dev.gold.counted[:words])
    if not len(known):
        return 1.0
    cells = layout.arcs(np.maximum(heads, 0))[known]
    marginals_at, size = decoder.marginals_at(dev.encoded, sentences)

    def surprise(log_temperature: float) -> float:
        marginals = marginals_at(math.exp(log_temperature))[cells]
        return -float(np.log(np.maximum(marginals, _SMALLEST)).mean())

    # The scale of scores differs between learners by many orders of magnitude, so the search is
    # relative to it. Far from the optimum the objective is flat, so a coarse grid comes first.
    if size == 0.0:
        return 1.0
    grid = math.log(size) + np.arange(-8.0, 5.0)
    middle = grid[np.argmin([surprise(float(at)) for at in grid])]
    found = minimize_scalar(surprise, bounds=(middle - 1.0, middle + 1.0), method="bounded")
    return math.exp(float(found.x))
