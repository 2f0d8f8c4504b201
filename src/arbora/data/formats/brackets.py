"""Bracketed phrase structures, as in the Penn Treebank, read as dependency trees.

Files of the Penn Treebank (`.mrg`) and of OntoNotes (`.parse`). Words and tags come from the
brackets around words; heads come from the head rules. Empty elements (`-NONE-`) are left out with
the brackets that they leave empty, and so are function tags and indices (NP of NP-SBJ-1). The
outermost bracket may be without a label. Lines that begin with `*x*` between trees are comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from arbora.data.formats.bracket_tree import BadTree, DependencyTree, read_tree
from arbora.data.formats.protocols import Piece, Place, Sign
from arbora.data.head_rules import HeadRules, head_rules

__all__ = ["BracketReader"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BETWEEN = re.compile(rb"(?:\s+|^\*x\*[^\n]*(?:\n|\Z))*", re.MULTILINE)
_OPENING = re.compile(rb"\(\s*(\(|[^\s()]*)")
_BRACKET = re.compile(rb"[()]")
_FIRST_IN_LINE = re.compile(rb"^\(", re.MULTILINE)


@dataclass
class BracketReader:
    """Reads bracketed trees; `rules` (default: those of Yamada & Matsumoto) find the heads."""

    rules: HeadRules | None = None

    def recognises(self, beginning: bytes) -> Sign:
        """Whether the first thing in the file, after comments, is a bracket."""
        start = _after_comments(beginning, _start(beginning), len(beginning))
        return Sign.certain if beginning[start : start + 1] == b"(" else Sign.no

    def read(self, text: bytes, place: Place) -> Piece:
        """Reads the trees that are complete."""
        if self.rules is None:
            self.rules = head_rules()
        return _Reading(text, place, self.rules).piece()


@dataclass
class _Reading:
    """The state of reading one piece of text."""

    text: bytes
    place: Place
    rules: HeadRules
    trees: list[DependencyTree] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # where the trees begin
    faults: list[tuple[int, str]] = field(default_factory=list)
    remarks: list[tuple[int, str]] = field(default_factory=list)
    _counted: int = 0  # the offset up to which line ends have been counted
    _line: int = 0

    def piece(self) -> Piece:
        """Reads tree after tree."""
        text, place = self.text, self.place
        self._line = place.first_line
        # a line that may continue is left for later: it may be a comment, or end inside a word
        end = len(text) if place.is_last else text.rfind(b"\n") + 1
        at = _start(text) if place.first_line == 1 else 0
        while (at := _after_comments(text, at, end)) < end:
            following = self._read_at(at, end)
            if following is None or (self.faults and not place.skip_bad):
                end = at
                break
            at = following
        return Piece.from_columns(
            place, self.lines, size=end, next_line=self._line_of(end), faults=self.faults,
            remarks=self.remarks[:1], lost=[tree.lost for tree in self.trees],
            forms=[tree.forms for tree in self.trees], xpos=[tree.tags for tree in self.trees],
            heads=[tree.heads for tree in self.trees],
        )  # fmt: skip

    def _read_at(self, start: int, end: int) -> int | None:
        """Reads what begins at an offset and returns the next one; None if more text is needed."""
        text, line = self.text, self._line_of(start)
        if text[start : start + 1] != b"(":
            what = "a bracket is closed that is not open; remove it"
            if text[start : start + 1] != b")":
                what = "there is text outside of brackets; remove it, or begin the line with *x*"
            self.faults.append((line, what))
            next_line = text.find(b"\n", start, end)
            return end if next_line < 0 else next_line
        try:
            tree = read_tree(text, start, end, self.rules)
        except BadTree as error:
            return self._skip(start, end, error)
        if tree is not None:
            self._keep(tree, line)
            return tree.end
        if not self.place.is_last:
            return None
        return self._skip(start, end, BadTree(start, "a bracket is not closed; write )"))

    def _keep(self, tree: DependencyTree, line: int) -> None:
        if tree.unknown:
            self.remarks.append(
                (line, f"the head rules have no row for {tree.unknown}, so the head of such a "
                 "phrase is its leftmost part that is no punctuation")
            )  # fmt: skip
        if not tree.forms:
            self.remarks.append((line, "the tree has only empty elements and is left out"))
            return
        self.trees.append(tree)
        self.lines.append(line)

    def _skip(self, start: int, end: int, error: BadTree) -> int | None:
        """The offset after a malformed tree; None if the text ends before it.

        The next tree begins where the brackets are closed. If they are not, or not all of them, it
        begins on a line that begins like this one, or with a bracket that has no label.
        """
        openings = {_opening(self.text, start), b"("}
        similar = (
            found.start()
            for found in _FIRST_IN_LINE.finditer(self.text, start + 1, end)
            if _opening(self.text, found.start()) in openings
        )
        next_tree = next(similar, None)
        closed = _closing(self.text, start, end if next_tree is None else next_tree)
        following = next_tree if closed is None else closed
        if following is None and not self.place.is_last:
            return None
        self.faults.append((self._line_of(error.offset, count=False), error.reason))
        return end if following is None else following

    def _line_of(self, offset: int, count: bool = True) -> int:
        """The number of the line at an offset, at or after the last one that was asked for."""
        line = self._line + self.text.count(b"\n", self._counted, offset)
        if count:
            self._line, self._counted = line, offset
        return line


def _start(text: bytes) -> int:
    """The offset after a byte order mark."""
    return len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0


def _after_comments(text: bytes, start: int, end: int) -> int:
    """The next offset with anything but white space and comments."""
    found = _BETWEEN.match(text, start, end)
    return found.end() if found else start


def _opening(text: bytes, start: int) -> bytes:
    """How a tree begins: its first label, or a bracket if it has none."""
    found = _OPENING.match(text, start)
    return found[1] if found else b""


def _closing(text: bytes, start: int, end: int) -> int | None:
    """The offset after the bracket that closes the one at `start`."""
    depth = 0
    for found in _BRACKET.finditer(text, start, end):
        depth += 1 if found[0] == b"(" else -1
        if depth == 0:
            return found.end()
    return None
