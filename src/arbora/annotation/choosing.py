"""Choice of the items with the greatest expected gain within a budget."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Item", "Shortlist", "choose"]

_ROOM = 8  # times the budget are kept for a diverse choice, and twice for others


@dataclass(frozen=True)
class Item:
    """Something to annotate: a sentence, or one word of it (`word` is 0 for whole sentences).

    `cost` is the number of words to annotate. `shares` divides the gain among kinds of words and
    sentences, by name. `origin` is whatever the caller needs to know the item by.
    """

    gain: float
    cost: int
    sentence: int
    word: int
    shares: Mapping[str, float]
    origin: Any = None

    @property
    def rank(self) -> tuple[float, int, int]:
        """Sorts by gain per word, then by the place in the pool."""
        return -self.gain / self.cost, self.sentence, self.word


class Shortlist:
    """The best items of a stream, as many as a choice within the budget can need.

    Items with a gain per word below `floor` would be dropped.
    """

    def __init__(self, budget: int, diverse: bool) -> None:
        self.floor = -math.inf
        self._limit = budget * (_ROOM if diverse else 2)
        self._items: list[Item] = []
        self._cost = 0

    def add(self, items: Iterable[Item]) -> None:
        """Takes further items; the worst are dropped when there are too many."""
        for item in items:
            self._items.append(item)
            self._cost += item.cost
            if self._cost > 2 * self._limit + item.cost:
                self._cut()

    def _cut(self) -> None:
        self._items.sort(key=lambda item: item.rank)
        kept, cost = 0, 0
        while kept < len(self._items) and cost < self._limit:
            cost += self._items[kept].cost
            kept += 1
        if kept < len(self._items):
            self.floor = -self._items[kept - 1].rank[0]
        del self._items[kept:]
        self._cost = cost

    def items(self) -> list[Item]:
        """The best items, best first."""
        self._cut()
        return self._items


def choose(items: Iterable[Item], budget: int, diversity: float = 0.0) -> list[Item]:
    """Items whose costs fit in the budget, in the order of their choice.

    Greedy: the next item is the one that adds most to the total per word. Without diversity, the
    total is the sum of all gains. With it, gains G of the same kind count as ((1 + G)^p - 1) / p
    with p = 1 - diversity (log(1 + G) at 1), so that more of the same counts less and less.
    Items that do not fit are left out.
    """
    sums: dict[str, float] = {}
    waiting = [(*item.rank, item) for item in items]
    heapq.heapify(waiting)
    chosen: list[Item] = []
    while waiting and budget > 0:
        _, sentence, word, item = heapq.heappop(waiting)
        if item.cost > budget:
            continue
        if diversity > 0.0:
            value = -_added(item, sums, diversity) / item.cost
            # What an item adds only shrinks, so one that still leads is the best (lazy greedy).
            if waiting and (value, sentence, word) > waiting[0][:3]:
                heapq.heappush(waiting, (value, sentence, word, item))
                continue
        chosen.append(item)
        budget -= item.cost
        for kind, share in item.shares.items():
            sums[kind] = sums.get(kind, 0.0) + share
    return chosen


def _added(item: Item, sums: Mapping[str, float], diversity: float) -> float:
    """What an item adds to the total."""
    return sum(
        _counted(sums.get(kind, 0.0) + share, diversity) - _counted(sums.get(kind, 0.0), diversity)
        for kind, share in item.shares.items()
    )


def _counted(gain: float, diversity: float) -> float:
    power = 1.0 - diversity
    if power == 0.0:
        return math.log1p(gain)
    return math.expm1(power * math.log1p(gain)) / power
