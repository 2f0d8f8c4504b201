"""Trees drawn from a model's distribution, with weights where the draws are of another one.

First-order models and exact second-order models are drawn from directly: all weights are equal. For
dual decomposition, belief propagation and hill climbing there is no exact draw. There the draws are
those of the first-order pruner q over the arcs that it keeps, and each tree t has the importance
weight exp(score(t) / T) / q(t), normalised within the sentence. T makes log-probabilities of
scores: it is fitted on dev (`fit_weight_temperature`), since those of MIRA or the perceptron are
none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.features import Encoded
from arbora.inference.engines import TreeLists
from arbora.inference.tree_parts import list_parts
from arbora.models.components import FirstOrderPruner
from arbora.models.decoding import Decoder, Scored
from arbora.types import FloatArray, IntArray

__all__ = [
    "Draws",
    "WeightedSamples",
    "draw_trees",
    "fit_weight_temperature",
    "is_weighted",
    "weight_temperature",
]

CARD = "weighting"  # the card's entry
_DRAWS = 64  # per dev sentence, to fit the temperature
_ENOUGH = 500  # dev sentences
_FLAT = (1.0, 4.0)  # factors of the pruner's temperature


@dataclass(frozen=True)
class Draws:
    """`count` trees of each of some sentences: heads flat, tree after tree.

    `weights` (sentences, count) sum to 1 for each sentence. `labels` are those of joint models.
    """

    scored: Scored
    count: int
    heads: IntArray
    labels: IntArray | None
    weights: FloatArray

    @property
    def effective(self) -> FloatArray:
        """The effective sample size of each sentence, 1 / sum of squared weights (Kish)."""
        return np.asarray(1.0 / (self.weights**2).sum(axis=1))


class WeightedSamples(NamedTuple):
    """Trees of a sentence with weights that sum to 1: heads (count, n), weights (count,).

    `effective` is the effective sample size: so many equally weighted draws would be as good.
    """

    heads: IntArray
    weights: FloatArray
    effective: float


def is_weighted(decoder: Decoder) -> bool:
    """Whether the model's draws need weights."""
    return not hasattr(decoder.engine, "sample")


def weight_temperature(decoder: Decoder) -> float | None:
    """The temperature of the weights in the model's card, if it was fitted."""
    entry: dict[str, Any] | None = decoder.model.card.get(CARD)
    return None if entry is None else float(entry["temperature"])


def draw_trees(
    decoder: Decoder,
    encoded: Encoded,
    sentences: NDArray[np.int64],
    count: int,
    seed: int,
    keys: NDArray[np.int64],
    temperature: float | None = None,
) -> Draws:
    """Draws of some sentences; `keys` are the numbers that the draws depend on.

    `temperature` is that of the weights, by default the one in the card.
    """
    scored = decoder.score(encoded, sentences)
    if not is_weighted(decoder):
        calibrated = scored.summed.scaled(1.0 / decoder.model.temperature)
        found: TreeLists = decoder.engine.sample(calibrated, count, seed, keys)
        equal = np.full((len(sentences), count), 1.0 / count)
        return Draws(scored, count, found.heads, found.labels, equal)
    if temperature is None:
        temperature = weight_temperature(decoder)
    if temperature is None:
        raise ArgumentError(
            "this model's scores have no fitted temperature yet: fit it on annotated sentences "
            "with parser.fit_weights(dev), or give a temperature."
        )
    heads, log_ratios = _proposals(decoder, scored, count, seed, keys)
    log_weights = log_ratios(temperature)
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    return Draws(scored, count, heads, None, weights / weights.sum(axis=1, keepdims=True))


