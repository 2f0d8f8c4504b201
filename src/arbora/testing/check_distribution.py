"""The laws of a distribution over trees; each is asserted of whatever is handed in."""

from __future__ import annotations

import numpy as np

from arbora.inference import TreeDistribution
from arbora.inference.tree_checks import in_class
from arbora.types import Samples

__all__ = ["check_distribution"]

ROUNDING = 1e-10  # generous: what is checked is laws, not the last digit


def check_distribution(trees: TreeDistribution, seed: int = 0) -> None:
    """Raises AssertionError if a law is broken."""
    _check_marginals(trees)
    _check_trees(trees)
    _check_sums(trees)
    _check_samples(trees, seed)
    _check_shift_invariance(trees, seed)


def _check_marginals(trees: TreeDistribution) -> None:
    marginals, arcs = trees.marginals, trees.arc_marginals
    assert marginals.shape == trees.scores.shape
    assert not marginals.flags.writeable
    assert np.isfinite(marginals).all()
    assert (marginals >= 0).all()
    assert (marginals <= 1 + ROUNDING).all()
    assert np.abs(arcs[:, 1:].sum(axis=0) - 1).max() < ROUNDING
    if trees.root == "single":
        assert abs(arcs[0].sum() - 1) < ROUNDING
    assert (marginals[np.isneginf(trees.scores)] == 0).all()


def _check_trees(trees: TreeDistribution) -> None:
    size = max(1.0, abs(trees.log_partition))
    best = trees.argmax()
    ranked = trees.kbest(5)
    for tree in [best, trees.mbr(), *ranked]:
        assert in_class(tree.heads[None].astype(np.int64), trees.trees, trees.root)[0]
        assert np.isfinite(tree.score)
        assert tree.score <= best.score + ROUNDING * size
        assert trees.log_prob(tree.heads, tree.labels) <= ROUNDING * size
    assert abs(ranked[0].score - best.score) <= ROUNDING * size
    assert [tree.score for tree in ranked] == sorted((t.score for t in ranked), reverse=True)
    assert len(set(ranked)) == len(ranked)
    assert trees.kbest(2) == ranked[:2]
    assert best.score <= trees.log_partition + ROUNDING * size


def _check_sums(trees: TreeDistribution) -> None:
    size = max(1.0, abs(trees.log_partition))
    assert trees.entropy() >= 0
    assert abs(trees.kl(trees)) < ROUNDING * size
    assert abs(trees.cross_entropy(trees) - trees.entropy()) < ROUNDING * size
    ones = np.ones(trees.scores.shape)
    assert abs(trees.expect(ones) - trees.n_words) < ROUNDING * trees.n_words
    assert trees.variance(ones) < ROUNDING * trees.n_words
    gradient = trees.vjp(trees.marginals)
    assert np.isfinite(gradient).all()
    assert np.abs(gradient.reshape(gradient.shape[0], gradient.shape[1], -1).sum((0, 2))).max() < (
        ROUNDING * trees.n_words
    )


def _check_samples(trees: TreeDistribution, seed: int) -> None:
    drawn = trees.sample(20, seed=seed)
    heads = drawn.heads if isinstance(drawn, Samples) else drawn
    labels = drawn.labels if isinstance(drawn, Samples) else None
    assert in_class(heads.astype(np.int64), trees.trees, trees.root).all()
    assert (trees.log_prob(heads, labels) > -np.inf).all()
    again = trees.sample(5, seed=seed)
    assert (heads[:5] == (again.heads if isinstance(again, Samples) else again)).all()


def _check_shift_invariance(trees: TreeDistribution, seed: int) -> None:
    """Adding a constant to a column moves log Z by it and changes nothing else."""
    # Powers of two of the scores' size, so that the shifted scores are the same real numbers.
    shift = np.random.default_rng(seed).integers(-8, 9, size=trees.n_words + 1) * 0.25
    shift[0] = 0.0
    moved = type(trees)(
        trees.scores + shift.reshape(-1, *[1] * (trees.scores.ndim - 2)), trees.root
    )
    finite = trees.scores[np.isfinite(trees.scores)]
    size = max(1.0, float(np.abs(finite).max()))
    assert abs(moved.log_partition - trees.log_partition - shift.sum()) < 1e-11 * size
    assert np.abs(moved.marginals - trees.marginals).max() < 1e-11 * size
