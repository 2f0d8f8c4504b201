"""Sentences of hundreds and thousands of words."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ProjectiveTrees, SpanningTrees
from arbora.inference.tree_checks import in_class
from tests.helpers import cyclic_scores, random_scores


def test_many_words(kind, root, rng):
    """Whose sums are far beyond float64; those over projective trees are slow in wide numbers."""
    n_words = 1000 if kind is SpanningTrees else 500
    trees = kind(random_scores(rng, n_words, 3.0), root)
    assert trees.log_partition > 1000.0
    assert np.abs(trees.marginals[:, 1:].sum(axis=0) - 1).max() < 1e-9
    best = trees.argmax()
    assert in_class(best.heads[None].astype(np.int64), kind.trees, root)[0]
    assert trees.log_partition > best.score
    drawn = trees.sample(2, seed=0)
    assert in_class(drawn.astype(np.int64), kind.trees, root).all()


def test_a_thousand_words_in_cycles(root, rng):
    """Five hundred contractions, in a loop and not by recursion."""
    best = SpanningTrees(cyclic_scores(rng, 1000, 50.0), root).argmax()
    assert in_class(best.heads[None].astype(np.int64), "nonprojective", root)[0]


def test_nested_cycles(root):
    """Each contraction is swallowed by the next: a chain of a thousand nested nodes."""
    n_words = 1000
    scores = np.full((n_words + 1, n_words + 1), -np.inf)
    scores[0, n_words] = 0.0
    for word in range(1, n_words):
        scores[word, word + 1] = scores[word + 1, word] = float(-word)
    heads = SpanningTrees(scores, root).argmax().heads
    assert heads.tolist() == [*range(2, n_words + 1), 0]


@pytest.mark.slow
def test_thousands_of_words(rng):
    scores = rng.normal(size=(5001, 5001)) * 0.01  # nearly flat: plain numbers reach that far
    assert len(set(SpanningTrees(scores).argmax().heads.tolist())) > 1000
    assert SpanningTrees(scores).log_partition < np.logaddexp.reduce(scores, axis=0)[1:].sum()
    scores = scores[:2501, :2501]  # projective trees take three times as long
    spanning = SpanningTrees(scores).log_partition
    projective = ProjectiveTrees(scores).log_partition
    assert projective < spanning < np.logaddexp.reduce(scores, axis=0)[1:].sum()
