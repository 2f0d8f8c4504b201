"""Annotation with a parser at one's side: what to annotate next, and what to look at again."""

from arbora.annotation.doubt import Doubt, doubt_about
from arbora.annotation.gains import MEASURES, Measure
from arbora.annotation.requests import Request, Selection
from arbora.annotation.reviewing import Look, review_differences, review_order
from arbora.annotation.selecting import Unit, select

__all__ = [
    "MEASURES",
    "Doubt",
    "Look",
    "Measure",
    "Request",
    "Selection",
    "Unit",
    "doubt_about",
    "review_differences",
    "review_order",
    "select",
]
