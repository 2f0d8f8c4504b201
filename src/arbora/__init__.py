"""Arbora: probabilistic dependency parsing.

A distribution over dependency trees is an object you can question: `SpanningTrees(scores)` and
`ProjectiveTrees(scores)` give best trees, marginals, k-best lists, samples, entropies, constraints
and gradients, exactly; `SecondOrderTrees(parts)` does so for parts of two or three arcs, and
`Hypergraph` for whatever is built from smaller things. `Parser` learns such distributions from a
treebank and parses with them. `read_conllu` and `write_conllu` read and write treebanks byte for
byte.
"""

import warnings as _warnings
from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from arbora.errors import (
    AlignmentError,
    ArboraError,
    ArgumentError,
    ConstraintError,
    DataError,
    DataWarning,
    FileError,
    ModelError,
    NoTreeError,
    PatternError,
    ScoreError,
    ShapeError,
    SolverError,
    TooLargeError,
)

if TYPE_CHECKING:
    from arbora.data import Sentence, read_conllu, write_conllu
    from arbora.drawing import TreeDrawing
    from arbora.evaluation import (
        AttachmentScores,
        Calibration,
        Comparison,
        calibration,
        compare,
        evaluate,
    )
    from arbora.inference import (
        Automaton,
        Decision,
        Derivation,
        Derivations,
        FactorGraph,
        GraphGradient,
        HeadAutomata,
        Hypergraph,
        LoopyTrees,
        Mixture,
        PartGradient,
        ProjectiveTrees,
        SecondOrderBatch,
        SecondOrderTrees,
        SpanningTrees,
        TreeBatch,
        minimum_risk,
    )
    from arbora.parsers import ParsedSentence, Parser
    from arbora.pipeline import Document, Pipeline, load
    from arbora.scores import Parts
    from arbora.types import Decoded, Samples, Tree

    __version__: str

__all__ = [
    "AlignmentError",
    "ArboraError",
    "ArgumentError",
    "AttachmentScores",
    "Automaton",
    "Calibration",
    "Comparison",
    "ConstraintError",
    "DataError",
    "DataWarning",
    "Decision",
    "Decoded",
    "Derivation",
    "Derivations",
    "Document",
    "FactorGraph",
    "FileError",
    "GraphGradient",
    "HeadAutomata",
    "Hypergraph",
    "LoopyTrees",
    "Mixture",
    "ModelError",
    "NoTreeError",
    "ParsedSentence",
    "Parser",
    "PartGradient",
    "Parts",
    "PatternError",
    "Pipeline",
    "ProjectiveTrees",
    "Samples",
    "ScoreError",
    "SecondOrderBatch",
    "SecondOrderTrees",
    "Sentence",
    "ShapeError",
    "SolverError",
    "SpanningTrees",
    "TooLargeError",
    "Tree",
    "TreeBatch",
    "TreeDrawing",
    "__version__",
    "calibration",
    "compare",
    "evaluate",
    "load",
    "minimum_risk",
    "read_conllu",
    "write_conllu",
]

# Loaded when first asked for: the command line's help should not wait for NumPy.
_HOMES = {
    "arbora.data": "Sentence read_conllu write_conllu",
    "arbora.drawing": "TreeDrawing",
    "arbora.evaluation": "AttachmentScores Calibration Comparison calibration compare evaluate",
    "arbora.inference": "Automaton Decision Derivation Derivations FactorGraph GraphGradient "
    "HeadAutomata Hypergraph LoopyTrees Mixture PartGradient ProjectiveTrees SecondOrderBatch "
    "SecondOrderTrees SpanningTrees TreeBatch minimum_risk",
    "arbora.parsers": "ParsedSentence Parser",
    "arbora.pipeline": "Document Pipeline load",
    "arbora.scores": "Parts",
    "arbora.types": "Decoded Samples Tree",
}
_RENAMED = {"Scores": "AttachmentScores"}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    value: object
    if name in _RENAMED:
        _warnings.warn(
            f"arbora.{name} is deprecated and will be removed in version 0.4: use "
            f"{_RENAMED[name]}.",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(_import_module(__name__), _RENAMED[name])
    if name == "__version__":  # written once, in pyproject.toml
        value = _import_module("importlib.metadata").version("arbora")
    elif name in _HOME:
        value = getattr(_import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'arbora' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
