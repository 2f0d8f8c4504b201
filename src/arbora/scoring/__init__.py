"""Scorers: from encoded sentences to scores of arcs, parts and labels, and back to gradients."""

from arbora.scoring.batch import Batch
from arbora.scoring.labels import LabelScorer, softmax
from arbora.scoring.linear import Feature, Gradient, LinearScorer, Outcomes
from arbora.scoring.scorer import (
    SCORERS,
    InnerProducts,
    LabellingScorer,
    Parameters,
    Pullback,
    Scorer,
    Threaded,
    as_float32,
    register_scorer,
)
from arbora.scoring.soft_clusters import SoftClusterScorer
from arbora.scoring.sum import Expert, SumScorer

__all__ = [
    "SCORERS",
    "Batch",
    "Expert",
    "Feature",
    "Gradient",
    "InnerProducts",
    "LabelScorer",
    "LabellingScorer",
    "LinearScorer",
    "Outcomes",
    "Parameters",
    "Pullback",
    "Scorer",
    "SoftClusterScorer",
    "SumScorer",
    "Threaded",
    "as_float32",
    "register_scorer",
    "softmax",
]
