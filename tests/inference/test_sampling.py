"""Samples are exact draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from arbora import ProjectiveTrees, SpanningTrees
from arbora.testing import EnumeratedTrees
from tests.helpers import cyclic_scores, level_scores, random_scores

DRAWS = 40_000


def p_value(trees, table):
    """Of a chi-square test of draws against the enumerated probabilities."""
    drawn = trees.sample(DRAWS, seed=11)
    heads = drawn if table.scores.ndim == 2 else np.concatenate([drawn.heads, drawn.labels], axis=1)
    every = table.heads
    if table.scores.ndim == 3:
        every = np.concatenate([table.heads, table.labels], axis=1)
    rows = {tuple(row): i for i, row in enumerate(every.tolist())}
    counts = np.bincount([rows[tuple(row)] for row in heads.tolist()], minlength=len(rows))
    expected = table.probabilities * DRAWS
    common = expected >= 5
    if common.sum() < 2:
        return 1.0 if counts[~common].sum() < 50 else 0.0
    observed = np.append(counts[common], counts[~common].sum())
    wanted = np.append(expected[common], expected[~common].sum())
    if wanted[-1] < 5:
        observed, wanted = observed[:-1], wanted[:-1]
    return float(chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue)


@pytest.mark.parametrize("scale", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("n_words", [2, 3, 4])
def test_frequencies(kind, root, n_words, scale, rng):
    for mask in (0.0, 0.3):
        scores = random_scores(rng, n_words, scale, mask)
        table = EnumeratedTrees(scores, kind.trees, root)
        assert p_value(kind(scores, root), table) > 1e-5


def test_frequencies_where_plain_numbers_do_not_reach(kind, root, rng):
    """Scores that force wide numbers, with several trees left to choose from."""
    seen = 0
    for _ in range(6):
        scores = level_scores(rng, 4, 600)
        table = EnumeratedTrees(scores, kind.trees, root)
        seen += table.entropy() > 0.3
        assert p_value(kind(scores, root), table) > 1e-5
    assert seen


def test_frequencies_with_labels(kind, root, rng):
    scores = random_scores(rng, 2, 1.0, 0.2, 3)
    assert p_value(kind(scores, root), EnumeratedTrees(scores, kind.trees, root)) > 1e-5


def test_frequencies_under_constraints(kind, root, rng):
    scores = random_scores(rng, 4, 1.0)
    trees = kind(scores, root).constrain(required=[(3, 2)], forbidden=[(0, 4)])
    drawn = trees.sample(1000, seed=0)
    assert (drawn[:, 1] == 3).all()
    assert not (drawn[:, 3] == 0).any()
    table = EnumeratedTrees(trees.scores, kind.trees, root)
    assert p_value(trees, table) > 1e-5


@pytest.mark.parametrize("make", [random_scores, cyclic_scores], ids=["random", "cyclic"])
def test_marginals_of_forty_words(kind, root, make, rng):
    """20,000 draws, every arc within 5 sigma; also where the best heads of words form cycles."""
    trees = kind(make(rng, 40), root)
    count = 20_000
    drawn = trees.sample(count, seed=3)
    frequency = np.zeros((41, 41))
    for word in range(1, 41):
        frequency[:, word] = np.bincount(drawn[:, word - 1], minlength=41) / count
    p = trees.marginals
    sigma = np.sqrt(p * (1 - p) / count)
    rare = p * count < 10  # there the normal approximation does not hold
    assert (np.abs(frequency - p)[~rare] <= 5 * sigma[~rare]).all()
    assert (frequency[rare] * count <= 40).all()


@pytest.mark.parametrize("trees_of", [SpanningTrees, ProjectiveTrees])
def test_root_is_drawn_from_its_marginal_not_from_its_score(trees_of):
    """The trap of biased root-constrained samplers: exp(score) is not the root's probability."""
    scores = np.zeros((4, 4))
    scores[0] = [0, 0, 2, 0]
    scores[2, 1] = scores[2, 3] = -3.0  # the best-scored root word is a poor root
    trees = trees_of(scores)
    drawn = trees.sample(DRAWS, seed=5)
    share = np.mean(drawn[:, 1] == 0)
    assert abs(share - trees.marginals[0, 2]) < 0.01
    softmax = np.exp(2) / (2 + np.exp(2))
    assert abs(share - softmax) > 0.1


def test_draws_depend_on_seed_and_number_only(kind, root, rng):
    trees = kind(random_scores(rng, 9), root)
    many = trees.sample(50, seed=4)
    assert (trees.sample(7, seed=4) == many[:7]).all()
    assert (kind(trees.scores, root).sample(50, seed=4) == many).all()
    assert (trees.sample(50, seed=5) != many).any()
    assert (trees.sample(50) != trees.sample(50)).any()  # no seed: new draws every time


def test_sentences_of_a_batch_have_draws_of_their_own(kind, root):
    scores = np.zeros((7, 7))
    first, second = kind.batch([scores, scores], root).sample(30, seed=1)
    assert (first != second).any()
    assert (kind(scores, root).sample(30, seed=1) == first).all()
