"""Scores in, one object out, and the object answers every question."""

from arbora.inference.batch import TreeBatch
from arbora.inference.distribution import TreeDistribution
from arbora.inference.head_automata import Automaton, HeadAutomata
from arbora.inference.mixture import Mixture
from arbora.inference.trees import ProjectiveTrees, SpanningTrees

__all__ = [
    "Automaton",
    "HeadAutomata",
    "Mixture",
    "ProjectiveTrees",
    "SpanningTrees",
    "TreeBatch",
    "TreeDistribution",
]
