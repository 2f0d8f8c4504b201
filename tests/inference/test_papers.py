"""Worked examples of the papers."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ProjectiveTrees, SpanningTrees
from arbora.testing import enumerate_trees, laplacian


def slides_graph():
    """The four arcs of the slides' example, rooted at node 1: 1->2, 2->3, 1->3 and 3->2."""
    scores = np.full((4, 4), -np.inf)
    scores[0, 1] = 0.0
    scores[1, 2], scores[2, 3], scores[1, 3], scores[3, 2] = 2.0, 4.0, 1.0, 3.0
    return scores


def test_the_slides_matrix_tree_example():
    """L07: exp{2+4} + exp{1+3}, plus the third tree of the same arcs, 1->2 with 1->3."""
    trees = SpanningTrees(slides_graph())
    printed = np.exp(2 + 4) + np.exp(1 + 3)
    assert np.exp(trees.log_partition) == pytest.approx(printed + np.exp(2 + 1), rel=1e-14)
    third = trees.pair_marginal((1, 2), (1, 3))
    assert np.exp(trees.log_partition) * (1 - third) == pytest.approx(printed, rel=1e-13)
    minor = laplacian(np.exp(slides_graph()), "multi")[1:, 1:]
    assert np.linalg.det(minor) == pytest.approx(printed + np.exp(3), rel=1e-13)


def test_laplacians_as_printed(rng):
    """L07: off-diagonal -exp(theta), diagonal the column's sum; first row replaced for one root."""
    theta = rng.normal(size=(4, 4))
    w = np.exp(theta)
    multi, single = laplacian(w, "multi"), laplacian(w, "single")
    assert multi[0, 1] == -w[1, 2]
    assert multi[2, 2] == pytest.approx(w[0, 3] + w[1, 3] + w[2, 3])
    assert (single[0] == w[0, 1:]).all()
    assert single[2, 2] == pytest.approx(w[1, 3] + w[2, 3])


def test_the_four_classes_of_three_words():
    """K07, Figure 1: "He saw her" has 7, 9, 12 and 16 trees in the four classes."""
    counts = [
        len(enumerate_trees(3, trees, root))
        for trees in ("projective", "nonprojective")
        for root in ("single", "multi")
    ]
    assert counts == [7, 12, 9, 16]


def test_a_crossing_best_tree():
    """The two classes disagree where the best tree has crossing arcs."""
    scores = np.zeros((5, 5))
    for head, word in [(0, 2), (2, 4), (3, 1), (2, 3)]:
        scores[head, word] = 5.0
    spanning, projective = SpanningTrees(scores).argmax(), ProjectiveTrees(scores).argmax()
    assert spanning.heads.tolist() == [3, 0, 2, 2]
    assert spanning.score == 20.0
    assert projective.score == 15.0


def test_greedy_heads_are_below_the_tree(rng):
    """S07, section 6: without the tree constraint heads may form cycles, never score less."""
    cycles = 0
    for _ in range(50):
        trees = SpanningTrees(rng.normal(size=(9, 9)))
        by_score, by_marginal = trees.greedy("score"), trees.greedy("marginal")
        assert by_score.score >= trees.argmax().score - 1e-12
        words = np.arange(1, 9)
        expected = trees.marginals[by_marginal.heads, words].sum()
        assert expected >= trees.marginals[trees.mbr().heads, words].sum() - 1e-12
        cycles += trees.log_prob(by_score.heads) == -np.inf
    assert cycles > 10


def test_smith_and_smith_gradient(rng):
    """S07, Eq. 13: d log Z = s(i, j) ([K^-1]_ii - [K^-1]_ij), multi-root, in our orientation."""
    scores = rng.normal(size=(6, 6))
    w = np.exp(scores)
    inverse = np.linalg.inv(laplacian(w, "multi"))
    marginals = SpanningTrees(scores, "multi").marginals
    for i in range(1, 6):
        assert marginals[0, i] == pytest.approx(w[0, i] * inverse[i - 1, i - 1], rel=1e-12)
        for j in range(1, 6):
            if i != j:
                expected = w[j, i] * (inverse[i - 1, i - 1] - inverse[i - 1, j - 1])
                assert marginals[j, i] == pytest.approx(expected, rel=1e-10)
