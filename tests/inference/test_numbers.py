"""Numbers at any scale, against arithmetic in as many bits as it takes (3000 and more).

log Z must be right to 1e-12 of max(1, |log Z|), marginals to 1e-9, gradients to 1e-7.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from arbora import ProjectiveTrees, SpanningTrees
from arbora.testing import (
    EnumeratedTrees,
    count_trees,
    lu_log_partition,
    lu_marginals,
    lu_vjp,
    minors_log_partition,
    precise_projective,
    precise_spanning,
)
from arbora.testing.precise import inside_outside
from tests.helpers import level_scores, random_scores


def assert_precise(trees, truth, gradient=None):
    size = max(1.0, abs(truth.log_partition))
    assert abs(trees.log_partition - truth.log_partition) <= 1e-12 * size
    assert np.abs(trees.marginals - truth.marginals).max() <= 1e-9
    if gradient is not None:
        assert np.abs(trees.vjp(gradient) - truth.vjp).max() <= 1e-7
    assert np.isfinite(trees.entropy())


@pytest.mark.parametrize("mask", [0.0, 0.2])
@pytest.mark.parametrize("scale", [30, 100, 300, 1500, 10_000])
def test_spanning_trees_at_random_scores(scale, mask, root, rng):
    for _ in range(3 if scale < 10_000 else 1):  # these take 200,000 bits
        scores, gradient = random_scores(rng, 7, scale, mask), rng.normal(size=(8, 8))
        truth = precise_spanning(scores, gradient, root)
        assert_precise(SpanningTrees(scores, root), truth, gradient)


@pytest.mark.parametrize("mask", [0.0, 0.2])
@pytest.mark.parametrize("steepness", [20, 100, 300, 1000])
def test_spanning_trees_at_structured_scores(steepness, mask, root, rng):
    for n_words in (7, 12):
        scores = level_scores(rng, n_words, steepness, mask)
        gradient = rng.normal(size=scores.shape)
        truth = precise_spanning(scores, gradient, root)
        assert_precise(SpanningTrees(scores, root), truth, gradient)


@pytest.mark.parametrize(("scale", "mask"), [(30, 0.2), (300, 0.0)])
def test_spanning_trees_of_forty_words(scale, mask, root, rng):
    scores, gradient = random_scores(rng, 40, scale, mask), rng.normal(size=(41, 41))
    truth = precise_spanning(scores, gradient, root)
    assert_precise(SpanningTrees(scores, root), truth, gradient)


@pytest.mark.parametrize("mask", [0.0, 0.2])
@pytest.mark.parametrize("scale", [30, 100, 300, 1500, 10_000])
def test_projective_trees_at_random_scores(scale, mask, root, rng):
    for _ in range(3):
        scores, gradient = random_scores(rng, 7, scale, mask), rng.normal(size=(8, 8))
        truth = precise_projective(scores, gradient, root)
        assert_precise(ProjectiveTrees(scores, root), truth, gradient)


@pytest.mark.parametrize("mask", [0.0, 0.2])
@pytest.mark.parametrize("steepness", [20, 100, 300, 1000])
def test_projective_trees_at_structured_scores(steepness, mask, root, rng):
    scores = level_scores(rng, 12, steepness, mask)
    gradient = rng.normal(size=scores.shape)
    truth = precise_projective(scores, gradient, root)
    assert_precise(ProjectiveTrees(scores, root), truth, gradient)


@pytest.mark.parametrize("scale", [30, 300])
def test_projective_trees_of_sixty_words(scale, root, rng):
    scores, gradient = random_scores(rng, 60, scale), rng.normal(size=(61, 61))
    truth = precise_projective(scores, gradient, root)
    assert_precise(ProjectiveTrees(scores, root), truth, gradient)


def test_the_precise_twins_agree_with_enumeration(root, rng):
    scores, gradient = random_scores(rng, 5, 3.0, 0.2), rng.normal(size=(6, 6))
    for precise, trees in [(precise_spanning, "nonprojective"), (precise_projective, "projective")]:
        truth, table = precise(scores, gradient, root), EnumeratedTrees(scores, trees, root)
        assert truth.log_partition == pytest.approx(table.log_partition, rel=1e-13)
        assert np.abs(truth.marginals - table.marginals).max() < 1e-13
        assert np.abs(truth.vjp - table.vjp(gradient)).max() < 1e-12


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 60, reason="long doubles are plain doubles here"
)
def test_four_hundred_words_of_equal_scores(root):
    """Against a count in closed form, and marginals by inside-outside in extended precision."""
    scores = np.zeros((401, 401))
    trees = ProjectiveTrees(scores, root)
    expected = math.log(count_trees(400, "projective", root))
    assert trees.log_partition == pytest.approx(expected, rel=1e-13)
    weights = np.ones((401, 401), dtype=np.longdouble)
    _, marginals = inside_outside(weights, root, np.longdouble(0), np.longdouble(1))
    assert np.abs(trees.marginals - marginals.astype(float)).max() < 1e-12


def test_tiny_marginals_are_right_through_constraints(kind, root, rng):
    """log P(arc) = log Z(arc required) - log Z, even where P(arc) is below any double."""
    scores = random_scores(rng, 5, 1.0)
    scores[3, 1] = -2000.0
    trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
    log_p = trees.constrain(required=[(3, 1)]).log_partition - trees.log_partition
    has = table.heads[:, 0] == 3
    log_probs = table.tree_scores[has] - table.log_partition
    assert log_p == pytest.approx(np.logaddexp.reduce(log_probs), abs=1e-9)
    assert trees.marginals[3, 1] == 0.0


@pytest.mark.parametrize("low", [-1e6, -1e9, -1e14])
def test_a_word_that_can_hardly_be_anything_but_the_root(kind, root, low):
    """The habit of writing -1e9 for "forbidden" costs no precision."""
    scores = np.array([[0, 0.1, 0.2, 0.3], [0, 0, 0.4, low], [0, 0.5, 0, low], [0, 0.6, 0.7, 0]])
    trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
    assert trees.log_partition == pytest.approx(table.log_partition, abs=1e-13)
    assert trees.entropy() == pytest.approx(table.entropy(), abs=1e-13)
    assert trees.log_prob([3, 3, 0]) == pytest.approx(
        np.log(table.probabilities[(table.heads == [3, 3, 0]).all(axis=1)][0]), abs=1e-13
    )


def test_large_scores_that_cancel(kind, root):
    """log Z is 0.1, from columns of +-1e14 and from wide numbers of e^-20000."""
    chain = np.full((4, 4), -np.inf)
    chain[0, 1], chain[1, 2], chain[2, 3] = 1e14, 0.1, -1e14
    assert kind(chain, root).log_partition == pytest.approx(0.1, abs=1e-14)
    scores = np.array([[0, 20000.0, -10000], [0, 0, -20000.1], [0, -np.inf, 0]])
    scores[2, 1] = 30000.0  # a cycle that is far better than any tree
    table = EnumeratedTrees(scores, kind.trees, root)
    assert kind(scores, root).log_partition == pytest.approx(table.log_partition, abs=2e-12)


def test_digits_that_a_subtraction_would_round_away(kind):
    """Two trees that differ in the last digits of scores of -1e13, against exact fractions."""
    scores = np.array([[0, -1e13 + 0.123, -1e13 + 0.5], [0, 0, 0.3], [0, 0.7, 0]])
    exact = [[Fraction(x) for x in row] for row in scores.tolist()]
    difference = float((exact[0][1] + exact[1][2]) - (exact[0][2] + exact[2][1]))
    expected = 1 / (1 + math.exp(-difference))
    assert kind(scores).marginals[0, 1] == pytest.approx(expected, abs=1e-14)


def test_what_underflows_is_not_lost(kind, root):
    """e^-705 is a double and e^-709 is none that counts, but together they are e^-704.98."""
    scores = np.array([[0, -705.0, -709.0], [0, 0, 0], [0, 0, 0]])
    table = EnumeratedTrees(scores, kind.trees, root)
    trees = kind(scores, root)
    assert trees.log_partition == pytest.approx(table.log_partition, rel=1e-14)
    assert np.abs(trees.marginals - table.marginals).max() < 1e-13
    gradient = np.arange(9.0).reshape(3, 3)
    assert np.abs(trees.vjp(gradient) - table.vjp(gradient)).max() < 1e-12


@pytest.mark.parametrize("size", [1e-100, 1e32, 1e99])
def test_gradients_of_any_size(kind, root, size):
    scores = np.zeros((3, 3))
    scores[0] = -640.0
    gradient = np.array([[0, 1.0, 0], [0, 0, 1e-3], [0, 0.25, 0]])
    expected = kind(scores, root).vjp(gradient) * size
    assert np.allclose(kind(scores, root).vjp(gradient * size), expected, rtol=1e-13, atol=0)
    assert np.isfinite(kind(scores, root).variance(gradient * size))


def test_plain_and_wide_numbers_agree_where_both_work(kind, root, rng):
    """A word that costs e^-800 forces wide numbers on the whole sentence and changes no other."""
    base = random_scores(rng, 6, 3.0)
    forced = np.full((9, 9), -np.inf)
    forced[:7, :7] = base
    # Words 7 and 8 prefer each other by far, and each can otherwise only hang below word 6.
    forced[7, 8] = forced[8, 7] = 800.0
    forced[6, 7] = forced[6, 8] = 0.0
    trees, plain = kind(forced, root), kind(base, root)
    assert np.abs(trees.marginals[:7, :7] - plain.marginals).max() < 1e-13
    assert trees.log_partition == pytest.approx(plain.log_partition + 800 + math.log(2), rel=1e-14)
    gradient = np.zeros((9, 9))
    gradient[:7, :7] = rng.normal(size=(7, 7))
    difference = trees.vjp(gradient)[:7, :7] - plain.vjp(gradient[:7, :7])
    assert np.abs(difference).max() < 1e-13


@pytest.mark.parametrize("n_words", [5, 40, 300])
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_determinants_agree_at_moderate_scores(root, n_words, scale, rng):
    """The formulas of the papers, where they can be trusted."""
    scores = random_scores(rng, n_words, scale)
    trees = SpanningTrees(scores, root)
    assert trees.log_partition == pytest.approx(lu_log_partition(scores, root), rel=1e-12)
    assert np.abs(trees.marginals - lu_marginals(scores, root)).max() < 1e-8
    gradient = rng.normal(size=scores.shape)
    assert np.abs(trees.vjp(gradient) - lu_vjp(scores, gradient, root)).max() < 1e-6


def test_naive_minors_agree(rng):
    """K07 3.1: the sum over root words of n determinants."""
    for n_words in (1, 2, 5, 8):
        scores = random_scores(rng, n_words)
        expected = minors_log_partition(scores)
        assert SpanningTrees(scores).log_partition == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_determinants_fail_where_arbora_does_not(rng):
    """Why the library does not use them: at a scale of 50, marginals are off by more than 0.1."""
    worst = 0.0
    for _ in range(20):
        scores = random_scores(rng, 12, 50)
        with np.errstate(all="ignore"):
            try:
                usual = lu_marginals(scores, "multi")
            except np.linalg.LinAlgError:
                usual = np.full(scores.shape, np.nan)
        error = np.abs(usual - SpanningTrees(scores, "multi").marginals).max()
        worst = max(worst, np.inf if np.isnan(error) else error)
    assert worst > 0.1
