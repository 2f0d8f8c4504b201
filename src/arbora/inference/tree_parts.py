"""Which arcs and parts given trees have, and what they score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora._core import inference as kernels
from arbora.scores import Scores
from arbora.types import FloatArray, IntArray

__all__ = ["list_parts", "tree_parts"]


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
    ones, amounts = np.ones(len(scores), np.int64), np.full(len(scores), amount)
    return answer, _added(scores, heads, ones, amounts, answer, threads)


def list_parts(
    scores: Scores,
    heads: IntArray,
    counts: NDArray[np.int64],
    amounts: FloatArray,
    threads: int = 1,
) -> tuple[Scores, FloatArray]:
    """The same for several trees of every sentence: sums over the trees, and a score for each.

    Sentence i has `counts[i]` trees; heads are flat, tree after tree, and every tree has its own
    amount. The scores must have parts.
    """
    answer = scores.zeros()
    return answer, _added(scores, heads, counts, amounts, answer, threads)


def _added(
    scores: Scores, heads: IntArray, counts: NDArray[np.int64], amounts: FloatArray,
    answer: Scores, threads: int,
) -> FloatArray:  # fmt: skip
    values = np.empty(len(amounts))
    kernels.tree_parts(
        scores.index, scores.arrays(), answer.arrays(), values, heads, counts, amounts, threads
    )
    return values
