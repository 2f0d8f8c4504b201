"""Non-projective arcs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.types import IntArray

__all__ = ["nonprojective_arcs"]


def nonprojective_arcs(heads: IntArray, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Marks each word whose arc spans a word that its head does not dominate.

    This is the definition of the CoNLL-X tables: arcs from the root are never marked. `heads` are
    the heads of all sentences, `starts` each sentence's first word and, last, the number of words.
    Heads may be missing (-1) and may form cycles.
    """
    lengths = np.diff(starts)
    first = np.repeat(starts[:-1], lengths)
    words = np.arange(len(heads))
    # Positions in the flat array; -1 above a root word and for a missing head.
    parents = np.where(heads > 0, first + heads - 1, -1)
    low, high = np.minimum(words, parents), np.maximum(words, parents)
    inside = np.where(parents >= 0, np.maximum(high - low - 1, 0), 0)
    # One pointer per word strictly inside each arc climbs until the arc's head or the root.
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
    found[arc] = True  # still climbing: in a cycle without the arc's head
    return found
