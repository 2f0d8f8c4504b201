"""Formats with one line per word and tabs between columns: read and written by the core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arbora.data.block import Block, Layout
from arbora.data.formats.lines import Lines, Words
from arbora.data.formats.protocols import Piece, Place, Sign

__all__ = ["ColumnFormat", "columns_of", "word_rows"]

_LINES_LOOKED_AT = 2000  # enough for a few hundred sentences


@dataclass(frozen=True)
class ColumnFormat:
    """Reader and writer of a format that a `Layout` describes.

    The block holds the bytes of the file, so everything unchanged is written byte for byte. `sign`
    determines from the beginning of a file whether it is in the format. `to_conllu` converts the
    rows of a sentence to CoNLL-U, with further columns in MISC, and `from_conllu` converts rows of
    CoNLL-U to the format.
    """

    layout: Layout
    sign: Callable[[bytes], Sign]
    to_conllu: Callable[[Words], Words]
    from_conllu: Callable[[Words], Words]

    def recognises(self, beginning: bytes) -> Sign:
        """Whether a file with this beginning is in the format."""
        return self.sign(beginning)

    def read(self, text: bytes, place: Place) -> Piece:
        """Indexes the sentences of a text."""
        block = Block(
            text, self.layout, place.first_line, place.is_last, place.trees, place.skip_bad,
            place.first_sentence, place.max_words,
        )  # fmt: skip
        return Piece.of_block(block)

    def write(self, block: Block) -> bytes:
        """The bytes of a block of this format; one of CoNLL-U is converted."""
        if block.format == self.layout.name:
            return block.texts(0, len(block))
        pieces = []
        for i in range(len(block)):
            lines = Lines.of(block.text(i).decode("utf-8"))
            # other formats than CoNLL-U hold no comments except Arbora's own
            pieces.append(lines.to_text(self.from_conllu(lines.words), self.layout.universal))
        return "".join(pieces).encode("utf-8")


def columns_of(beginning: bytes) -> int:
    """How many columns the first word of a file has; 10 if there is no word."""
    start = 3 if beginning.startswith(b"\xef\xbb\xbf") else 0
    while start < len(beginning):
        end = beginning.find(b"\n", start)
        line = beginning[start : len(beginning) if end < 0 else end].rstrip(b" \r")
        if line.strip(b"\t") and not line.startswith(b"#"):
            return line.count(b"\t") + 1
        start = len(beginning) if end < 0 else end + 1
    return 10


def word_rows(beginning: bytes) -> list[list[list[bytes]]]:
    """The fields of the words at the beginning of a file, by sentences."""
    sentences: list[list[list[bytes]]] = [[]]
    for line in beginning.removeprefix(b"\xef\xbb\xbf").split(b"\n", _LINES_LOOKED_AT):
        bare = line.rstrip(b" \r")
        if b"\n" in bare:  # the rest, which is not read
            break
        if not bare.strip(b"\t"):
            sentences.append([])
        elif not bare.startswith(b"#"):
            sentences[-1].append(bare.split(b"\t"))
    return [rows for rows in sentences if rows]
