"""Text that is already cut into sentences and words: one sentence or one word per line.

`horizontal` has a sentence per line, with spaces or tabs between words. `vertical` has a word per
line, and a blank line after each sentence; of a line with tabs only the first field is read. Both
are read if they are asked for, never recognised: almost any text looks like one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from arbora.data.formats.protocols import Piece, Place, Sign

__all__ = ["HorizontalReader", "VerticalReader"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class HorizontalReader:
    """Reads one sentence per line."""

    def recognises(self, beginning: bytes) -> Sign:  # noqa: ARG002  # of the interface
        """Never: it must be asked for."""
        return Sign.no

    def read(self, text: bytes, place: Place) -> Piece:
        """The sentences of complete lines."""
        end = len(text) if place.is_last else text.rfind(b"\n") + 1
        found = _Found(place)
        for number, line in _lines(text[:end], place):
            if (words := found.decoded(number, line)) is not None:
                found.add(number, words.replace("\t", " ").split(" "))
        return found.piece(end, place.first_line + text.count(b"\n", 0, end))


class VerticalReader:
    """Reads one word per line."""

    def recognises(self, beginning: bytes) -> Sign:  # noqa: ARG002  # of the interface
        """Never: it must be asked for."""
        return Sign.no

    def read(self, text: bytes, place: Place) -> Piece:
        """The sentences that a blank line ends, or the end of the file."""
        end = len(text) if place.is_last else _after_last_blank_line(text)
        found = _Found(place)
        first, words, is_good = place.first_line, list[str](), True
        for number, line in [*_lines(text[:end], place), (0, b"")]:
            word = found.decoded(number, line)
            if word is None:
                is_good = False
            elif word.strip(" \t"):
                first = first if words else number
                words.append(word.partition("\t")[0])
            else:
                if is_good:
                    found.add(first, words)
                words, is_good = [], True
        return found.piece(end, place.first_line + text.count(b"\n", 0, end))


def _after_last_blank_line(text: bytes) -> int:
    """Where the text goes on after the last blank line that is complete; 0 if there is none."""
    end = text.rfind(b"\n") + 1
    while end > 0:
        start = text.rfind(b"\n", 0, end - 1) + 1
        if not text[start:end].strip():
            return end
        end = start
    return 0


def _lines(text: bytes, place: Place) -> list[tuple[int, bytes]]:
    """Lines with their numbers, without line feeds; the last is left out if it is empty."""
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if place.first_line == 1 and lines:
        lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
    return list(enumerate(lines, start=place.first_line))


@dataclass
class _Found:
    """The sentences of a piece of text, and its faults."""

    place: Place
    lines: list[int] = field(default_factory=list)
    forms: list[list[str]] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def decoded(self, number: int, line: bytes) -> str | None:
        """The text of a line; None, and a fault, if it is none."""
        try:
            text = line.decode("utf-8").strip("\r")
        except UnicodeDecodeError:
            self.faults.append((number, "the line is not UTF-8; convert the file"))
            return None
        if "\0" in text or "\r" in text:
            self.faults.append(
                (number, "the line has a character that no word can have; remove it")
            )
            return None
        return text

    def add(self, line: int, words: list[str]) -> None:
        """Adds a sentence, if it has words."""
        kept = [bare for word in words if (bare := word.strip(" "))]
        if kept:
            self.lines.append(line)
            self.forms.append(kept)

    def piece(self, size: int, next_line: int) -> Piece:
        """What was found."""
        return Piece.from_columns(
            self.place, self.lines, size=size, next_line=next_line, faults=self.faults,
            forms=self.forms,
        )  # fmt: skip
