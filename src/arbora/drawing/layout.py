"""Where everything is: words in rows, arcs on levels, labels on arcs, in any unit of length.

The terminal counts in cells, pictures in pixels; both use this layout. Its promises, which the
tests check on random trees:

- An arc is drawn on a level above all arcs inside it. Arcs on the same level do not overlap, so
  neither do their labels, which stay inside their arcs.
- Words are far enough apart that the label of every arc fits between its ends.
- Labels avoid the lines that cross them, if there is room.
- A row that is too wide is broken. An arc between two rows has a piece in each, which reaches the
  edge of the row and ends in a mark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from arbora.drawing.tree_drawing import Arc, MultiwordToken, TreeDrawing

__all__ = ["Layout", "Metrics", "PlacedWord", "Row", "Stretch", "lay_out"]


_FEWEST_WORDS = 3  # of a last row, if rows can be made narrower for it
_SHARES = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7)  # of the width


@dataclass(frozen=True)
class Metrics:
    """Sizes in the unit of the drawing.

    `port` is the distance between the ends of arcs at a word; at 0, arcs that leave a word on one
    side leave it together, one unit beside the end of the arc that enters it. `before` and `after`
    are the distances of a label from a line on its right and on its left.
    """

    word_width: Callable[[str], float]
    label_width: Callable[[str], float]
    halves: Callable[[float], tuple[float, float]]  # of a width: left and right of the centre
    gap: float
    padding: float
    shortest: float
    port: float
    before: float
    after: float
    edge: float = 0.0  # from the edge of a row to the ends of arcs that leave it on the right


@dataclass(frozen=True)
class PlacedWord:
    """A word (counted from 1) and the horizontal extent of its text, tag and arcs."""

    number: int
    centre: float
    left: float
    right: float


@dataclass
class Stretch:
    """The part of an arc in one row: from `left` to `right` on a level, counted from 1 upwards.

    An open end is at the edge of the row and ends in `mark`, the number of the word beyond.
    An arc from the root is a vertical line at `left == right`; its label is at its upper end.
    """

    arc: Arc
    left: float
    right: float
    open_left: bool = False
    open_right: bool = False
    level: int = 0
    label_left: float = 0.0
    label_width: float = 0.0

    @property
    def is_root(self) -> bool:
        """Whether the arc comes from the root."""
        return self.arc.head == 0

    @property
    def mark(self) -> str:
        """The number of the word beyond the edge of the row."""
        low, high = sorted((self.arc.head, self.arc.modifier))
        return str(low if self.open_left else high)

    def end_at(self, word: int) -> float:
        """The position of the arc's end at its head or its modifier."""
        return self.right if word == max(self.arc.head, self.arc.modifier) else self.left


@dataclass(frozen=True)
class Row:
    """A line of the sentence with its arcs."""

    words: tuple[PlacedWord, ...]
    stretches: tuple[Stretch, ...]
    tokens: tuple[tuple[MultiwordToken, float, float], ...]
    width: float

    @property
    def levels(self) -> int:
        """The number of levels."""
        return max((one.level for one in self.stretches), default=0)


@dataclass(frozen=True)
class Layout:
    """The rows of a drawing."""

    rows: tuple[Row, ...]
    width: float


def lay_out(drawing: TreeDrawing, arcs: list[Arc], metrics: Metrics, width: float) -> Layout:
    """Places words, arcs and labels; rows are at most `width` wide, unless a word is wider.

    If only a word or two are left for the last row, the rows are made narrower for it, as long as
    there are no more of them.
    """
    plan = _Plan(drawing, arcs, metrics)
    rows = plan.rows(width)
    if len(rows) > 1 and len(rows[-1].words) < _FEWEST_WORDS:
        narrower = (plan.rows(width * share) for share in _SHARES)
        rows = next(
            (
                one
                for one in narrower
                if len(one) == len(rows) and len(one[-1].words) >= _FEWEST_WORDS
            ),
            rows,
        )
    return Layout(tuple(rows), max(row.width for row in rows))


