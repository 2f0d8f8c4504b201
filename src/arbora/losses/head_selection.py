"""Head selection: every word chooses its head, or head and label, by a softmax of its own."""

from __future__ import annotations

import numpy as np

from arbora.losses.gold import Gold
from arbora.losses.loss import Loss
from arbora.scores import Scores

__all__ = ["head_selection"]


def head_selection(scores: Scores, gold: Gold) -> Loss:
    """-log P of every annotated head (and label) among all others of its word.

    Words choose independently, so nothing is summed over trees (Dozat & Manning 2017). Words
    without a head do not count. Of words with a head but no label, labels are summed over.
    """
    gold.check(scores.n_words)
    d_scores, values = scores.zeros(), np.zeros(len(scores))
    word = 0
    for i, n in enumerate(scores.n_words.tolist()):
        table = scores.arcs_of(i).reshape(n + 1, n + 1, -1)[:, 1:].transpose(1, 0, 2).copy()
        table[np.arange(n), np.arange(1, n + 1)] = -np.inf  # no word is its own head
        heads = gold.heads[word : word + n]
        labels = None if gold.labels is None else gold.labels[word : word + n]
        known = np.flatnonzero(heads >= 0)
        right = np.full_like(table, -np.inf)
        right[known, heads[known]] = table[known, heads[known]]
        if labels is not None:
            for k in known[labels[known] >= 0].tolist():
                only = right[k, heads[k], labels[k]]
                right[k, heads[k]] = -np.inf
                right[k, heads[k], labels[k]] = only
        sums, shares = _softmax(table[known])
        own_sums, own_shares = _softmax(right[known])
        values[i] = float((sums - own_sums).sum())
        difference = np.zeros_like(table)
        difference[known] = shares - own_shares
        target = d_scores.arcs_of(i).reshape(n + 1, n + 1, -1)
        target[:, 1:] = difference.transpose(1, 0, 2)
        word += n
    return Loss(values, d_scores)


def _softmax(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log-sum-exp and softmax of every word's row."""
    rows = table.reshape(len(table), table.shape[1] * table.shape[2])
    top = rows.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(rows - top)
    sums = weights.sum(axis=1, keepdims=True)
    return (top + np.log(sums))[:, 0], (weights / sums).reshape(table.shape)
