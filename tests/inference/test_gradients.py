"""The vjp is the Jacobian of the marginals."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.testing import EnumeratedTrees, finite_difference
from tests.helpers import random_scores


@pytest.mark.parametrize("scale", [0.1, 3.0, 30.0])
@pytest.mark.parametrize("mask", [0.0, 0.3])
def test_against_the_enumerated_covariance(kind, root, scale, mask, rng):
    for n_words in (1, 2, 4, 5):
        scores = random_scores(rng, n_words, scale, mask)
        gradient = rng.normal(size=scores.shape)
        expected = EnumeratedTrees(scores, kind.trees, root).vjp(gradient)
        assert np.abs(kind(scores, root).vjp(gradient) - expected).max() < 1e-11


@pytest.mark.parametrize("n_labels", [None, 2])
def test_against_finite_differences(kind, root, n_labels, rng):
    scores = random_scores(rng, 6, 1.0, 0.2, n_labels)
    gradient = rng.normal(size=scores.shape)

    def loss(s):
        return float(np.sum(gradient * kind(s, root).marginals))

    assert np.abs(kind(scores, root).vjp(gradient) - finite_difference(loss, scores)).max() < 1e-9


def test_marginals_are_the_gradient_of_log_partition(kind, root, rng):
    for n_labels in (None, 3):
        scores = random_scores(rng, 6, 2.0, 0.2, n_labels)
        numeric = finite_difference(lambda s: kind(s, root).log_partition, scores)
        assert np.abs(kind(scores, root).marginals - numeric).max() < 1e-9


def test_jacobian_is_symmetric_and_positive_semidefinite(kind, root, rng):
    scores = random_scores(rng, 4, 2.0)
    trees = kind(scores, root)
    columns = []
    for index in np.ndindex(5, 5):
        one = np.zeros((5, 5))
        one[index] = 1.0
        columns.append(trees.vjp(one).ravel())
    jacobian = np.array(columns)
    assert np.abs(jacobian - jacobian.T).max() < 1e-14
    assert np.linalg.eigvalsh(jacobian).min() > -1e-12


def test_gradient_of_the_entropy(kind, root, rng):
    """grad H = -(Jacobian times scores)."""
    scores = random_scores(rng, 5, 1.5)
    numeric = finite_difference(lambda s: kind(s, root).entropy(), scores)
    trees = kind(scores, root)
    assert np.abs(-trees.vjp(scores) - numeric).max() < 1e-8


def test_forbidden_arcs_get_no_gradient(kind, root, rng):
    scores = random_scores(rng, 6, 1.0, 0.4)
    gradient = np.full(scores.shape, np.nan)  # never read where an arc is forbidden
    gradient[np.isfinite(scores)] = rng.normal(size=int(np.isfinite(scores).sum()))
    gradient[np.arange(7), np.arange(7)] = np.nan
    gradient[:, 0] = np.inf
    answer = kind(scores, root).vjp(gradient)
    assert (answer[np.isneginf(scores)] == 0).all()
    assert (np.diag(answer) == 0).all()
    assert (answer[:, 0] == 0).all()
