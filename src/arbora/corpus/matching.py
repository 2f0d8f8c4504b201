"""Matches of a pattern in trees, all trees of a batch at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from arbora.corpus.pattern import Pattern
from arbora.types import IntArray

__all__ = ["Forest", "find_matches"]

Nodes = NDArray[np.int64]


@dataclass(frozen=True)
class Forest:
    """Many trees with numbered nodes: in each tree the root symbol, then the words.

    `n_words` has the number of words of each tree; `heads` are flat, tree after tree, and -1 is a
    missing head.
    """

    n_words: NDArray[np.int64]
    heads: IntArray

    @cached_property
    def starts(self) -> Nodes:
        """The root node of each tree, and the number of all nodes."""
        return np.concatenate([[0], np.cumsum(self.n_words + 1)])

    @cached_property
    def words(self) -> Nodes:
        """The nodes of all words."""
        tree = np.repeat(np.arange(len(self.n_words)), self.n_words)
        return np.arange(len(tree)) + tree + 1

    @cached_property
    def tree(self) -> Nodes:
        """The tree of each node."""
        return np.repeat(np.arange(len(self.n_words)), self.n_words + 1)

    @cached_property
    def parent(self) -> Nodes:
        """The head of each node; -1 for root symbols and for words without a head."""
        answer = np.full(int(self.starts[-1]), -1)
        answer[self.words] = np.where(
            self.heads < 0, -1, self.starts[self.tree[self.words]] + self.heads
        )
        return answer

    def of_words(self, values: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A mask of words as one of nodes, without the root symbols."""
        answer = np.zeros(int(self.starts[-1]), dtype=np.bool_)
        answer[self.words] = values
        return answer


def find_matches(pattern: Pattern, forest: Forest, candidates: NDArray[np.bool_]) -> Nodes:
    """All matches, one row each: the node of each of the pattern's words.

    `candidates` are the words that each of the pattern's words may be, (pattern words, words of all
    trees). Labels are not looked at.
    """
    masks = [forest.of_words(row) for row in candidates]
    for word, mask in zip(pattern.words, masks, strict=True):
        if word.is_root:
            mask[forest.starts[:-1]] = True
    rows = np.flatnonzero(masks[0])[:, None]
    bound = [0]
    while len(bound) < len(pattern.words):
        rows, new = _extended(pattern, forest, masks, rows, bound)
        bound.append(new)
        rows = rows[_in_order(pattern, rows, bound)]
    return rows[:, np.argsort(bound)]


def _extended(
    pattern: Pattern, forest: Forest, masks: list[NDArray[np.bool_]], rows: Nodes, bound: list[int]
) -> tuple[Nodes, int]:
    """The rows with a column for one more word: the head of a bound one, a modifier, or any."""
    for arc in pattern.arcs:
        if arc.modifier in bound and arc.head not in bound:
            heads = forest.parent[rows[:, bound.index(arc.modifier)]]
            fits = heads >= 0
            fits[fits] = masks[arc.head][heads[fits]]
            return _distinct(np.column_stack([rows[fits], heads[fits]])), arc.head
    for arc in pattern.arcs:
        if arc.head in bound and arc.modifier not in bound:
            nodes = np.flatnonzero(masks[arc.modifier] & (forest.parent >= 0))
            keys = rows[:, bound.index(arc.head)]
            return _joined(rows, keys, nodes, forest.parent[nodes]), arc.modifier
    new = next(place for place in range(len(pattern.words)) if place not in bound)
    nodes = np.flatnonzero(masks[new])
    return _joined(rows, forest.tree[rows[:, 0]], nodes, forest.tree[nodes]), new


def _joined(rows: Nodes, keys: Nodes, nodes: Nodes, keys_of_nodes: Nodes) -> Nodes:
    """Each row with each of the nodes that have its key."""
    order = np.argsort(keys_of_nodes, kind="stable")
    nodes, keys_of_nodes = nodes[order], keys_of_nodes[order]
    first = np.searchsorted(keys_of_nodes, keys, "left")
    counts = np.searchsorted(keys_of_nodes, keys, "right") - first
    ends = np.cumsum(counts)
    within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
    added = nodes[np.repeat(first, counts) + within]
    return _distinct(np.column_stack([np.repeat(rows, counts, axis=0), added]))


def _distinct(rows: Nodes) -> Nodes:
    """The rows whose last word is none of the others."""
    return np.asarray(rows[(rows[:, :-1] != rows[:, -1:]).all(axis=1)])


def _in_order(pattern: Pattern, rows: Nodes, bound: list[int]) -> NDArray[np.bool_]:
    """The rows that obey the orders among the bound words; nodes of a tree are in its order."""
    fits = np.ones(len(rows), dtype=np.bool_)
    for order in pattern.orders:
        if order.before in bound and order.after in bound:
            gap = rows[:, bound.index(order.after)] - rows[:, bound.index(order.before)]
            fits &= (gap == 1) if order.adjacent else (gap > 0)
    return fits
