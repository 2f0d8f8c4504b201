"""Reference implementation of second-order parts, found directly in a tree."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from arbora.scores import PartKind, Parts
from arbora.testing.enumeration import enumerate_trees
from arbora.types import FloatArray, Root, TreeClass

__all__ = [
    "all_part_rows",
    "best_tree_slowly",
    "part_rows_of_tree",
    "random_parts",
    "score_parts_slowly",
]


def part_rows_of_tree(kind: PartKind, heads: Sequence[int]) -> set[tuple[int, ...]]:
    """The parts of a tree, as rows of an index array."""
    n_words = len(heads)
    found: set[tuple[int, ...]] = set()
    if kind == "head_bigrams":
        return {(m, int(heads[m - 2]), int(heads[m - 1])) for m in range(2, n_words + 1)}
    for h in range(n_words + 1):
        modifiers = [m for m in range(1, n_words + 1) if heads[m - 1] == h]
        g = -1 if h == 0 else int(heads[h - 1])
        if kind == "siblings":
            found |= {(h, a, b) for a in modifiers for b in modifiers if a < b}
        elif kind == "grandparents":
            found |= {(g, h, m) for m in modifiers}
        else:
            for side in (0, 1):
                outwards = sorted((m for m in modifiers if (m > h) == (side == 1)),
                                  key=lambda m: abs(m - h))  # fmt: skip
                path = [-1, *outwards, -1]
                for previous, following in itertools.pairwise(path):
                    row = (h, side, previous, following)
                    found.add(row if kind == "consecutive_siblings" else (g, *row))
    return found


def score_parts_slowly(parts: Parts, heads: Sequence[int]) -> float:
    """The score of a tree: its arcs and its listed parts."""
    total = float(sum(parts.arcs[h, m] for m, h in enumerate(heads, start=1)))
    for kind in parts.kinds:
        given = getattr(parts, kind)
        has = part_rows_of_tree(kind, heads)
        for row, score in zip(given.rows.tolist(), given.scores.tolist(), strict=True):
            total += score if tuple(row) in has else 0.0
    return total


@lru_cache(maxsize=64)
def all_part_rows(kind: PartKind, n_words: int) -> list[tuple[int, ...]]:
    """All parts of all trees over `n_words` words, by enumeration (few words only)."""
    rows: set[tuple[int, ...]] = set()
    for heads in enumerate_trees(n_words, "nonprojective", "multi").tolist():
        rows |= part_rows_of_tree(kind, heads)
    return sorted(rows)


def best_tree_slowly(parts: Parts, trees: TreeClass, root: Root) -> tuple[list[int], float]:
    """The best tree of a class by enumeration; -inf if all are forbidden."""
    every = enumerate_trees(parts.n_words, trees, root).tolist()
    scores = [score_parts_slowly(parts, heads) for heads in every]
    best = int(np.argmax(scores))
    return every[best], scores[best]


def random_parts(
    rng: np.random.Generator,
    n_words: int,
    kinds: Sequence[PartKind],
    *,
    forbidden: float = 0.0,
    ties: bool = False,
    scale: float = 1.0,
) -> Parts:
    """Random scores for all parts of the given kinds; some arcs are forbidden, but not all trees.

    With `ties`, scores are small whole numbers.
    """

    def draw(size: int | tuple[int, int]) -> FloatArray:
        if ties:
            return rng.integers(-2, 3, size).astype(np.float64)
        return np.asarray(scale * rng.normal(size=size))

    arcs = draw((n_words + 1, n_words + 1))
    every = enumerate_trees(n_words, "projective", "single")
    kept = every[rng.integers(len(every))]
    gone = rng.random(arcs.shape) < forbidden
    gone[kept, np.arange(1, n_words + 1)] = False
    arcs[gone] = -np.inf
    lists: dict[str, tuple[NDArray[np.int64], FloatArray]] = {}
    for kind in kinds:
        rows = np.array([row for row in all_part_rows(kind, n_words) if _allowed(kind, row, gone)])
        lists[kind] = (rows, draw(len(rows)))
    return Parts(arcs, **lists)


def _allowed(kind: PartKind, row: tuple[int, ...], gone: NDArray[np.bool_]) -> bool:
    if kind == "siblings":
        arcs = [(row[0], row[1]), (row[0], row[2])]
    elif kind == "grandparents":
        arcs = [(row[0], row[1]), (row[1], row[2])]
    elif kind == "consecutive_siblings":
        arcs = [(row[0], row[2]), (row[0], row[3])]
    elif kind == "head_bigrams":
        arcs = [(row[1], row[0] - 1), (row[2], row[0])]
    else:
        arcs = [(row[0], row[1]), (row[1], row[3]), (row[1], row[4])]
    return not any(gone[h, m] for h, m in arcs if h >= 0 and m >= 0)
