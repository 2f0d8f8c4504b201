"""Comparing two distributions over the trees of the same words.

Whether one has a tree that the other lacks depends on possible arcs and classes of trees, not on
marginals: a possible arc's marginal may underflow to 0, and rounding may leave an
impossible arc 1e-17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arbora.errors import ArboraError, ArgumentError, ShapeError

if TYPE_CHECKING:
    from arbora.inference.distribution import TreeDistribution

__all__ = ["check_comparable", "has_more_trees"]

CERTAIN = 1e-6  # a marginal above this is not a rounding error
SAME_COUNT = 1e-9  # log-counts of trees closer than this are equal


def check_comparable(p: TreeDistribution, q: TreeDistribution) -> None:
    """Raises unless the distributions are over the same words and labels."""
    if not all(hasattr(q, name) for name in ("scores", "trees", "n_labels")):
        raise ArgumentError(f"{type(q).__name__} is not a first-order distribution over trees.")
    if q.scores.shape != p.scores.shape:
        raise ShapeError(
            f"the two distributions have scores of shapes {p.scores.shape} and {q.scores.shape}: "
            "they must be over the same words and labels."
        )


def has_more_trees(p: TreeDistribution, q: TreeDistribution) -> bool:
    """Whether some tree has a probability above 0 under p and of 0 under q."""
    return _has_trees_of_other_class(p, q) or _has_arc_that_is_forbidden(p, q)


def _has_arc_that_is_forbidden(p: TreeDistribution, q: TreeDistribution) -> bool:
    suspects = np.isfinite(p.scores) & np.isneginf(q.scores)
    if not suspects.any():
        return False
    if (p.marginals[suspects] > CERTAIN).any():
        return True
    arcs = np.argwhere(suspects)[:, :2]
    return any(_is_possible(p, int(h), int(m)) for h, m in np.unique(arcs, axis=0))


def _is_possible(p: TreeDistribution, head: int, modifier: int) -> bool:
    try:
        p.constrain(required=[(head, modifier)])
    except ArboraError:
        return False
    return True


def _has_trees_of_other_class(p: TreeDistribution, q: TreeDistribution) -> bool:
    """Whether p's class is wider than q's and p has such trees: compares numbers of trees."""
    crossing = q.trees == "projective" and p.trees != "projective"
    several_roots = q.root == "single" and p.root == "multi"
    if not crossing and not several_roots:
        return False
    arcs = p.scores if p.scores.ndim == 2 else p.scores.max(axis=2)
    allowed = np.where(np.isneginf(arcs), -np.inf, 0.0)
    wide = type(p)(allowed, p.root)
    try:
        narrow = type(q if crossing else p)(allowed, q.root if several_roots else p.root)
    except ArboraError:
        return True
    return wide.log_partition - narrow.log_partition > SAME_COUNT
