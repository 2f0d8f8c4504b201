"""Mixtures."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError, Mixture, ProjectiveTrees, ShapeError, SpanningTrees
from arbora.testing import EnumeratedTrees
from tests.helpers import random_scores


@pytest.fixture
def parts(rng):
    a, b = random_scores(rng, 4, 2.0, 0.2), random_scores(rng, 4, 2.0, 0.2)
    return SpanningTrees(a, "multi"), ProjectiveTrees(b)


def test_log_prob_and_marginals(parts):
    mixture = Mixture(parts, weights=[3, 1])
    every = EnumeratedTrees(np.zeros((5, 5)), "nonprojective", "multi").heads
    p = np.exp(mixture.log_prob(every))
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    marginals = np.zeros((5, 5))
    for heads, weight in zip(every, p, strict=True):
        marginals[heads, np.arange(1, 5)] += weight
    assert np.abs(mixture.marginals - marginals).max() < 1e-12
    assert mixture.log_prob([2, 1, 0, 0]) == -np.inf


def test_mbr(parts):
    mixture = Mixture(parts, weights=[0.3, 0.7])
    every = EnumeratedTrees(np.zeros((5, 5)), "nonprojective", "multi").heads
    gains = mixture.marginals[every, np.arange(1, 5)].sum(axis=1)
    tree = mixture.mbr()
    assert mixture.marginals[tree.heads, np.arange(1, 5)].sum() == pytest.approx(gains.max())
    assert tree.score == mixture.log_prob(tree.heads)


def test_samples(parts):
    mixture = Mixture(parts, weights=[0.3, 0.7])
    drawn = mixture.sample(20_000, seed=1)
    for word in range(1, 5):
        share = np.bincount(drawn[:, word - 1], minlength=5) / len(drawn)
        assert np.abs(share - mixture.marginals[:, word]).max() < 0.02
    assert (mixture.sample(10, seed=3) == mixture.sample(10, seed=3)).all()


def test_labels(rng):
    parts = [SpanningTrees(random_scores(rng, 3, 1.0, 0.0, 2)) for _ in range(2)]
    mixture = Mixture(parts)
    drawn = mixture.sample(50, seed=0)
    assert np.isfinite(mixture.log_prob(drawn.heads, drawn.labels)).all()
    assert mixture.mbr().labels is not None


def test_one_component_is_itself(parts):
    alone = Mixture([parts[0], parts[1]], weights=[1, 0])
    assert np.abs(alone.marginals - parts[0].marginals).max() < 1e-15
    assert alone.mbr().heads.tolist() == parts[0].mbr().heads.tolist()


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1], "there are 2 components"), ([-1, 2], "non-negative"), ([0, 0], "not all of them 0")],
)
def test_bad_weights(parts, weights, message):
    with pytest.raises((ArgumentError, ShapeError), match=message):
        Mixture(parts, weights=weights)


def test_weights_of_any_size(parts):
    assert Mixture(parts, weights=[1e308, 1e308]).weights.tolist() == [0.5, 0.5]
    with pytest.raises(ShapeError, match="real numbers"):
        Mixture(parts, weights=["a", "b"])


def test_bad_components(parts):
    with pytest.raises(ArgumentError, match="at least one component"):
        Mixture([])
    with pytest.raises(ArgumentError, match="not a single one"):
        Mixture(parts[0])
    with pytest.raises(ArgumentError, match="component 1 is a str"):
        Mixture([parts[0], "tree"])
    with pytest.raises(ShapeError, match="component 1 has scores of shape"):
        Mixture([parts[0], SpanningTrees(np.zeros((3, 3)))])
