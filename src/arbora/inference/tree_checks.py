"""Whether vectors of heads are trees, projective, or in a class; vectorised over trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.types import Root, TreeClass

__all__ = ["are_projective", "are_trees", "in_class"]


def are_trees(heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each row of heads (k, n): does every word lead to the root symbol?"""
    count, n_words = heads.shape
    above = np.concatenate([np.zeros((count, 1), dtype=np.int64), heads], axis=1)
    steps = 1
    while steps <= n_words:  # after each round, `above` is the ancestor 2 * steps arcs up
        above = np.take_along_axis(above, above, axis=1)
        steps *= 2
    return np.asarray((above == 0).all(axis=1))


def are_projective(heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each row of heads (k, n): do no two arcs cross, those of the root symbol included?"""
    words = np.arange(1, heads.shape[1] + 1)
    low, high = np.minimum(heads, words), np.maximum(heads, words)
    answer = np.ones(len(heads), dtype=np.bool_)
    for i in range(len(heads)):
        a, b = low[i], high[i]
        crossing = (a[:, None] < a) & (a < b[:, None]) & (b[:, None] < b)
        answer[i] = not crossing.any()
    return answer


def in_class(heads: NDArray[np.int64], trees: TreeClass, root: Root) -> NDArray[np.bool_]:
    """For each row of heads (k, n): is it a tree of this class?"""
    answer = are_trees(heads)
    if root == "single":
        answer &= (heads == 0).sum(axis=1) == 1
    if trees == "projective":
        answer[answer] = are_projective(heads[answer])
    return answer
