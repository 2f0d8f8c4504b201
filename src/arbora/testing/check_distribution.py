"""The laws of distributions over trees.

A law lists the methods that it uses. A class that has all of them must obey it, so approximate
distributions are tested with the laws for the methods that they have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from arbora.inference import TreeDistribution
from arbora.inference.tree_checks import in_class
from arbora.types import FloatArray, Root, Samples, TreeClass

__all__ = ["LAWS", "AnyDistribution", "Law", "check_distribution"]

ROUNDING = 1e-10  # generous, because this checks laws, not precision


class AnyDistribution(Protocol):
    """The interface of all distributions over trees: arc scores, class of trees, marginals."""

    @property
    def scores(self) -> FloatArray: ...
    @property
    def trees(self) -> TreeClass: ...
    @property
    def root(self) -> Root: ...
    @property
    def n_words(self) -> int: ...
    @property
    def marginals(self) -> FloatArray: ...


def check_distribution(
    trees: AnyDistribution,
    seed: int = 0,
    make: Callable[[FloatArray], AnyDistribution] | None = None,
) -> tuple[str, ...]:
    """Raises AssertionError if a law is broken; returns the names of the laws that were checked.

    `make(scores)` returns the same distribution with other arc scores. First-order classes do not
    need it; for others, the law of shifted scores is checked only if it is given. Approximations
    that have not converged do not obey that law.
    """
    if make is None and isinstance(trees, TreeDistribution):
        make = _first_order(trees)
    laws = [law for law in LAWS if all(hasattr(trees, name) for name in law.asks)]
    for law in laws:
        law.check(trees, seed)
    names = tuple(law.name for law in laws)
    if make is None:
        return names
    _check_shift_invariance(trees, seed, make)
    return (*names, "shift invariance")


def _first_order(trees: TreeDistribution) -> Callable[[FloatArray], AnyDistribution]:
    return lambda scores: type(trees)(scores, trees.root)


def _check_marginals(trees: Any, _: int) -> None:
    marginals = trees.marginals
    arcs = getattr(trees, "arc_marginals", marginals)
    assert marginals.shape == trees.scores.shape
    assert not marginals.flags.writeable
    assert np.isfinite(marginals).all()
    assert (marginals >= 0).all()
    assert (marginals <= 1 + ROUNDING).all()
    assert np.abs(arcs[:, 1:].sum(axis=0) - 1).max() < ROUNDING
    if trees.root == "single":
        assert abs(arcs[0].sum() - 1) < ROUNDING
    assert (marginals[np.isneginf(trees.scores)] == 0).all()


def _check_part_marginals(trees: Any, _: int) -> None:
    for marginals in trees.part_marginals.values():
        assert np.isfinite(marginals).all()
        assert (marginals >= 0).all()
        assert (marginals <= 1 + ROUNDING).all()


def _check_risk(trees: Any, _: int) -> None:
    """The minimum Bayes risk tree is a tree of the class, over allowed arcs."""
    tree = trees.mbr()
    assert in_class(tree.heads[None].astype(np.int64), trees.trees, trees.root)[0]
    assert np.isfinite(tree.score)


def _check_gradient(trees: Any, _: int) -> None:
    assert np.isfinite(_gradient(trees)).all()
    answer = trees.vjp(trees.marginals)
    assert all(np.isfinite(values).all() for values in getattr(answer, "parts", {}).values())


def _check_best_trees(trees: Any, _: int) -> None:
    size = max(1.0, abs(trees.log_partition))
    best = trees.argmax()
    ranked = trees.kbest(5)
    for tree in [best, trees.mbr(), *ranked]:
        assert in_class(tree.heads[None].astype(np.int64), trees.trees, trees.root)[0]
        assert np.isfinite(tree.score)
        assert tree.score <= best.score + ROUNDING * size
        assert _log_prob(trees, tree.heads, tree.labels) <= ROUNDING * size
    assert abs(ranked[0].score - best.score) <= ROUNDING * size
    assert [tree.score for tree in ranked] == sorted((t.score for t in ranked), reverse=True)
    assert len(set(ranked)) == len(ranked)
    assert trees.kbest(2) == ranked[:2]
    assert best.score <= trees.log_partition + ROUNDING * size


def _check_sums(trees: Any, _: int) -> None:
    size = max(1.0, abs(trees.log_partition))
    assert trees.entropy() >= 0
    assert abs(trees.kl(trees)) < ROUNDING * size
    assert abs(trees.cross_entropy(trees) - trees.entropy()) < ROUNDING * size
    ones = np.ones(trees.scores.shape)
    assert abs(trees.expect(ones) - trees.n_words) < ROUNDING * trees.n_words
    assert trees.variance(ones) < ROUNDING * trees.n_words


def _check_samples(trees: Any, seed: int) -> None:
    drawn = trees.sample(20, seed=seed)
    heads = drawn.heads if isinstance(drawn, Samples) else drawn
    labels = drawn.labels if isinstance(drawn, Samples) else None
    assert in_class(heads.astype(np.int64), trees.trees, trees.root).all()
    assert (_log_prob(trees, heads, labels) > -np.inf).all()
    again = trees.sample(5, seed=seed)
    assert (heads[:5] == (again.heads if isinstance(again, Samples) else again)).all()


def _check_shift_invariance(
    trees: AnyDistribution, seed: int, make: Callable[[FloatArray], AnyDistribution]
) -> None:
    """Adding a constant to a column adds it to log Z and changes nothing else."""
    # Powers of two of the size of the scores, so that shifting is exact.
    shift = np.random.default_rng(seed).integers(-8, 9, size=trees.n_words + 1) * 0.25
    shift[0] = 0.0
    moved = make(trees.scores + shift.reshape(-1, *[1] * (trees.scores.ndim - 2)))
    finite = trees.scores[np.isfinite(trees.scores)]
    size = max(1.0, float(np.abs(finite).max()))
    assert abs(_log_partition(moved) - _log_partition(trees) - shift.sum()) < 1e-11 * size
    assert np.abs(moved.marginals - trees.marginals).max() < 1e-11 * size
    if hasattr(trees, "vjp"):
        gradient = _gradient(trees)
        of_columns = gradient.reshape(gradient.shape[0], gradient.shape[1], -1).sum((0, 2))
        assert np.abs(of_columns).max() < ROUNDING * trees.n_words


def _gradient(trees: Any) -> FloatArray:
    """The gradient of half the sum of squared marginals with respect to the arc scores."""
    answer = trees.vjp(trees.marginals)
    return np.asarray(getattr(answer, "arcs", answer))


def _log_prob(trees: Any, heads: Any, labels: Any) -> Any:
    return trees.log_prob(heads) if labels is None else trees.log_prob(heads, labels)


def _log_partition(trees: Any) -> float:
    """log Z, or its Bethe approximation."""
    name = "log_partition" if hasattr(trees, "log_partition") else "bethe_log_partition"
    return float(getattr(trees, name))


class Law(NamedTuple):
    """A law, the methods that it uses, and its check."""

    name: str
    asks: tuple[str, ...]
    check: Callable[[Any, int], None]


LAWS: tuple[Law, ...] = (
    Law("marginals", ("marginals",), _check_marginals),
    Law("part marginals", ("part_marginals",), _check_part_marginals),
    Law("least risk", ("mbr",), _check_risk),
    Law("gradient", ("vjp",), _check_gradient),
    Law("best trees", ("argmax", "kbest", "mbr", "log_prob", "log_partition"), _check_best_trees),
    Law("sums", ("entropy", "kl", "cross_entropy", "expect", "variance"), _check_sums),
    Law("samples", ("sample", "log_prob"), _check_samples),
)
