"""The interface of a file format: a reader and a writer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np

from arbora.data.block import Block

__all__ = ["Format", "Piece", "Place", "Reader", "Sign", "Writer"]


class Sign(IntEnum):
    """The evidence for a format in the beginning of a file; the highest sign decides."""

    no = 0
    possible = 1  # no evidence against it
    certain = 2


@dataclass(frozen=True)
class Place:
    """The position of a piece of text in its file, and options for reading it."""

    first_line: int = 1
    first_sentence: int = 0  # number of valid sentences before it
    is_last: bool = True  # False: more text follows, so the last sentence may continue
    trees: bool = False  # cycles and missing roots are faults
    skip_bad: bool = False  # False: nothing after the first fault is needed
    max_words: int | None = None  # longer sentences are faults


@dataclass(frozen=True)
class Piece:
    """The sentences of a piece of text, and how much of it was read.

    `size` is in bytes: the rest is read again together with the text that follows. `next_line` is
    the number of the first line that was not read. `faults` are pairs of line and reason,
    `remarks` the same for unusual lines that were read. `lines` are the lines that the sentences
    begin on, if the block does not know them. `lost` counts what each sentence had in the file and
    does not have in the block; it is empty if nothing is lost.
    """

    block: Block
    size: int
    next_line: int
    faults: Sequence[tuple[int, str]] = ()
    remarks: Sequence[tuple[int, str]] = ()
    lines: Sequence[int] = ()
    lost: Sequence[Mapping[str, int]] = ()

    @classmethod
    def of_block(cls, block: Block) -> Piece:
        """The piece of a block that was read from text."""
        return cls(block, block.size, block.next_line, block.faults, block.remarks)

    @classmethod
    def from_columns(
        cls,
        place: Place,
        lines: Sequence[int],
        *,
        size: int,
        next_line: int,
        faults: Sequence[tuple[int, str]] = (),
        remarks: Sequence[tuple[int, str]] = (),
        lost: Sequence[Mapping[str, int]] = (),
        **columns: Any,
    ) -> Piece:
        """Sentences given as columns (`Block.from_columns`), each with the line it begins on.

        Long sentences and heads that are not trees become faults, depending on `place`.
        Without `skip_bad` the sentences after the first fault are left out.
        """
        made = Block.from_columns(**columns)
        found = list(faults)
        checked = Block(
            made.texts(0, len(made)), made.layout, trees=place.trees, max_words=place.max_words,
            skip_bad=True,
        )  # fmt: skip
        starts = np.array([made.line(i) for i in range(len(made))], dtype=np.int64)
        bad = [int(np.searchsorted(starts, line, "right")) - 1 for line, _ in checked.faults]
        found += [(lines[i], reason) for i, (_, reason) in zip(bad, checked.faults, strict=True)]
        found.sort(key=lambda fault: fault[0])
        first = None if place.skip_bad else min((line for line, _ in found), default=None)
        kept = [i for i in range(len(made)) if i not in bad and (first is None or lines[i] < first)]
        text = b"".join(made.text(i) for i in kept)
        block = Block(text, made.layout, first_sentence=place.first_sentence)
        return cls(
            block, size, next_line, found if place.skip_bad else found[:1], remarks,
            [lines[i] for i in kept], [lost[i] for i in kept] if lost else (),
        )  # fmt: skip


class Reader(Protocol):
    """From text to sentences."""

    def recognises(self, beginning: bytes) -> Sign:
        """Whether a file with this beginning, whole lines, is in the format."""
        ...

    def read(self, text: bytes, place: Place) -> Piece:
        """The complete sentences of a text; one that may continue in further text is left out."""
        ...


class Writer(Protocol):
    """From sentences to text."""

    def write(self, block: Block) -> bytes:
        """The text of a block of CoNLL-U, or of one from the format's own reader."""
        ...


@dataclass(frozen=True)
class Format:
    """An entry of the table of formats.

    `blank_lines` is True if blank lines separate sentences: then one is inserted between texts that
    lack it. A format with `read_only` is never written: its writer, of another format, is for
    sentences that come from such files. `endings` are the ends of the names of files that are read
    from a folder.
    """

    title: str  # the usual name
    reader: Reader
    writer: Writer
    blank_lines: bool = True
    read_only: bool = False
    endings: tuple[str, ...] = ()
