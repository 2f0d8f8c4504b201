"""Reference implementations of the data layer, directly from the definitions."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["read_slowly", "tree_shape_slowly"]


def read_slowly(text: str) -> list[list[list[str]]]:
    """The ten columns of each word, by sentence."""
    sentences: list[list[list[str]]] = []
    rows: list[list[str]] = []
    for line in [*text.removeprefix("\ufeff").split("\n"), ""]:
        if not line.strip(" \t\r"):
            if rows:
                sentences.append(rows)
            rows = []
        elif not line.startswith("#"):
            fields = line.rstrip(" \r").split("\t")
            if fields[0].isdigit():
                rows.append(fields)
    return sentences


def tree_shape_slowly(heads: Sequence[int]) -> tuple[int, int, int]:
    """The numbers of non-projective arcs, crossing arcs and roots, by definition."""
    arcs = [(head, word) for word, head in enumerate(heads, start=1) if head >= 0]
    nonprojective = sum(
        head > 0 and any(not _dominates(heads, head, x) for x in _between(head, word))
        for head, word in arcs
    )
    crossing = sum(any(_cross(arc, other) for other in arcs) for arc in arcs)
    return nonprojective, crossing, sum(head == 0 for head, _ in arcs)


def _between(one: int, other: int) -> range:
    return range(min(one, other) + 1, max(one, other))


def _dominates(heads: Sequence[int], head: int, word: int) -> bool:
    """Whether the head is among the ancestors of the word; cycles end the search."""
    way = [word]
    while way[-1] > 0:
        way.append(heads[way[-1] - 1])
        if len(way) > len(heads) + 1:
            return False
    return head in way


def _cross(arc: tuple[int, int], other: tuple[int, int]) -> bool:
    (a, b), (c, d) = sorted(arc), sorted(other)
    return a < c < b < d or c < a < d < b
