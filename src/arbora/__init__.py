"""Arbora: probabilistic dependency parsing.

A distribution over dependency trees is an object you can question: `SpanningTrees(scores)` and
`ProjectiveTrees(scores)` give best trees, marginals, k-best lists, samples, entropies, constraints
and gradients, exactly. `read_conllu` and `write_conllu` read and write treebanks byte for byte.
"""

from arbora.data import Sentence, read_conllu, write_conllu
from arbora.errors import (
    ArboraError,
    ArgumentError,
    ConstraintError,
    DataError,
    FileError,
    NoTreeError,
    ScoreError,
    ShapeError,
    TooLargeError,
)
from arbora.inference import Mixture, ProjectiveTrees, SpanningTrees, TreeBatch
from arbora.types import Samples, Tree

__all__ = [
    "ArboraError",
    "ArgumentError",
    "ConstraintError",
    "DataError",
    "FileError",
    "Mixture",
    "NoTreeError",
    "ProjectiveTrees",
    "Samples",
    "ScoreError",
    "Sentence",
    "ShapeError",
    "SpanningTrees",
    "TooLargeError",
    "Tree",
    "TreeBatch",
    "__version__",
    "read_conllu",
    "write_conllu",
]

__version__ = "0.1.0"
