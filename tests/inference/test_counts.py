"""With all scores zero, Z counts the trees."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arbora.testing import count_trees, enumerate_trees


@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 5])
def test_enumeration_has_as_many_trees_as_the_formulas_say(kind, root, n_words):
    assert len(enumerate_trees(n_words, kind.trees, root)) == count_trees(n_words, kind.trees, root)


@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 5, 10, 50, 200])
def test_log_partition_counts_trees(kind, root, n_words):
    expected = math.log(count_trees(n_words, kind.trees, root))
    trees = kind(np.zeros((n_words + 1, n_words + 1)), root)
    assert trees.log_partition == pytest.approx(expected, rel=1e-13, abs=1e-14)
    assert trees.entropy() == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("n_words", [10, 50, 200])
def test_every_word_is_the_root_equally_often(n_words):
    """By symmetry, in closed form: single-root, any word is the root with probability 1/n."""
    from arbora import SpanningTrees

    trees = SpanningTrees(np.zeros((n_words + 1, n_words + 1)))
    assert np.allclose(trees.marginals[0, 1:], 1 / n_words, rtol=1e-12)


def test_labels_multiply_the_count(kind, root):
    trees = kind(np.zeros((5, 5, 3)), root)
    expected = math.log(count_trees(4, kind.trees, root)) + 4 * math.log(3)
    assert trees.log_partition == pytest.approx(expected, rel=1e-13)
