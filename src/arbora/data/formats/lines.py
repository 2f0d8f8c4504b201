"""Sentences as lists of fields, for conversions between formats.

CoNLL-U can hold everything of the other formats: columns that it lacks go into MISC. So every
format converts its rows to CoNLL-U and back, and a conversion is two such steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = [
    "DEPREL", "DEPS", "FEATS", "FORM", "HEAD", "ID", "LEMMA", "MISC", "UPOS", "XPOS", "Items",
    "Lines", "Row", "Words", "tags_of",
]  # fmt: skip

Row = list[str]

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)


@dataclass
class Words:
    """The token lines of a sentence: a row of each word, and the rows of other tokens.

    `others[i]` are the multiword tokens and empty nodes that stand before word i (from 0), and
    `others[n]` those after the last word; only CoNLL-U has any.
    """

    rows: list[Row]
    others: list[list[Row]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.others:
            self.others = [[] for _ in range(len(self.rows) + 1)]


@dataclass
class Lines:
    """A sentence of a file, line by line: words, and the lines between them.

    `before[i]` are the other lines before word i, with their ends; `ends[i]` is what follows the
    last field of word i: spaces, a carriage return, a line feed.
    """

    words: Words
    before: list[list[str]]
    ends: list[str]

    @classmethod
    def of(cls, text: str) -> Lines:
        """Splits the text of a sentence."""
        rows: list[Row] = []
        others: list[list[Row]] = [[]]
        before: list[list[str]] = [[]]
        ends: list[str] = []
        for whole_line in text.split("\n"):
            line = whole_line
            if line.startswith("\ufeff") and line[1:2].isdecimal():
                before[-1].append("\ufeff")
                line = line[1:]
            if not line[:1].isdecimal():  # a comment or a blank line: tokens begin with their id
                before[-1].append(line + "\n")
                continue
            bare = line.rstrip(" \r")
            row = bare.split("\t")
            if row[ID].isdecimal():
                rows.append(row)
                ends.append(line[len(bare) :] + "\n")
                others.append([])
                before.append([])
            else:
                others[-1].append(row)
        if before[-1]:  # the text has one line feed less than pieces
            before[-1][-1] = before[-1][-1].removesuffix("\n")
        else:
            ends[-1] = ends[-1].removesuffix("\n")
        return cls(Words(rows, others), before, ends)

    def to_text(self, words: Words, comments: bool) -> str:
        """The text with other words in the same places; without `comments` only Arbora's stay."""
        pieces: list[str] = []
        rows, ends = words.rows, self.ends
        for i, other_rows in enumerate(words.others):
            before = self.before[i]
            if before:
                pieces += before if comments else _without_comments(before, i == 0)
            if other_rows:
                end = next((one for one in ends[i:] + ends[::-1] if "\n" in one), "\n")
                pieces += ["\t".join(row) + end for row in other_rows]
            if i < len(rows):
                pieces.append("\t".join(rows[i]) + ends[i])
        if words.others[-1] and not self.before[-1] and "\n" not in ends[-1]:
            # the last word has no line end, but is not the last line any more
            pieces.insert(len(pieces) - len(words.others[-1]), end)
            pieces[-1] = pieces[-1].removesuffix(end)
        return "".join(pieces)

    def foreign_comments(self) -> int:
        """How many comments are not Arbora's own."""
        return sum(_is_foreign(line) for lines in self.before for line in lines)


def _is_foreign(line: str) -> bool:
    bare = line.removeprefix("\ufeff")
    return bare.startswith("#") and not bare.startswith("# arbora.")


def _without_comments(lines: list[str], first: bool) -> list[str]:
    """Other lines without comments.

    Before the first word, blank lines after a dropped comment are dropped, too.
    """
    kept: list[str] = []
    dropped = False
    for line in lines:
        if _is_foreign(line):
            dropped = True
            if line.startswith("\ufeff"):
                kept.append("\ufeff")
        elif not (dropped and first and not line.strip()):
            kept.append(line)
    return kept


class Items:
    """The items of a MISC column: keys with values, and other text.

    In values `\\p` is `|` and `\\\\` is a backslash, so that a value can be any field of a file.
    """

    def __init__(self, misc: str = "_") -> None:
        self._parts = [] if misc == "_" else misc.split("|")

    def take(self, key: str) -> str | None:
        """Removes an item and returns its value; None if there is none, or it is empty."""
        if not self._parts:
            return None
        start = f"{key}="
        for i, part in enumerate(self._parts):
            if part.startswith(start) and len(part) > len(start):
                del self._parts[i]
                return _unescaped(part[len(start) :])
        return None

    def keys(self) -> Iterator[str]:
        """The keys of the items that are left."""
        return (part.partition("=")[0] for part in self._parts if "=" in part)

    def put(self, key: str, value: str) -> None:
        """Adds an item."""
        self._parts.append(f"{key}={_escaped(value)}")

    def __str__(self) -> str:
        return "|".join(self._parts) or "_"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("|", "\\p")


def _unescaped(value: str) -> str:
    if "\\" not in value:
        return value
    return "\\".join(part.replace("\\p", "|") for part in value.split("\\\\"))


def tags_of(words: Words) -> list[str]:
    """The one tag of each word for formats that have one: XPOS, or UPOS where XPOS is empty."""
    column = XPOS if any(row[XPOS] != "_" for row in words.rows) else UPOS
    return [row[column] for row in words.rows]
