"""Readable feature variants: direction and distance, or the word order of a part.

The codes are defined in `cpp/include/arbora/features/arc_templates.hpp` and `part_templates.hpp`.
"""

from __future__ import annotations

from arbora.scores import PartKind

__all__ = ["part_variant_text", "variant_text"]

_DISTANCES = ("1", "2", "3", "4-5", "6-9", "10-19", "20+")
_ROOT = 15  # the variant of arcs from the root symbol
_SIBLING_DISTANCES = ("1", "2", "3-5", "6-10", "11+")
_GRAND_DISTANCES = ("1", "2", "3-5", "6+")
# How the heads of two neighbours lie, and on which side of its word each of them is.
_BIGRAMS = ("one head", "first under second", "second under first", "outwards", "across",
            "nested", "crossing")  # fmt: skip
_SIDES = ("right", "left")
_ORDERS = ("m g h", "g m h", "g h m", "m h g", "h m g", "h g m")  # by word order


def variant_text(variant: int) -> str:
    """Direction and distance of an arc feature."""
    if variant == 0:
        return ""
    if variant == _ROOT:
        return "root"
    direction, distance = divmod(variant - 1, len(_DISTANCES))
    return f"{('left', 'right')[direction]} {_DISTANCES[distance]}"


def part_variant_text(kind: PartKind, variant: int) -> str:
    """Direction and distance of a part feature, or the order of its words."""
    if kind in ("consecutive_siblings", "siblings"):
        if variant < 4:
            return ("left", "right", "both sides")[variant - 1]
        if variant >= 14:
            any_two = kind == "siblings"
            ends = ("both sides 1-5", "both sides 6+") if any_two else ("left end", "right end")
            return ends[variant - 14]
        direction, distance = divmod(variant - 4, len(_SIBLING_DISTANCES))
        return f"{('left', 'right')[direction]} {_SIBLING_DISTANCES[distance]}"
    if kind == "head_bigrams":
        if variant < len(_BIGRAMS):
            return _BIGRAMS[variant]
        directions, far = divmod(variant - len(_BIGRAMS), 2)
        return f"{_SIDES[directions // 2]} {_SIDES[directions % 2]} {('1-2', '3+')[far]}"
    if variant < 8:
        return _ORDERS[variant - 1]
    direction, distance = divmod(variant - 8, len(_GRAND_DISTANCES))
    return f"{('left', 'right')[direction]} {_GRAND_DISTANCES[distance]}"
