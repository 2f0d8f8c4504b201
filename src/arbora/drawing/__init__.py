"""Drawings of trees and probabilities as text, and of training and calibration as diagrams."""

from arbora.drawing.history import draw_history
from arbora.drawing.reliability import draw_reliability, reliability_text
from arbora.drawing.text import heat_table, make_printable, tree_text

__all__ = [
    "draw_history",
    "draw_reliability",
    "heat_table",
    "make_printable",
    "reliability_text",
    "tree_text",
]
