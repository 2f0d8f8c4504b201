"""The slow ways of the papers: all minors, one root arc at a time, one arc left out at a time."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import SpanningTrees
from arbora.testing import enumerate_trees, minors_log_partition
from tests.helpers import random_scores


def test_every_signed_minor_of_a_column_sums_the_trees_with_that_root(rng):
    """K07, theorem 1: (-1)^(h+m) L^(h,m) = L^(m,m), the weight of all trees rooted at word m."""
    for n_words in (2, 3, 4):
        weights = np.exp(rng.normal(size=(n_words + 1, n_words + 1)))
        arcs = weights[1:, 1:].copy()
        np.fill_diagonal(arcs, 0.0)
        whole = np.diag(arcs.sum(axis=0)) - arcs
        rooted = np.zeros(n_words)
        for heads in enumerate_trees(n_words, "nonprojective", "single"):
            chosen = np.flatnonzero(heads)  # all words but the root
            rooted[np.flatnonzero(heads == 0)] += np.prod(weights[heads[chosen], chosen + 1])
        for h, m in np.ndindex(n_words, n_words):
            minor = np.delete(np.delete(whole, h, axis=0), m, axis=1)
            signed = (-1.0) ** (h + m) * np.linalg.det(minor)
            assert signed == pytest.approx(rooted[m], rel=1e-10)


def test_single_root_sums_are_those_of_one_root_arc_after_the_other(rng):
    """L07: a multi-root sum for each root arc, with all other root arcs left out."""
    scores = random_scores(rng, 6, 2.0)
    sums = []
    for word in range(1, 7):
        alone = scores.copy()
        alone[0] = -np.inf
        alone[0, word] = scores[0, word]
        sums.append(SpanningTrees(alone, "multi").log_partition)
    single, total = SpanningTrees(scores), np.logaddexp.reduce(sums)
    assert single.log_partition == pytest.approx(total, rel=1e-13)
    assert single.marginals[0, 1:] == pytest.approx(np.exp(np.subtract(sums, total)), abs=1e-12)


def test_naive_marginals(rng):
    """K07, sections 3.1 and 5: what the sum loses without an arc, for every arc, by n minors."""
    scores = random_scores(rng, 5)
    marginals, total = SpanningTrees(scores).marginals, minors_log_partition(scores)
    for h, m in np.ndindex(6, 6):
        if m == 0 or h == m:
            continue
        without = scores.copy()
        without[h, m] = -np.inf
        lost = 1.0 - np.exp(minors_log_partition(without) - total)
        assert marginals[h, m] == pytest.approx(lost, abs=1e-10)
