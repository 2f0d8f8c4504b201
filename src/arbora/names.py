"""Names of choices that several layers share."""

from __future__ import annotations

from typing import Literal

__all__ = ["PartKind", "Root", "TreeClass"]

Root = Literal["single", "multi"]
TreeClass = Literal["nonprojective", "projective"]
# The kinds of parts that are scored besides arcs; `arbora.scores` has a table of them.
PartKind = Literal[
    "consecutive_siblings", "siblings", "grandparents", "grandsiblings", "head_bigrams"
]
