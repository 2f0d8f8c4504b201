"""Long sentences in overlapping windows, for encoders that read a limited number of pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Window", "windows_of"]


@dataclass(frozen=True)
class Window:
    """Words that are read together: those from `first` to `last` take their vectors from here."""

    begin: int  # the first word of the window
    first: int
    last: int
    pieces: tuple[tuple[int, ...], ...]  # of every word of the window

    @property
    def length(self) -> int:
        """The number of pieces."""
        return sum(map(len, self.pieces))

    def own(self) -> Iterator[tuple[int, int]]:
        """Where the pieces of the words from `first` to `last` begin and end in the window."""
        place = 0
        for word, pieces in enumerate(self.pieces, start=self.begin):
            if self.first <= word < self.last:
                yield place, place + len(pieces)
            place += len(pieces)


def windows_of(pieces: Sequence[tuple[int, ...]], limit: int) -> list[Window]:
    """Windows of at most `limit` pieces that cover a sentence; no word has more pieces than that.

    Where two windows overlap, each word belongs to the one in which it is farther from the edge.
    """
    lengths = [len(one) for one in pieces]
    spans: list[tuple[int, int]] = []
    begin = 0
    while True:
        end, room = begin, limit
        while end < len(pieces) and lengths[end] <= room:
            room -= lengths[end]
            end += 1
        spans.append((begin, end))
        if end == len(pieces):
            break
        # The next window repeats about half of this one.
        back, half = end, limit // 2
        while back - 1 > begin and lengths[back - 1] <= half:
            back -= 1
            half -= lengths[back]
        begin = back
    cuts = [0]
    for (_, end), (begin, _) in pairwise(spans):
        cuts.append((begin + end) // 2 if begin < end else end)
    cuts.append(len(pieces))
    return [
        Window(begin, first, last, tuple(pieces[begin:end]))
        for (begin, end), first, last in zip(spans, cuts, cuts[1:], strict=False)
        if last > first
    ]