@dataclass
class _Plan:
    """What does not depend on the breaks between rows."""

    drawing: TreeDrawing
    arcs: list[Arc]
    metrics: Metrics
    ports: dict[tuple[int, int], float] = field(init=False)  # (arc, word): distance from the centre
    starting: list[list[int]] = field(init=False)  # the arcs of each word to words on its right
    ending: list[list[int]] = field(init=False)  # and to words on its left
    halves: list[tuple[float, float]] = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.drawing)
        self.starting = [[] for _ in range(n + 1)]
        self.ending = [[] for _ in range(n + 1)]
        for i, arc in enumerate(self.arcs):
            if arc.head:
                self.starting[min(arc.head, arc.modifier)].append(i)
                self.ending[max(arc.head, arc.modifier)].append(i)
        self.ports = {}
        self.halves = [(0.0, 0.0)]
        for word in range(1, n + 1):
            self._set_ports(word)
            self.halves.append(self._halves(word))

    def _set_ports(self, word: int) -> None:
        """Ends at a word, from left to right: arcs to the left, short ones first; the root; arcs
        to the right, long ones first. So arcs that share a word never cross."""

        def size(i: int) -> tuple[int, int]:
            return abs(self.arcs[i].head - self.arcs[i].modifier), i

        roots = [i for i, arc in enumerate(self.arcs) if arc.head == 0 and arc.modifier == word]
        left = sorted(self.ending[word], key=size)
        right = sorted(self.starting[word], key=size, reverse=True)
        if self.metrics.port == 0:
            for i in (*left, *right, *roots):
                side = 1 if i in right else -1
                self.ports[i, word] = 0 if self.arcs[i].modifier == word else side
            return
        ends = [*left, *roots, *right]
        for place, i in enumerate(ends):
            self.ports[i, word] = (place - (len(ends) - 1) / 2) * self.metrics.port

    def _halves(self, word: int) -> tuple[float, float]:
        """The room of a word on either side: its text, tag, ends of arcs and the root's label."""
        widths = [self.metrics.word_width(self.drawing.words[word - 1])]
        if self.drawing.tags:
            widths.append(self.metrics.label_width(self.drawing.tags[word - 1]))
        left, right = self.metrics.halves(max(widths))
        for (i, end), port in self.ports.items():
            if end != word:
                continue
            left, right = max(left, -port), max(right, port + (self.metrics.port == 0))
            if self.arcs[i].head == 0:
                sides = self.metrics.halves(self.metrics.label_width(root_text(self.arcs[i])))
                left, right = max(left, sides[0] - port), max(right, sides[1] + port)
        return left, right

    def _room(self, i: int) -> float:
        """The smallest distance between the ends of an arc."""
        text = self.arcs[i].text
        label = self.metrics.label_width(text) + 2 * self.metrics.padding if text else 0
        return max(label, self.metrics.shortest)

    def _open_room(self, i: int) -> float:
        """The smallest distance between an end of an arc and the edge of the row."""
        arc = self.arcs[i]
        return self._room(i) + self.metrics.label_width(f"→{max(arc.head, arc.modifier)}")

    def _mark_room(self, last: int) -> float:
        """The room for marks at a break after a word, if arcs lead from one side to the other."""
        beyond = [
            max(arc.head, arc.modifier)
            for arc in self.arcs
            if arc.head and min(arc.head, arc.modifier) <= last < max(arc.head, arc.modifier)
        ]
        return self.metrics.label_width(f"→{max(beyond)}") if beyond else 0

    def _other(self, i: int, word: int) -> int:
        return self.arcs[i].head + self.arcs[i].modifier - word

    def rows(self, limit: float) -> list[Row]:
        """Rows that have as many words as fit, one after the other."""
        rows = []
        first = 1
        while first <= len(self.drawing):
            row, last = self.longest_row(first, limit)
            rows.append(row)
            first = last + 1
        return rows

    def longest_row(self, first: int, limit: float) -> tuple[Row, int]:
        """The row that begins with a word and has as many words as fit, and its last word.

        Multiword tokens are not broken, unless one does not fit.
        """
        centres: dict[int, float] = {}
        best, best_width = first, 0.0
        edge = 0.0  # the right end of the open arcs and of the words so far
        for word in range(first, len(self.drawing) + 1):
            centres[word] = self._next_centre(word, first, centres)
            edge = centres[word] + self.halves[word][1]
            if word > first and edge > limit:
                break
            closed = max(edge + self._mark_room(word), self._open_edge(first, word, centres))
            if word == first or (closed <= limit and not self._inside_token(word)):
                best, best_width = word, closed
        kept = {word: centres[word] for word in range(first, best + 1)}
        return self._row(kept, best_width), best

    def _inside_token(self, word: int) -> bool:
        """Whether a break after the word would be inside a multiword token."""
        return any(token.first <= word < token.last for token in self.drawing.multiword)

    def _next_centre(self, word: int, first: int, centres: dict[int, float]) -> float:
        left, right = self.halves[word]
        if not centres:
            centre = left + self._mark_room(first - 1)  # marks hide no lines above the words
        else:
            centre = centres[word - 1] + self.halves[word - 1][1] + self.metrics.gap + left
        for i in self.ending[word]:
            other, port = self._other(i, word), self.ports[i, word]
            if other < first:
                centre = max(centre, self._open_room(i) - port)
            else:
                start = centres[other] + self.ports[i, other]
                centre = max(centre, start + self._room(i) - port)
        for token in self.drawing.multiword:
            if token.last == word:
                start = centres.get(token.first, centre) - self.halves[token.first][0]
                room = self.metrics.label_width(token.form) + 2 * self.metrics.padding
                centre = max(centre, start + room - right)
        return centre

    def _open_edge(self, first: int, last: int, centres: dict[int, float]) -> float:
        """The position that the arcs to later rows need, if the row ends with a word."""
        return max(
            (
                centres[word] + self.ports[i, word] + self._open_room(i)
                for word in range(first, last + 1)
                for i in self.starting[word]
                if self._other(i, word) > last
            ),
            default=0.0,
        )

    def _row(self, centres: dict[int, float], width: float) -> Row:
        words = tuple(
            PlacedWord(word, x, x - self.halves[word][0], x + self.halves[word][1])
            for word, x in centres.items()
        )
        stretches = self._stretches(centres, width)
        _set_levels(stretches, self.metrics)
        for one in stretches:
            _place_label(one, stretches, self.metrics)
        tokens = []
        for token in self.drawing.multiword:
            inside = [word for word in words if token.first <= word.number <= token.last]
            if inside:
                tokens.append((token, inside[0].left, inside[-1].right))
        return Row(words, tuple(stretches), tuple(tokens), width)

    def _stretches(self, centres: dict[int, float], width: float) -> list[Stretch]:
        made = []
        for i, arc in enumerate(self.arcs):
            low, high = sorted((arc.head, arc.modifier))
            if high in centres and arc.head == 0:
                x = centres[high] + self.ports[i, high]
                made.append(Stretch(arc, x, x))
            elif low in centres or high in centres:
                left = centres[low] + self.ports[i, low] if low in centres else 0.0
                right = (
                    centres[high] + self.ports[i, high]
                    if high in centres
                    else width - self.metrics.edge
                )
                made.append(Stretch(arc, left, right, low not in centres, high not in centres))
        return made


