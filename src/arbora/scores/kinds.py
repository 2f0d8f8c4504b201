"""The kinds of parts: a table with a row for each.

A kind's place in the table is its number in the core (`cpp/include/arbora/tree/part_index.hpp`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arbora.names import PartKind

__all__ = ["KINDS", "PART_KINDS", "PartKind", "chained_kinds", "kind_number"]


class KindOfPart(NamedTuple):
    """A kind of parts: its index columns, the rule for them, and which algorithms support it."""

    name: PartKind
    columns: tuple[str, ...]
    rule: str
    summable: bool  # by the exact projective chart
    walked: bool  # by head automata
    chained: bool = False  # over neighbouring words: a factor of AD3 and of belief propagation


PART_KINDS: tuple[KindOfPart, ...] = (
    KindOfPart(
        "consecutive_siblings",
        ("head", "side", "previous", "next"),
        "side is 0 (left) or 1 (right), previous is nearer to the head than next, and -1 is START "
        "as previous and END as next",
        summable=True,
        walked=True,
    ),
    KindOfPart(
        "siblings",
        ("head", "modifier", "modifier"),
        "the smaller modifier comes first",
        summable=False,
        walked=False,
    ),
    KindOfPart(
        "grandparents",
        ("grandparent", "head", "modifier"),
        "the grandparent of the root symbol is -1",
        summable=True,
        walked=True,
    ),
    KindOfPart(
        "grandsiblings",
        ("grandparent", "head", "side", "previous", "next"),
        "side is 0 (left) or 1 (right), previous is nearer to the head than next, and -1 is START, "
        "END and the root's grandparent",
        summable=True,
        walked=True,
    ),
    KindOfPart(
        "head_bigrams",
        ("modifier", "head of the word before", "head"),
        "the modifier is the second word or a later one",
        summable=False,
        walked=False,
        chained=True,
    ),
)
KINDS: tuple[PartKind, ...] = tuple(kind.name for kind in PART_KINDS)


def kind_number(kind: PartKind) -> int:
    """The number of a kind in the core."""
    return KINDS.index(kind)


def chained_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Those of the kinds that no head automaton scores and that are factors of AD3 instead."""
    return tuple(kind.name for kind in PART_KINDS if kind.chained and kind.name in kinds)
