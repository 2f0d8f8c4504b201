"""Helpers shared by several test files."""

from __future__ import annotations

import numpy as np


def random_scores(rng, n_words, scale=1.0, mask=0.0, n_labels=None):
    """Normal scores; a share of them forbidden, but never the right-branching chain."""
    shape = (n_words + 1, n_words + 1) if n_labels is None else (n_words + 1, n_words + 1, n_labels)
    scores = rng.normal(size=shape) * scale
    if mask:
        forbidden = rng.random(shape) < mask
        forbidden[np.arange(n_words), np.arange(1, n_words + 1)] = False
        scores[forbidden] = -np.inf
    return scores


def level_scores(rng, n_words, steepness, mask=0.0):
    """-S * level + N(0, 1): many arcs stay uncertain at any scale S."""
    scores = -steepness * rng.integers(0, 3, size=(n_words + 1, n_words + 1)).astype(float)
    scores += rng.normal(size=scores.shape)
    if mask:
        forbidden = rng.random(scores.shape) < mask
        forbidden[np.arange(n_words), np.arange(1, n_words + 1)] = False
        scores[forbidden] = -np.inf
    return scores


def cyclic_scores(rng, n_words, pull=12.0):
    """Scores whose best heads form two-word cycles, which slow down random walks."""
    scores = rng.normal(size=(n_words + 1, n_words + 1))
    for word in range(1, n_words, 2):
        scores[word, word + 1] += pull
        scores[word + 1, word] += pull
    return scores


def assert_close(found, expected, rel=1e-6, abs=1e-12):  # noqa: A002  # as pytest.approx names it
    """What `found == pytest.approx(expected, rel, abs)` says, without its loop over elements."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= np.maximum(rel * np.abs(expected), abs)
    near &= np.isfinite(expected)
    wrong = np.flatnonzero(~(near | (found == expected)))
    assert not wrong.size, (wrong[:5], found.ravel()[wrong[:5]], expected.ravel()[wrong[:5]])
