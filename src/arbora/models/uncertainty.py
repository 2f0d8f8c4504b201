"""The least certain arcs of trees, each with the next likeliest head."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.types import FloatArray, IntArray

__all__ = ["UncertainArc", "least_certain", "runner_ups"]


@dataclass(frozen=True, order=True)
class UncertainArc:
    """An arc of a tree with its probability, and the likeliest other head of its word.

    Words are numbered from 1; head 0 is the root, and runner-up -1 means that there is no other
    head. `sentence` is the number of the sentence, from 1, and `sent_id` its id, if it has one.
    """

    probability: float
    sentence: int
    word: int
    head: int
    label: str
    runner_up: int
    runner_up_probability: float
    form: str
    head_form: str
    runner_up_form: str
    sent_id: str | None


def runner_ups(
    marginals: FloatArray, n_words: NDArray[np.int64], heads: IntArray
) -> tuple[IntArray, FloatArray]:
    """Every word's likeliest head other than the given one (-1 if none), and its probability.

    `marginals` are of arcs, flat, (n+1)^2 per sentence.
    """
    others = np.full(len(heads), -1, dtype=np.int32)
    probabilities = np.zeros(len(heads))
    cell = word = 0
    for n in n_words.tolist():
        table = marginals[cell : cell + (n + 1) ** 2].reshape(n + 1, n + 1)[:, 1:].copy()
        columns = np.arange(n)
        table[heads[word : word + n], columns] = -1.0
        best = table.argmax(axis=0)
        found = table[best, columns]
        others[word : word + n] = np.where(found > 0.0, best, -1)
        probabilities[word : word + n] = np.maximum(found, 0.0)
        cell, word = cell + (n + 1) ** 2, word + n
    return others, np.minimum(probabilities, 1.0)


def least_certain(arcs: Iterable[UncertainArc], count: int) -> list[UncertainArc]:
    """The `count` arcs with the lowest probabilities, lowest first."""
    return heapq.nsmallest(count, arcs)
