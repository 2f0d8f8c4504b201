"""Arcs that no projective tree has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.types import IntArray

__all__ = ["nonprojective_arcs"]


def nonprojective_arcs(heads: IntArray, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Marks each word whose arc spans a word that its head does not dominate.

    The definition of the CoNLL-X tables: an arc from the root is never marked. `heads` are those
    of all sentences in a row, `starts` each sentence's first word and the end. Heads may be
    missing (-1) and may form cycles, as a system's may.
    """
    lengths = np.diff(starts)
    first = np.repeat(starts[:-1], lengths)
    words = np.arange(len(heads))
    # Positions in the row; everything above a root word, and a missing head, is -1.
    parents = np.where(heads > 0, first + heads - 1, -1)
    low, high = np.minimum(words, parents), np.maximum(words, parents)
    inside = np.where(parents >= 0, np.maximum(high - low - 1, 0), 0)
    # One climber for each word strictly inside each arc; it stops at the arc's head or at the top.
    arc = np.repeat(words, inside)
    steps = np.arange(len(arc)) - np.repeat(np.cumsum(inside) - inside, inside)
    climber = low[arc] + 1 + steps
    found = np.zeros(len(heads), dtype=bool)
    for _ in range(int(lengths.max(initial=0)) + 1):
        climber = parents[climber]
        found[arc[climber < 0]] = True
        going = (climber >= 0) & (climber != parents[arc])
        arc, climber = arc[going], climber[going]
        if not len(arc):
            return found
    found[arc] = True  # still climbing: caught in a cycle that the head is not part of
    return found
