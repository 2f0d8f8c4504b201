"""Calibration on dev: a temperature, and for models without sums a bonus for the decoded tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from arbora.features import Encoded
from arbora.fitting.dev import DevSet
from arbora.models.calibrated import at_temperature
from arbora.models.decoding import Decoder
from arbora.models.model import Model
from arbora.models.reductions import summed_over_labels
from arbora.scores import Layout
from arbora.types import FloatArray, IntArray

__all__ = ["calibrated"]

_ENOUGH = 500  # sentences
_CELLS = 1 << 23  # maximum number of scores; joint models have many per arc
_SMALLEST = 1e-6  # lower bound on the probability of a gold head
_ENOUGH_FOR_TWO = 2000  # sentences for temperature and bonus
_LARGEST_BONUS = 10.0


def calibrated(model: Model, dev: DevSet, threads: int) -> Model:
    """The model with the temperature that maximises the likelihood of the dev heads."""
    decoder = Decoder(model, threads)
    cells = np.cumsum((dev.encoded.n_words + 1) ** 2 * decoder.depth)
    sentences = np.arange(min(_ENOUGH, max(1, int(np.searchsorted(cells, _CELLS)))))
    layout = Layout(dev.encoded.n_words[sentences])
    words = int(layout.n_words.sum())
    heads = dev.gold.heads[:words]
    known = np.flatnonzero(dev.gold.counted[:words])
    if not len(known):
        return replace(model, temperature=1.0)
    cells = layout.arcs(np.maximum(heads, 0))[known]
    marginals_at, size, _ = _marginals_at(decoder, dev.encoded, sentences)

    def surprise(log_temperature: float) -> float:
        marginals = marginals_at(math.exp(log_temperature), 0.0)[cells]
        return -float(np.log(np.maximum(marginals, _SMALLEST)).mean())

    # The scale of scores differs between learners by many orders of magnitude, so the search is
    # relative to it. Far from the optimum the objective is flat, so a coarse grid comes first.
    if size == 0.0:
        return replace(model, temperature=1.0)
    grid = math.log(size) + np.arange(-8.0, 5.0)
    middle = grid[np.argmin([surprise(float(at)) for at in grid])]
    found = minimize_scalar(surprise, bounds=(middle - 1.0, middle + 1.0), method="bounded")
    model = replace(model, temperature=math.exp(float(found.x)))
    return _with_bonus(model, dev, decoder) if decoder.has_companion else model


def _with_bonus(model: Model, dev: DevSet, decoder: Decoder) -> Model:
    """The model with the temperature and bonus by which it knows best which of its arcs are right.

    It minimises the log-loss of whether each arc of the decoded trees is right, over sentences
    from all parts of dev.
    """
    n_words = dev.encoded.n_words
    is_taken = np.arange(len(n_words)) % -(-len(n_words) // _ENOUGH_FOR_TWO) == 0
    sentences, words = np.flatnonzero(is_taken), np.repeat(is_taken, n_words)
    marginals_at, _, chosen = _marginals_at(decoder, dev.encoded, sentences)
    assert chosen is not None
    known = dev.gold.counted[words]
    right = (chosen == dev.gold.heads[words])[known]
    if not len(right):
        return model
    cells = Layout(n_words[sentences]).arcs(chosen)[known]

    def surprise(at: FloatArray) -> float:
        chances = marginals_at(math.exp(at[0]), float(at[1]))[cells]
        of_facts = np.where(right, chances, 1.0 - chances)
        return -float(np.log(np.maximum(of_facts, _SMALLEST)).mean())

    middle = math.log(model.temperature)
    found = minimize(
        surprise, (middle, 0.5), method="Nelder-Mead",
        bounds=((middle - 2.0, middle + 2.0), (0.0, _LARGEST_BONUS)),
        options={"xatol": 0.02, "fatol": 1e-4},
    )  # fmt: skip
    log_temperature, bonus = map(float, found.x)
    return replace(model, temperature=math.exp(log_temperature)).with_card(tree_bonus=bonus)


def _marginals_at(
    decoder: Decoder, encoded: Encoded, sentences: NDArray[np.int64]
) -> tuple[Callable[[float, float], FloatArray], float, IntArray | None]:
    """A function from temperature and bonus to arc probabilities; the spread of the scores.

    The bonus is that of the decoded trees' arcs. Models with a companion have one; for these the
    heads of these trees are the third answer.
    """
    scored = decoder.score(encoded, sentences)
    heads = decoder.best(scored).heads if decoder.has_companion else None

    def marginals(temperature: float, bonus: float) -> FloatArray:
        scores = at_temperature(scored.summed, temperature, bonus, heads)
        return summed_over_labels(scored.summing.infer(scores))

    arcs = scored.summed.arcs
    return marginals, float(arcs[np.isfinite(arcs)].std()), heads
