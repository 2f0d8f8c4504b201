"""The two exact arc-factored distributions (Koo et al. 2007, section 2.1: T_np and T_p)."""

from __future__ import annotations

from arbora.inference.distribution import TreeDistribution

__all__ = ["ProjectiveTrees", "SpanningTrees"]


class SpanningTrees(TreeDistribution):
    """All dependency trees, crossing arcs allowed.

    Sums by the Matrix-Tree Theorem (Koo et al. 2007) in its subtraction-free form, O(n^3); best
    trees by the dense Chu-Liu/Edmonds algorithm, O(n^2).
    """

    trees = "nonprojective"


class ProjectiveTrees(TreeDistribution):
    """Dependency trees without crossing arcs.

    Sums and best trees by Eisner's (1996) algorithm, O(n^3).
    """

    trees = "projective"
