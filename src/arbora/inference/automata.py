"""Independent head automata: the best modifiers of every head, which need not form a tree.

Training can take its predictions from here (Koo et al. 2010, section 6): one sweep over all heads
instead of a search for the best tree.
"""

from __future__ import annotations

import numpy as np

from arbora._core import inference as kernels
from arbora.inference.dual import check_not_chained
from arbora.scores import Scores
from arbora.types import FloatArray

__all__ = ["best_choices", "best_walks", "walk_sums"]


def best_walks(parts: Scores, threads: int = 1) -> tuple[Scores, FloatArray]:
    """How often the best walks of all heads have each part, and their total scores."""
    check_not_chained(parts.kinds, "head automata")
    answer, values = parts.zeros(), np.empty(len(parts))
    kernels.best_walks(parts.index, parts.arrays(), answer.arrays(), values, threads)
    return answer, values


def best_choices(parts: Scores, threads: int = 1) -> tuple[Scores, FloatArray]:
    """The best walks where every word also chooses its own head, for which heads compete.

    The arcs of these choices count and score too: a tree has every arc twice. `walk_sums` sums over
    the same choices.
    """
    check_not_chained(parts.kinds, "head automata")
    answer, values = parts.zeros(), np.empty(len(parts))
    kernels.best_choices(parts.index, parts.arrays(), answer.arrays(), values, threads)
    return answer, values


def walk_sums(parts: Scores, threads: int = 1) -> tuple[Scores, FloatArray]:
    """Expected parts of independently drawn walks, one per head, and the log sums over walks."""
    check_not_chained(parts.kinds, "head automata")
    answer, values = parts.zeros(), np.empty(len(parts))
    kernels.walk_sums(parts.index, parts.arrays(), answer.arrays(), values, threads)
    return answer, values
