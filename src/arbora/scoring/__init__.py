"""Linear scores: weights times hashed features, for arcs, parts of second order, and labels."""

from arbora.scoring.linear import ArcScorer, Gradient, LabelScorer, Outcomes
from arbora.scoring.parts import PartScorer

__all__ = ["ArcScorer", "Gradient", "LabelScorer", "Outcomes", "PartScorer"]
