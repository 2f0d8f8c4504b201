"""Scores in, one object out, and the object answers every question."""

from arbora.inference.batch import TreeBatch
from arbora.inference.distribution import TreeDistribution
from arbora.inference.mixture import Mixture
from arbora.inference.trees import ProjectiveTrees, SpanningTrees

__all__ = ["Mixture", "ProjectiveTrees", "SpanningTrees", "TreeBatch", "TreeDistribution"]
