"""Expected numbers of matches of patterns with one or two arcs, from marginals.

One arc: the sum of P(arc) P(label | arc) over all arcs that fit. Two arcs: P(a, b) is the
covariance of the two arcs plus the product of their probabilities, and the covariances of a with
all arcs are the gradient through the marginals for the indicator of a, one vector-Jacobian product
per arc a.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.corpus.pattern import Pattern
from arbora.inference.engines import FirstOrderEngine
from arbora.models.reductions import log_sum_exp
from arbora.scores import Scores
from arbora.types import FloatArray

__all__ = ["LEAST", "WeightedMatches", "arc_matches", "first_arc", "pair_matches", "without_labels"]

LEAST = 1e-2  # pairs whose first arc is less likely are left to the draws
_TINY = 1e-12
_CELLS = 1 << 19  # of the products at a time


@dataclass(frozen=True)
class WeightedMatches:
    """Possible matches with their probabilities, without labels.

    `positions` (matches, pattern words) are places in the sentence, 0 for the root symbol.
    `cells` (matches, pattern arcs) are the arcs' places in the flat scores.
    """

    sentences: NDArray[np.int64]
    positions: NDArray[np.int64]
    cells: NDArray[np.int64]
    chances: FloatArray

    @classmethod
    def joined(cls, parts: list[WeightedMatches], n_words: int, n_arcs: int) -> WeightedMatches:
        """All of several lists."""
        none = np.empty(0, np.int64)
        start = cls(none, none.reshape(0, n_words), none.reshape(0, n_arcs), np.empty(0))
        both = [start, *parts]
        return cls(
            np.concatenate([one.sentences for one in both]),
            np.concatenate([one.positions for one in both]),
            np.concatenate([one.cells for one in both]),
            np.concatenate([one.chances for one in both]),
        )


def without_labels(scores: Scores) -> Scores:
    """The scores of arcs, with a sum over the labels if there are any."""
    if scores.n_labels is None:
        return scores
    arcs = log_sum_exp(scores.arcs.reshape(-1, scores.n_labels))
    return Scores(arcs, scores.n_words)


def arc_matches(
    pattern: Pattern, marginals: Scores, masks: list[NDArray[np.bool_]]
) -> WeightedMatches:
    """The matches of a pattern with one arc; `masks[i]` are (pattern words, n+1) candidates."""
    (arc,) = pattern.arcs
    parts, first = [], 0
    for i, mask in enumerate(masks):
        values = marginals.arcs_of(i) * mask[arc.head][:, None] * mask[arc.modifier]
        heads, modifiers = np.nonzero(values > _TINY)
        positions = np.empty((len(heads), len(pattern.words)), np.int64)
        positions[:, arc.head], positions[:, arc.modifier] = heads, modifiers
        fits = _fits(pattern, positions)
        side = mask.shape[1]
        cells = (first + heads * side + modifiers)[fits, None]
        chances = values[heads, modifiers][fits]
        parts.append(WeightedMatches(np.full(len(chances), i), positions[fits], cells, chances))
        first += side * side
    return WeightedMatches.joined(parts, len(pattern.words), 1)


def first_arc(pattern: Pattern, candidates: NDArray[np.bool_]) -> int:
    """The arc of two that fewer words can have, so that there are fewer products."""
    sizes = [
        int(candidates[arc.head].sum() or 1) * int(candidates[arc.modifier].sum())
        for arc in pattern.arcs
    ]
    return int(np.argmin(sizes))


def pair_matches(
    pattern: Pattern,
    engine: FirstOrderEngine,
    scores: Scores,
    marginals: Scores,
    masks: list[NDArray[np.bool_]],
    leading: int,
) -> WeightedMatches:
    """The matches of a pattern with two arcs whose arc `leading` has a probability of `LEAST`."""
    parts, first = [], 0
    for i, mask in enumerate(masks):
        side = mask.shape[1]
        own = marginals.arcs_of(i)
        arc = pattern.arcs[leading]
        likely = (own >= LEAST) & mask[arc.head][:, None] & mask[arc.modifier]
        heads, modifiers = np.nonzero(likely)
        for rows in _at_once(len(heads), side):
            both = _pair_chances(engine, scores.arcs_of(i), own, heads[rows], modifiers[rows])
            found = _pairs_of(pattern, mask, heads[rows], modifiers[rows], both, leading)
            positions, chances = found
            cells = np.column_stack(
                [
                    first + positions[:, a.head] * side + positions[:, a.modifier]
                    for a in pattern.arcs
                ]
            )
            parts.append(WeightedMatches(np.full(len(chances), i), positions, cells, chances))
        first += side * side
    return WeightedMatches.joined(parts, len(pattern.words), len(pattern.arcs))


def _at_once(count: int, side: int) -> Iterator[slice]:
    step = max(1, _CELLS // (side * side))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _pair_chances(
    engine: FirstOrderEngine,
    scores: FloatArray,
    marginals: FloatArray,
    heads: NDArray[np.int64],
    modifiers: NDArray[np.int64],
) -> FloatArray:
    """P(arc, other arc) of some arcs with all others, (arcs, n+1, n+1)."""
    count, side = len(heads), len(scores)
    n_words = np.full(count, side - 1, dtype=np.int64)
    repeated = Scores(np.tile(scores.reshape(-1), count), n_words)
    chosen = np.zeros((count, side, side))
    chosen[np.arange(count), heads, modifiers] = 1.0
    flat = np.tile(marginals.reshape(-1), count)
    moved = engine.packed(repeated).vjp(flat, chosen.reshape(-1))
    covariance = np.concatenate([piece.reshape(1, side, side) for piece in moved])
    both = covariance + marginals[heads, modifiers][:, None, None] * marginals
    return np.asarray(np.clip(both, 0.0, 1.0))


def _pairs_of(
    pattern: Pattern,
    mask: NDArray[np.bool_],
    heads: NDArray[np.int64],
    modifiers: NDArray[np.int64],
    both: FloatArray,
    leading: int,
) -> tuple[NDArray[np.int64], FloatArray]:
    """The places of the words of all pairs that fit, and their probabilities."""
    arc, other = pattern.arcs[leading], pattern.arcs[1 - leading]
    values = both * mask[other.head][:, None] * mask[other.modifier]
    rows, h, m = np.nonzero(values > _TINY)
    positions = np.full((len(rows), len(pattern.words)), -1)
    positions[:, arc.head], positions[:, arc.modifier] = heads[rows], modifiers[rows]
    fits = np.ones(len(rows), dtype=np.bool_)
    for word, found in ((other.head, h), (other.modifier, m)):
        if word in (arc.head, arc.modifier):
            fits &= positions[:, word] == found
        else:
            positions[:, word] = found
    fits &= _fits(pattern, positions)
    return positions[fits], values[rows, h, m][fits]


def _fits(pattern: Pattern, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether all words are different and in the pattern's order."""
    fits = np.ones(len(positions), dtype=np.bool_)
    for word in range(1, len(pattern.words)):
        fits &= (positions[:, :word] != positions[:, word : word + 1]).all(axis=1)
    for order in pattern.orders:
        gap = positions[:, order.after] - positions[:, order.before]
        fits &= (gap == 1) if order.adjacent else (gap > 0)
    return fits
