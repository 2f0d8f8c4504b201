"""The labels of drawn trees: the probability that each arc has a label that the pattern allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.features import Encoded
from arbora.models.components import JointLabels
from arbora.models.decoding import Decoder
from arbora.models.draws import Draws
from arbora.scores import Layout
from arbora.scoring import softmax
from arbora.types import FloatArray, IntArray

__all__ = ["ArcLabels", "LabelsOfDraws", "labels_of_draws"]


@dataclass(frozen=True)
class LabelsOfDraws:
    """For each arc of the pattern and each word of the drawn trees, (pattern arcs, words).

    `chances` is the probability, given the tree, that the word's arc has an allowed label;
    `drawn` is whether a drawn label is allowed. `arcs` has the probabilities given the arc alone.
    """

    chances: FloatArray
    drawn: NDArray[np.bool_]
    arcs: ArcLabels


@dataclass(frozen=True)
class ArcLabels:
    """P(allowed label | arc) of every cell of a batch, two estimates: (2, pattern arcs, cells).

    For joint models both are exact: labels depend on their own arc only. A staged labeller looks at
    the tree around the arc. There the first estimate is from the first half of the draws and the
    second from the other half: the mean over the drawn trees that have the arc, and for an arc that
    none has, the mean over the word's drawn arcs (over those of all words, if it has none or the
    arc is from the root). What an estimate misses is corrected with the draws that it is not from,
    so that the correction is unbiased (cross-fitting).
    """

    given_arc: FloatArray

    def of_arcs(self, half: int, cells: NDArray[np.int64]) -> FloatArray:
        """An estimate of P(all labels | arcs) for arcs (matches, pattern arcs), a product."""
        answer = np.ones(len(cells))
        for number in range(cells.shape[1]):
            answer *= self.given_arc[half, number, cells[:, number]]
        return answer


def labels_of_draws(
    decoder: Decoder,
    encoded: Encoded,
    draws: Draws,
    allowed: NDArray[np.bool_],
    keys: NDArray[np.int64],
    seed: int,
) -> LabelsOfDraws:
    """The labels of all drawn trees; `allowed` are the labels of the pattern's arcs."""
    batch = draws.scored.batch
    counts = np.full(len(batch), draws.count, dtype=np.int64)
    layout = Layout(batch.n_words, counts)
    cells = layout.arcs(draws.heads)
    if allowed.all():
        ones = np.ones((len(allowed), len(draws.heads)))
        return LabelsOfDraws(ones, ones > 0, ArcLabels(np.ones((2, len(allowed), layout.size))))
    if isinstance(decoder.model.labeller, JointLabels):
        assert draws.labels is not None
        scores = draws.scored.summed.scaled(1.0 / decoder.model.temperature)
        table = scores.arcs.reshape(-1, scores.depth)
        possible = np.isfinite(table).any(axis=1)
        given = np.zeros((len(allowed), len(table)))
        given[:, possible] = allowed @ softmax(table[possible]).T
        both = np.stack([given, given])
        return LabelsOfDraws(given[:, cells], allowed[:, draws.labels], ArcLabels(both))
    repeated = np.repeat(batch.sentences, draws.count)
    given_tree = decoder.model.labeller.given_tree(encoded, repeated, draws.heads)
    assert given_tree is not None
    chances = np.minimum(allowed @ given_tree.T, 1.0)
    chosen = _drawn(given_tree, _uniforms(batch.n_words, keys, draws.count, seed))
    words, halves = _first_words(batch.n_words, draws.count)
    means = [
        _means(chances[:, own], cells[own], draws.heads[own], words[own], batch.n_words)
        for own in (~halves, halves)
    ]
    return LabelsOfDraws(chances, allowed[:, chosen], ArcLabels(np.stack(means)))


def _drawn(table: FloatArray, uniforms: FloatArray) -> NDArray[np.int64]:
    below = np.cumsum(table, axis=1) <= uniforms[:, None]
    return np.asarray(np.minimum(below.sum(axis=1), table.shape[1] - 1))


def _uniforms(
    n_words: NDArray[np.int64], keys: NDArray[np.int64], count: int, seed: int
) -> FloatArray:
    """A number for each word of each draw, keyed by (seed, sentence)."""
    return np.concatenate(
        [
            np.random.default_rng([seed, key, count]).random(n * count)
            for n, key in zip(n_words.tolist(), keys.tolist(), strict=True)
        ]
    )


def _first_words(
    n_words: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each word of the drawn trees, its number among the batch's words, and its half."""
    firsts = np.cumsum(n_words) - n_words
    sizes = list(zip(firsts.tolist(), n_words.tolist(), strict=True))
    words = [np.tile(np.arange(first, first + n), count) for first, n in sizes]
    halves = [np.repeat(np.arange(count) >= count // 2, n) for _, n in sizes]
    return np.concatenate(words), np.concatenate(halves)


def _means(
    chances: FloatArray,
    cells: NDArray[np.int64],
    heads: IntArray,
    words: NDArray[np.int64],
    n_words: NDArray[np.int64],
) -> FloatArray:
    """The mean chance of each cell over the drawn trees that have its arc; see `ArcLabels`."""
    inner = heads > 0
    size, all_words = int(((n_words + 1) ** 2).sum()), int(n_words.sum())
    times = np.bincount(cells, minlength=size)
    inner_times = np.bincount(words[inner], minlength=all_words)
    word_of_cell, from_root = _columns(n_words + 1)
    answer = np.zeros((len(chances), size))
    for row, own in zip(answer, chances, strict=True):
        of_all = float(own[inner].mean()) if inner.any() else 0.0
        of_root = float(own[~inner].mean()) if not inner.all() else 0.0
        sums = np.bincount(words[inner], weights=own[inner], minlength=all_words)
        of_word = np.where(inner_times > 0, sums / np.maximum(inner_times, 1), of_all)
        row[:] = np.where(from_root, of_root, of_word[word_of_cell])
        total = np.bincount(cells, weights=own, minlength=size)
        row[times > 0] = total[times > 0] / times[times > 0]
    return answer


def _columns(sides: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each cell, its modifier's number among all words (0 for the root), and if it is a root
    arc."""
    words, roots, first = [], [], 0
    for side in sides.tolist():
        modifiers = np.maximum(np.arange(side) - 1, 0) + first
        words.append(np.tile(modifiers, side))
        roots.append(np.arange(side * side) < side)
        first += side - 1
    return np.concatenate(words), np.concatenate(roots)
