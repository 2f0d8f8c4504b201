"""Small steps of decoding: sums over labels, greedy heads, random numbers of labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.inference.decoding import greedy_heads
from arbora.inference.engines import DecodedTrees
from arbora.inference.marginals import Marginals
from arbora.scores import Scores
from arbora.types import FloatArray

__all__ = ["greedy_trees", "label_uniforms", "log_sum_exp", "summed_over_labels"]


def summed_over_labels(marginals: Marginals) -> FloatArray:
    """The marginals of arcs, whatever their labels."""
    depth = marginals.scores.depth
    arcs = marginals.arcs
    return arcs if depth == 1 else np.asarray(arcs.reshape(-1, depth).sum(axis=1))


def greedy_trees(scores: Scores) -> DecodedTrees:
    """Each word's best head; the heads need not form a tree, so nothing is certified."""
    answers = [greedy_heads(scores.arcs_of(i)) for i in range(len(scores))]
    labels = [answer[1] for answer in answers if answer[1] is not None]
    count = len(scores)
    return DecodedTrees(
        scores.n_words, np.concatenate([answer[0] for answer in answers]),
        np.concatenate(labels) if labels else None, np.zeros(count), np.full(count, np.inf),
        np.zeros(count, dtype=np.bool_), np.ones(count, dtype=np.int64),
    )  # fmt: skip


def label_uniforms(
    n_words: NDArray[np.int64], keys: NDArray[np.int64], seed: int, count: int
) -> FloatArray:
    """A number in [0, 1) for each word's label, keyed by (seed, sentence, draw)."""
    streams = [
        np.random.default_rng([seed, key, draw]).random(n)
        for n, key in zip(n_words.tolist(), keys.tolist(), strict=True)
        for draw in range(count)
    ]
    return np.concatenate(streams)


def log_sum_exp(table: FloatArray) -> FloatArray:
    """The logarithm of the sum of exponentials of each row; -inf if all are."""
    top = table.max(axis=1)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(table - safe[:, None]).sum(axis=1)))
