"""Random scores for property tests with hypothesis (a test dependency)."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from arbora.types import FloatArray

__all__ = ["arc_scores"]


@st.composite
def arc_scores(
    draw: Any, min_words: int = 1, max_words: int = 5, labels: bool = False
) -> FloatArray:
    """Scores of a sentence with at least one tree: ties, -inf, huge and tiny magnitudes.

    The right-branching chain, a tree of every class, stays allowed.
    """
    n_words = draw(st.integers(min_words, max_words))
    scale = draw(st.sampled_from([1e-300, 1e-9, 0.1, 1.0, 10.0, 100.0, 1e4, 1e9]))
    kind = draw(st.sampled_from(["normal", "integer", "levels", "constant"]))
    mask = draw(st.sampled_from([0.0, 0.2, 0.6]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape: tuple[int, ...] = (n_words + 1, n_words + 1)
    if labels:
        shape = (*shape, draw(st.integers(1, 3)))
    scores = rng.normal(size=shape)
    if kind == "integer":
        scores = rng.integers(-2, 3, size=shape).astype(float)
    elif kind == "levels":
        scores = -rng.integers(0, 3, size=shape) + scores / scale
    elif kind == "constant":
        scores = np.ones(shape)
    scores = scores * scale
    forbidden = rng.random(shape) < mask
    forbidden[np.arange(n_words), np.arange(1, n_words + 1)] = False
    scores[forbidden] = -np.inf
    return np.asarray(scores)