def root_text(arc: Arc) -> str:
    """What stands above an arc from the root."""
    return arc.text if arc.label else f"root {arc.text}".strip()


def _set_levels(stretches: list[Stretch], metrics: Metrics) -> None:
    """Puts each arc above all that it overlaps, short arcs first; then the roots above theirs."""
    done: list[Stretch] = []
    for one in sorted(stretches, key=lambda s: (s.is_root, s.right - s.left, s.left)):
        if one.is_root:
            one.label_width = metrics.label_width(root_text(one.arc))
            one.label_left = one.left - metrics.halves(one.label_width)[0]
            low, high = one.label_left - metrics.after, one.label_left + one.label_width
            below = [other.level for other in done if other.left <= high and low <= other.right]
        else:
            below = [
                other.level for other in done if other.left < one.right and one.left < other.right
            ]
        one.level = 1 + max(below, default=0)
        done.append(one)


def _place_label(one: Stretch, stretches: list[Stretch], metrics: Metrics) -> None:
    """Puts a label near the middle of its arc, where no line of a higher arc crosses it."""
    if one.is_root or not one.arc.text:
        return
    width = one.label_width = metrics.label_width(one.arc.text)
    marks = metrics.label_width(f"→{one.mark}")
    low = one.left + (marks if one.open_left else 0) + metrics.after
    high = one.right - (marks if one.open_right else 0) - metrics.before - width
    middle = (low + high) / 2
    if metrics.port == 0:
        middle = (low + high) // 2
    lines = [
        x
        for other in stretches
        if other.level > one.level
        for x, is_open in ((other.left, other.open_left), (other.right, other.open_right))
        if not is_open and one.left < x < one.right
    ]
    places = [middle]
    places += [place for x in lines for place in (x - width - metrics.before, x + metrics.after)]
    for place in sorted(places, key=lambda place: (abs(place - middle), place)):
        free = all(x >= place + width + metrics.before or x <= place - metrics.after for x in lines)
        if low <= place <= high and free:
            one.label_left = place
            return
    one.label_left = middle
