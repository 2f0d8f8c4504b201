"""Scores of arcs and parts: where scoring and inference meet."""

from arbora.scores.kinds import KINDS, PART_KINDS, PartKind, chained_kinds, kind_number
from arbora.scores.layout import Layout, Places
from arbora.scores.parts import PartList, Parts
from arbora.scores.scores import Scores

__all__ = [
    "KINDS",
    "PART_KINDS",
    "Layout",
    "PartKind",
    "PartList",
    "Parts",
    "Places",
    "Scores",
    "chained_kinds",
    "kind_number",
]
