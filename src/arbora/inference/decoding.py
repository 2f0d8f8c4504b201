"""Minimum Bayes risk and greedy decoding, and margins of labelled arcs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.inference.packed import Packed, read_only
from arbora.scores import Scores
from arbora.types import FloatArray, Tree

__all__ = [
    "greedy_heads",
    "labelled_margins",
    "minimum_bayes_risk",
    "possible_marginals",
    "rescored",
    "risk_scores",
]


def rescored(
    scores: FloatArray, heads: NDArray[np.int32], labels: NDArray[np.int32] | None
) -> Tree:
    """The tree of the given heads with its score under a model."""
    words = np.arange(1, len(heads) + 1)
    index = (heads, words) if labels is None else (heads, words, labels)
    return Tree(heads, labels, float(scores[index].sum()))


def risk_scores(packed: Packed, marginals: FloatArray) -> Packed:
    """Scores whose best trees have the most expected correct arcs (Smith & Smith 2007, Eqs. 14-16).

    The gain of an arc is its marginal itself, neither its logarithm nor its log-odds; forbidden
    arcs stay forbidden.
    """
    return packed.with_scores(np.where(np.isneginf(packed.flat), -np.inf, marginals))


def possible_marginals(scores: Scores, marginals: FloatArray) -> Scores:
    """Marginals of arcs as scores: their best trees have the least Bayes risk."""
    return scores.arcs_only(np.where(np.isneginf(scores.arcs), -np.inf, marginals))


def minimum_bayes_risk(packed: Packed, marginals: FloatArray) -> list[Tree]:
    """The trees with the most expected correct arcs, under the model's scores."""
    trees = risk_scores(packed, marginals).argmax()
    return [rescored(packed.scores(i), tree.heads, tree.labels) for i, tree in enumerate(trees)]


def greedy_heads(values: FloatArray) -> tuple[NDArray[np.int32], NDArray[np.int32] | None]:
    """Each word's best head and label; ties go to the nearest head, then to the leftmost."""
    n_words = values.shape[0] - 1
    columns = values[:, 1:].reshape(n_words + 1, n_words, -1)
    best = columns.max(axis=2)
    distance = np.abs(np.arange(n_words + 1)[:, None] - np.arange(1, n_words + 1))
    distance = np.where(best == best.max(axis=0), distance, n_words + 1)
    heads = read_only(distance.argmin(axis=0).astype(np.int32))
    if values.ndim == 2:
        return heads, None
    labels = columns[heads, np.arange(n_words)].argmax(axis=1).astype(np.int32)
    return heads, read_only(labels)


def labelled_margins(scores: FloatArray, arc_margins: FloatArray, top: float) -> FloatArray:
    """Margins of labelled arcs, from the margins of arcs under their best labels.

    The heads of the best tree with an arc do not depend on the arc's label. So the best tree with
    a label scores less by the difference between the label and the arc's best label. The best tree
    without the label is the best without the arc, or with the arc and its best other label.
    """
    best_label = scores.max(axis=2)
    with_arc = top + np.minimum(arc_margins, 0.0)
    without_arc = np.where(arc_margins > 0, top - arc_margins, top)
    order = np.sort(scores, axis=2)
    second = order[:, :, -2] if scores.shape[2] > 1 else np.full_like(best_label, -np.inf)
    with np.errstate(invalid="ignore"):  # -inf - -inf, where the arc is forbidden
        gap = scores - best_label[:, :, None]
        other_gap = np.where(gap == 0, (second - best_label)[:, :, None], 0.0)
        with_label = with_arc[:, :, None] + gap
        without_label = np.maximum(without_arc[:, :, None], with_arc[:, :, None] + other_gap)
        margins = with_label - without_label
    margins = np.where(np.isneginf(scores) | np.isneginf(with_label), -np.inf, margins)
    side = np.arange(len(scores))
    margins[side, side] = 0.0
    margins[:, 0] = 0.0
    return read_only(margins)
