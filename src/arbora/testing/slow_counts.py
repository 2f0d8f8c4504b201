"""Counts of patterns by enumeration of all trees and all choices of words: for short sentences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from arbora.corpus.pattern import Pattern
from arbora.types import FloatArray, IntArray

__all__ = ["slow_moments", "slow_value"]


def slow_value(
    pattern: Pattern,
    fits: Sequence[Sequence[bool]],
    heads: Sequence[int],
    label_chance: Callable[[int, int], float],
) -> list[tuple[tuple[int, ...], float]]:
    """All matches in a tree, each with the probability of its labels.

    `fits[i][m]` says whether word m (0 is the root symbol) can be word i of the pattern, and
    `label_chance(arc, m)` is the probability that the arc into m has a label that the pattern's arc
    allows.
    """
    found = []
    for words in itertools.permutations(range(len(heads) + 1), len(pattern.words)):
        if not all(fits[i][m] for i, m in enumerate(words)):
            continue
        if any(heads[words[arc.modifier] - 1] != words[arc.head] for arc in pattern.arcs):
            continue
        gaps = [
            (words[order.after] - words[order.before], order.adjacent) for order in pattern.orders
        ]
        if not all(gap == 1 if adjacent else gap > 0 for gap, adjacent in gaps):
            continue
        chance = 1.0
        for number, arc in enumerate(pattern.arcs):
            chance *= label_chance(number, words[arc.modifier])
        found.append((words, chance))
    return found


def slow_moments(
    pattern: Pattern,
    fits: Sequence[Sequence[bool]],
    trees: IntArray,
    probabilities: FloatArray,
    label_tables: Sequence[FloatArray],
    allowed: Sequence[Sequence[bool]],
) -> tuple[float, float, float]:
    """E[N], Var[N] and P(N > 0): a sum over all trees and all labellings.

    `label_tables[t]` is (words, labels), P(label | tree t); labels of different words are
    independent given the tree.
    """
    mean = square = some = 0.0
    # Labels that the same arcs of the pattern allow are one case.
    classes: dict[tuple[bool, ...], list[int]] = {}
    for label, column in enumerate(zip(*allowed, strict=True)):
        classes.setdefault(tuple(map(bool, column)), []).append(label)
    for heads, chance, table in zip(trees.tolist(), probabilities, label_tables, strict=True):
        matches = [words for words, _ in slow_value(pattern, fits, heads, lambda *_: 1.0)]
        needed = [
            [(number, words[arc.modifier]) for number, arc in enumerate(pattern.arcs)]
            for words in matches
        ]
        involved = sorted({word for match in needed for _, word in match})
        for kinds in itertools.product(classes, repeat=len(involved)):
            given = dict(zip(involved, kinds, strict=True))
            own = [table[m - 1, classes[given[m]]].sum() for m in involved]
            weight = chance * float(np.prod(own))
            number = sum(all(given[word][arc] for arc, word in match) for match in needed)
            mean += weight * number
            square += weight * number**2
            some += weight * (number > 0)
    return mean, square - mean**2, some