def fit_weight_temperature(
    decoder: Decoder, encoded: Encoded, heads: IntArray, seed: int = 0
) -> float:
    """The temperature that maximises the likelihood of gold trees, flat, of all sentences.

    log p(t) = score(t) / T - log Z(T), and Z(T) is estimated by the same draws as are weighted
    later: the mean of exp(score / T) / q. Sentences whose gold tree is pruned are left out.
    """
    ends = np.cumsum(encoded.n_words)
    totals: list[tuple[FloatArray, Any]] = []
    left = _ENOUGH
    for piece in decoder.pieces(encoded):
        piece = piece[:left]
        left -= len(piece)
        if not len(piece):
            break
        scored = decoder.score(encoded, piece)
        gold = heads[ends[piece[0]] - encoded.n_words[piece[0]] : ends[piece[-1]]]
        _, scores = list_parts(
            scored.scores, np.maximum(gold, 0), np.ones(len(piece), np.int64), np.zeros(len(piece))
        )
        whole = np.minimum.reduceat(gold, np.cumsum(scored.batch.n_words) - scored.batch.n_words)
        cells = scored.scores.layout.arcs(np.maximum(gold, 0))
        kept = scored.scores.layout.per_sentence(np.isneginf(scored.scores.arcs[cells])) == 0
        usable = kept & (whole >= 0) & np.isfinite(scores)
        _, ratios = _proposals(decoder, scored, _DRAWS, seed, piece)
        totals.append((np.where(usable, scores, np.nan), ratios))
    if not any(np.isfinite(scores).any() for scores, _ in totals):
        raise ArgumentError("no sentence has a complete tree over the arcs that the pruner keeps.")

    def surprise(log_temperature: float) -> float:
        temperature, lost = math.exp(log_temperature), 0.0
        for scores, ratios in totals:
            of_draws = ratios(temperature)
            top = of_draws.max(axis=1)
            log_z = top + np.log(np.exp(of_draws - top[:, None]).mean(axis=1))
            lost += float(np.nansum(log_z - scores / temperature))
        return lost

    from scipy.optimize import minimize_scalar

    sizes = np.concatenate([scores[np.isfinite(scores)] for scores, _ in totals])
    grid = math.log(max(float(np.abs(sizes).mean()), 1e-9)) + np.arange(-12.0, 3.0)
    middle = grid[int(np.argmin([surprise(float(at)) for at in grid]))]
    found = minimize_scalar(surprise, bounds=(middle - 1.0, middle + 1.0), method="bounded")
    return math.exp(float(found.x))


def _proposals(
    decoder: Decoder, scored: Scored, count: int, seed: int, keys: NDArray[np.int64]
) -> tuple[IntArray, Any]:
    """Draws of the first-order pruner, and a function from temperature to log-weights.

    Half of them are of a flatter distribution, and q is the mixture of both, so that no weight is
    large where the pruner is too sure. The log-weights (sentences, count) are score / T - log q;
    log q includes its constant, so that their mean is an estimate of Z.
    """
    pruner = decoder.model.pruner
    assert isinstance(pruner, FirstOrderPruner)
    first = pruner.first_order(scored.batch)
    own = 1.0 if hasattr(decoder.engine, "infer") else decoder.model.temperature
    possible = scored.batch.kept != 0
    proposals = [
        first.with_values(np.where(possible, first.arcs / (own * flat), -np.inf)) for flat in _FLAT
    ]
    sizes = [count - count // 2, count // 2]
    drawn = [
        pruner.engine.sample(proposal, size, seed + i, keys).heads
        for i, (proposal, size) in enumerate(zip(proposals, sizes, strict=True))
        if size
    ]
    heads = _interleaved(drawn, sizes, scored.batch.n_words)
    lists = TreeLists(heads, None, np.full(len(scored.batch), count, dtype=np.int64))
    log_q = np.full((len(scored.batch), count), -np.inf)
    for proposal, size in zip(proposals, sizes, strict=True):
        of_trees = pruner.engine.tree_scores(proposal, lists).reshape(-1, count)
        of_trees = of_trees - pruner.engine.infer(proposal).log_partition[:, None]
        log_q = np.logaddexp(log_q, of_trees + math.log(max(size, 1e-300) / count))
    _, scores = list_parts(scored.scores, heads, lists.counts, np.zeros(log_q.size))
    scores = scores.reshape(-1, count)
    return heads, lambda temperature: scores / temperature - log_q


def _interleaved(drawn: list[IntArray], sizes: list[int], n_words: NDArray[np.int64]) -> IntArray:
    """The draws of all proposals, sentence by sentence."""
    starts = [0] * len(drawn)
    pieces = []
    for n in n_words.tolist():
        for i, (heads, size) in enumerate(zip(drawn, sizes, strict=False)):
            pieces.append(heads[starts[i] : starts[i] + n * size])
            starts[i] += n * size
    return np.concatenate(pieces)
