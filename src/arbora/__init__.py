"""Arbora: probabilistic dependency parsing.

A distribution over dependency trees is an object you can question: `SpanningTrees(scores)` and
`ProjectiveTrees(scores)` give best trees, marginals, k-best lists, samples, entropies, constraints
and gradients, exactly.
"""

from arbora.errors import (
    AlignmentError,
    ArboraError,
    ArgumentError,
    ConstraintError,
    NoTreeError,
    ScoreError,
    ShapeError,
    TooLargeError,
)
from arbora.inference import Mixture, ProjectiveTrees, SpanningTrees, TreeBatch
from arbora.types import Samples, Tree

__all__ = [
    "AlignmentError",
    "ArboraError",
    "ArgumentError",
    "ConstraintError",
    "Mixture",
    "NoTreeError",
    "ProjectiveTrees",
    "Samples",
    "ScoreError",
    "ShapeError",
    "SpanningTrees",
    "TooLargeError",
    "Tree",
    "TreeBatch",
    "__version__",
]

__version__ = "0.1.0"
