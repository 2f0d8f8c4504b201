"""Word vectors in the text formats of GloVe, word2vec and fastText."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.data.source import ReadPath, Source, open_source
from arbora.errors import ArgumentError, DataError

__all__ = ["WordVectors", "read_vectors"]

_PIECE = 1 << 20  # bytes that are read at once
_LONGEST = 1 << 20  # bytes of a line; vectors of 10,000 numbers have less
_ROWS = 8192  # vectors that are kept in one array while reading
_BLANKS = b" \t\r"


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors, float32 (words, dimensions), in the order of the file."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]

    def __len__(self) -> int:
        """The number of words."""
        return len(self.words)


def read_vectors(path: ReadPath, words: int | None = None) -> WordVectors:
    """Reads lines of a word and its numbers, separated by spaces; `.gz` is decompressed.

    Files of word2vec and fastText begin with a line of two numbers, words and dimensions; files of
    GloVe do not. `words` stops after this many words: files usually have the most frequent first.
    Of a word that occurs twice, the first vector is kept.
    """
    if words is not None and (not isinstance(words, int) or words < 1):
        raise ArgumentError(f"words must be a positive whole number, not {words!r}.")
    with open_source(path) as source:
        return _Reader(source).read(words)


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source, self.line = source, 0
        self.width = 0  # numbers of a vector; 0 until the first line was read
        self.announced: int | None = None  # words, by the first line

    def read(self, most: int | None) -> WordVectors:
        places: dict[str, int] = {}
        done: list[NDArray[np.float32]] = []
        rows: list[list[float]] = []
        count, whole = 0, True
        for line in self.lines():
            if self.line == 1 and self.read_header(line):
                continue
            word, numbers = self.read_line(line)
            count += 1
            if word not in places:
                places[word] = len(places)
                rows.append(numbers)
            if len(rows) == _ROWS:
                done.append(np.array(rows, dtype=np.float32))
                rows = []
            if len(places) == most:
                whole = False
                break
        if not places:
            raise DataError("the file has no word vectors", self.source.name, 1)
        if whole and self.announced is not None and self.announced != count:
            raise DataError(
                f"the first line announces {self.announced:,} words, but the file has {count:,}: "
                "get it again",
                self.source.name, 1,
            )  # fmt: skip
        if rows:
            done.append(np.array(rows, dtype=np.float32))
        return WordVectors(tuple(places), np.concatenate(done))

    def lines(self) -> Iterator[bytes]:
        """The lines that are not blank; `self.line` is the number of the current one."""
        rest = b""
        while piece := self.source.read(_PIECE):
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                self.line += 1
                if line.strip(_BLANKS):
                    yield line
            if len(rest) > _LONGEST:
                self.line += 1
                raise self.wrong("the line is too long for a word and its vector")
        if rest.strip(_BLANKS):
            self.line += 1
            yield rest

    def read_header(self, line: bytes) -> bool:
        """Whether the line is the two numbers that word2vec and fastText begin with."""
        fields = line.lstrip(b"\xef\xbb\xbf").split()
        if len(fields) != 2 or not all(field.isdigit() for field in fields):
            return False
        self.announced, self.width = int(fields[0]), int(fields[1])
        if not self.width:
            raise self.wrong("vectors have at least one dimension")
        return True

    def read_line(self, line: bytes) -> tuple[str, list[float]]:
        line = line.rstrip(_BLANKS)
        if not self.width:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self.width = len(line.split(b" ")) - 1
        # A word may contain spaces, so the numbers are counted from the end.
        word, *fields = line.rsplit(b" ", self.width) if self.width else [line]
        if len(fields) != self.width or not word or not fields or b"\t" in word:
            wanted = f"a word and {self.width} numbers" if self.width else "a word and its numbers"
            raise self.wrong(f"a line must be {wanted}, separated by spaces")
        try:
            numbers = list(map(float, fields))
            if not all(abs(number) < 1e30 for number in numbers):  # also false for NaN
                raise ValueError
        except ValueError:
            raise self.wrong(f"the last {self.width} fields must be finite numbers") from None
        try:
            return word.decode(), numbers
        except UnicodeDecodeError:
            raise self.wrong("the word is not UTF-8; convert the file to UTF-8") from None

    def wrong(self, what: str) -> DataError:
        return DataError(what, self.source.name, self.line)
