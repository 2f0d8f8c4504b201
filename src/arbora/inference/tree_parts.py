"""Which arcs and parts given trees have, and what they score."""

from __future__ import annotations

import numpy as np

from arbora._core import inference as kernels
from arbora.scores import Scores
from arbora.types import FloatArray, IntArray

__all__ = ["tree_parts"]


def tree_parts(
    scores: Scores,
    heads: IntArray,
    labels: IntArray | None = None,
    *,
    amount: float = 1.0,
    into: Scores | None = None,
    threads: int = 1,
) -> tuple[Scores, FloatArray]:
    """Adds an amount to every arc and part that trees have; also gives the trees' scores.

    One tree per sentence, heads and labels flat. Numbers are added to `into`, by default to zeros.
    """
    answer = scores.zeros() if into is None else into
    if not scores.tables:
        layout = scores.layout
        cells = layout.arcs(heads)
        if scores.n_labels is not None:
            assert labels is not None
            cells = cells * scores.n_labels + labels
        answer.arcs[cells] += amount
        return answer, layout.per_sentence(scores.arcs[cells])
    values = np.empty(len(scores))
    kernels.tree_parts(
        scores.index, scores.arrays(), answer.arrays(), values, heads, amount, threads
    )
    return answer, values
