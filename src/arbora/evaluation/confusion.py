"""What a parser gets wrong: labels and heads taken for others, and the worst sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from arbora.evaluation.counts import percent

__all__ = ["Confusion", "SentenceErrors", "shortened"]


@dataclass(frozen=True)
class Confusion:
    """How often the system has one value where gold has another: labels, or tags of heads.

    `counts[gold, system]` is a number of words, the largest first. Where both are the same, they
    are the words with the right label, or with a wrong head of the same tag.
    """

    what: str
    counts: dict[tuple[str, str], int]

    @classmethod
    def of(cls, what: str, pairs: Iterable[tuple[str, str]]) -> Confusion:
        """The table of pairs of gold and system."""
        counts = Counter(pairs)
        return cls(what, dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))

    def in_gold(self, name: str) -> int:
        """The number of words that have this value in gold."""
        return sum(count for (gold, _), count in self.counts.items() if gold == name)

    def rows(self, most: int | None = None) -> list[tuple[str, str, int, float]]:
        """Gold, system, words, and percent of gold's words; the most frequent first.

        Of labels, only those that differ.
        """
        totals: Counter[str] = Counter()
        for (gold, _), count in self.counts.items():
            totals[gold] += count
        found = [
            (gold, system, count, percent(count, totals[gold]) or 0.0)
            for (gold, system), count in self.counts.items()
            if gold != system or self.what == "head"
        ]
        return found[:most]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON: words by gold, then by system."""
        answer: dict[str, Any] = {}
        for (gold, system), count in self.counts.items():
            answer.setdefault(gold, {})[system] = count
        return answer

    @property
    def headings(self) -> tuple[str, str, str, str]:
        """The names of the columns of `rows`."""
        kind = "label" if self.what == "label" else "head's tag"
        return (f"gold {kind}", f"system {kind}", "words", "% of gold")

    def __str__(self) -> str:
        rows = self.rows(20)
        wide = max([len(name) for row in rows for name in row[:2]], default=0)
        wide = max(wide, *(len(name) for name in self.headings[:2])) + 2
        lines = ["".join(f"{name:{wide}}" for name in self.headings[:2]) + "  words  % of gold"]
        lines += [f"{a:{wide}}{b:{wide}}{n:7,}{share:11.2f}" for a, b, n, share in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from arbora.drawing.page import html_table

        rows = [(a, b, f"{n:,}", f"{share:.2f}") for a, b, n, share in self.rows(20)]
        return html_table(self.headings, rows)


@dataclass(frozen=True)
class SentenceErrors:
    """The errors of a sentence: words with a wrong head, and with a wrong head or label.

    `number` counts from 1; `name` is its `sent_id`, or empty. In a parse of raw text, words that
    the system does not have are wrong, too.
    """

    number: int
    name: str
    words: int
    wrong_heads: int
    wrong: int
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        return dict(vars(self))


def shortened(text: str, most: int) -> str:
    """The text, cut at a space if it is longer, with an ellipsis."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[most // 2 :] else cut).rstrip() + "…"
