"""Inference: distributions over trees, decoders, and the engines that parsers use."""

from arbora.inference.batch import TreeBatch
from arbora.inference.candidates import Decision, minimum_risk
from arbora.inference.distribution import TreeDistribution
from arbora.inference.factor_graph import FactorGraph, GraphGradient
from arbora.inference.head_automata import Automaton, HeadAutomata
from arbora.inference.hypergraph import Derivation, Derivations, Hypergraph
from arbora.inference.loopy import LoopyTrees
from arbora.inference.mixture import Mixture
from arbora.inference.packed_loopy import PackedLoopy
from arbora.inference.packed_second_order import PackedSecondOrder, SecondOrderSums
from arbora.inference.risk import ArcLoss, head_errors, undirected_errors
from arbora.inference.second_order import PartGradient, SecondOrderTrees
from arbora.inference.second_order_batch import SecondOrderBatch
from arbora.inference.trees import ProjectiveTrees, SpanningTrees

__all__ = [
    "ArcLoss",
    "Automaton",
    "Decision",
    "Derivation",
    "Derivations",
    "FactorGraph",
    "GraphGradient",
    "HeadAutomata",
    "Hypergraph",
    "LoopyTrees",
    "Mixture",
    "PackedLoopy",
    "PackedSecondOrder",
    "PartGradient",
    "ProjectiveTrees",
    "SecondOrderBatch",
    "SecondOrderSums",
    "SecondOrderTrees",
    "SpanningTrees",
    "TreeBatch",
    "TreeDistribution",
    "head_errors",
    "minimum_risk",
    "undirected_errors",
]
