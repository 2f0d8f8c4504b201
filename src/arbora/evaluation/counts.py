"""Counts behind the scores. A percentage with an empty denominator is None, never NaN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = [
    "Attachment",
    "Match",
    "NonProjective",
    "TreeFaults",
    "number",
    "percent",
    "row",
    "unannotated_text",
]


def percent(part: float, whole: float) -> float | None:
    """A percentage; None if `whole` is 0."""
    return 100 * float(part) / float(whole) if whole else None


def number(value: float | None, width: int = 7) -> str:
    """A percentage with two decimals, or a dash."""
    return f"{'-' if value is None else f'{value:.2f}':>{width}}"


@dataclass(frozen=True)
class Match:
    """Arcs of a kind: the number in gold, in the system output, and in both."""

    gold: int
    system: int
    correct: int

    @property
    def precision(self) -> float | None:
        """Percentage of the system's arcs that are correct; None if it has none."""
        return percent(self.correct, self.system)

    @property
    def recall(self) -> float | None:
        """Percentage of the gold arcs that were found; None if there are none."""
        return percent(self.correct, self.gold)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, in percent."""
        return percent(2 * self.correct, self.gold + self.system)

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, for JSON."""
        return {
            "gold": self.gold,
            "system": self.system,
            "correct": self.correct,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


@dataclass(frozen=True)
class NonProjective:
    """Non-projective arcs of gold and of the system, and how many of each the other tree shares.

    The two shared counts differ where an arc is non-projective in one tree only.
    """

    gold: int
    system: int
    found: int
    right: int

    @property
    def precision(self) -> float | None:
        """Percentage of the system's arcs that are correct; None if it has none."""
        return percent(self.right, self.system)

    @property
    def recall(self) -> float | None:
        """Percentage of the gold arcs that were found; None if there are none."""
        return percent(self.found, self.gold)

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, for JSON."""
        return {
            "gold": self.gold,
            "system": self.system,
            "found": self.found,
            "right": self.right,
            "precision": self.precision,
            "recall": self.recall,
        }


@dataclass(frozen=True)
class Attachment:
    """Words of a kind, and the percentage of them with the right head (and label)."""

    sentences: int
    tokens: int
    uas: float | None
    las: float | None

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, for JSON."""
        return {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "uas": self.uas,
            "las": self.las,
        }


@dataclass(frozen=True)
class TreeFaults:
    """Number of system sentences with a cycle, with several roots, and with missing heads.

    Official scorers refuse such files. Arbora scores them word by word and reports the counts.
    """

    cycles: int
    several_roots: int
    missing_heads: int

    def in_words(self, name: str, single_root: bool) -> str | None:
        """The faults as a sentence, or None; several roots are a fault if `single_root`."""
        counts = {
            "with a cycle": self.cycles,
            "with several roots": self.several_roots if single_root else 0,
            "with missing heads": self.missing_heads,
        }
        found = [f"{count:,} {kind}" for kind, count in counts.items() if count]
        if not found:
            return None
        scorer = "the CoNLL-2018 scorer refuses" if single_root else "other scorers may refuse"
        return (
            f"{name} has sentences that are not valid trees ({', '.join(found)}), which {scorer}: "
            "Arbora scores each word."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        return {
            "cycles": self.cycles,
            "several_roots": self.several_roots,
            "missing_heads": self.missing_heads,
        }


def unannotated_text(count: int) -> str:
    """The number of excluded words, to end a line with."""
    if not count:
        return ""
    words = (
        "1 word without a head in gold is"
        if count == 1
        else (f"{count:,} words without a head in gold are")
    )
    return f"; {words} excluded"


def row(name: str, *cells: str, width: int = 18) -> str:
    """A line of a plain table."""
    return f"  {name:<{width}}" + " ".join(cells)
