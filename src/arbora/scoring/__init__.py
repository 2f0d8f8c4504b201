"""Linear scores: weights times hashed features, for arcs and for labels."""

from arbora.scoring.linear import ArcScorer, Gradient, LabelScorer, Outcomes

__all__ = ["ArcScorer", "Gradient", "LabelScorer", "Outcomes"]
