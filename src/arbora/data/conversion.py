"""Conversion between formats, with a count of everything that the target cannot hold.

Losses are found by a round trip: a sentence that the reverse conversion restores byte for byte has
lost nothing; of others the columns are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from arbora.data.block import CONLLU_LAYOUT, Block
from arbora.data.blocks import CHUNK_SIZE, Chunk, OnError, read_blocks
from arbora.data.conllu import TextJoiner
from arbora.data.formats import FORMATS, ColumnFormat, Format, Place, format_named
from arbora.data.formats.lines import ID, Lines, Row, Words
from arbora.data.output import WritePath, open_output
from arbora.data.source import ReadPath, source_name
from arbora.errors import DataError
from arbora.options import spelled

__all__ = ["Conversion", "convert"]


@dataclass
class Conversion:
    """The counts of a conversion, and the information that it lost.

    `lost` counts lost comments, multiword tokens, empty nodes, and columns by their names in the
    source, with the number of words that had a value there.
    """

    source: str = ""
    target: str = ""
    sentences: int = 0
    words: int = 0
    lost: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {
            "from": self.source,
            "to": self.target,
            "sentences": self.sentences,
            "words": self.words,
            "lost": dict(self.lost),
        }


def convert(
    source: ReadPath,
    target: WritePath,
    to: str,
    *,
    format: str | None = None,  # noqa: A002  # the public name
    skip_bad: bool = False,
    on_error: OnError | None = None,
    strict: bool = False,
    on_chunk: Callable[[Chunk], object] | None = None,
) -> Conversion:
    """Converts a file to the format `to` in bounded memory, and reports what was lost.

    Options as in `read_conllu`. With `strict` the first sentence that would lose something raises
    `DataError`, and no file is written. `on_chunk` is called with each chunk. If the formats are
    the same, the file is copied byte for byte.
    """
    answer = Conversion(target=to)
    format_named(to)
    lost: Counter[str] = Counter()
    join = TextJoiner()
    with open_output(target) as write:
        for chunk in read_blocks(source, format, skip_bad, on_error, chunk_size=CHUNK_SIZE):
            answer.source = chunk.format
            answer.sentences += len(chunk.block)
            answer.words += chunk.block.total_words
            for text, found, line in _converted(chunk, to):
                if found and strict:
                    raise DataError(_refusal(found, to), source_name(source), line)
                lost += found
                write(join(text, to))
            if on_chunk is not None:
                on_chunk(chunk)
    answer.lost = dict(sorted(lost.items(), key=lambda item: (-item[1], item[0])))
    return answer


def _refusal(found: Counter[str], to: str) -> str:
    what = ", ".join(sorted(found))
    return (
        f"{FORMATS[to].title} cannot hold all of the sentence ({what}); choose another format, or "
        f"leave out {spelled('strict')}"
    )


def _converted(chunk: Chunk, to: str) -> Iterator[tuple[bytes, Counter[str], int]]:
    """The texts of a chunk's sentences in the target's format, what each lost, and its line."""
    block = chunk.block
    if chunk.format == to:
        yield block.texts(0, len(block)), Counter(), 0
        return
    here, there = FORMATS[chunk.format], FORMATS[to]
    for i in range(len(block)):
        text = block.text(i).decode("utf-8")
        lines = Lines.of(text)
        made, back = _there_and_back(lines, here, there)
        lost: Counter[str] = Counter()
        if not _is_universal(there):
            lost["comments"] = lines.foreign_comments()
        if lost["comments"] or lines.to_text(back, comments=True) != text:
            lost = _losses(lines.words, back, _column_names(here), +lost)
        yield made, +lost, block.line(i)


def _there_and_back(lines: Lines, here: Format, there: Format) -> tuple[bytes, Words]:
    """A sentence in the target's format, and its words after the round trip."""
    words = lines.words
    if isinstance(here.reader, ColumnFormat):
        words = here.reader.to_conllu(words)
    if isinstance(there.writer, ColumnFormat):
        new = there.writer.from_conllu(words)
        made = lines.to_text(new, comments=_is_universal(there)).encode("utf-8")
        words = there.writer.to_conllu(new)
    else:
        hub = lines.to_text(words, comments=True).encode("utf-8")
        made = there.writer.write(Block(hub, CONLLU_LAYOUT))
        read = there.reader.read(made, Place()).block
        words = Lines.of(read.texts(0, len(read)).decode("utf-8")).words
    if isinstance(here.writer, ColumnFormat):
        words = here.writer.from_conllu(words)
    return made, words


def _is_universal(entry: Format) -> bool:
    """Whether it is CoNLL-U, which keeps comments."""
    return isinstance(entry.writer, ColumnFormat) and entry.writer.layout.universal


def _losses(old: Words, new: Words, names: list[str], lost: Counter[str]) -> Counter[str]:
    """Adds what a sentence has lost after the round trip to the known losses."""
    restored = {tuple(row) for rows in new.others for row in rows}
    for row in (row for rows in old.others for row in rows):
        if tuple(row) not in restored:
            lost["multiword tokens" if "-" in row[ID] else "empty nodes"] += 1
    if len(old.rows) != len(new.rows):
        lost["words"] += len(old.rows)
        return lost
    changed: Counter[str] = Counter()  # columns that were empty
    for before, after in zip(old.rows, new.rows, strict=True):
        if before != after:
            for name, value in _differences(before, after, names):
                (changed if value == "_" else lost)[name] += 1
    return lost or changed or Counter({"spaces and line ends": 1})


def _differences(before: Row, after: Row, names: list[str]) -> Iterator[tuple[str, str]]:
    """Names and old values of the columns that two rows do not share."""
    width = max(len(before), len(after))
    padded = [*after, *["_"] * (width - len(after))]
    for place, value in enumerate([*before, *["_"] * (width - len(before))]):
        if padded[place] != value:
            yield names[min(place, len(names) - 1)], value


def _column_names(entry: Format) -> list[str]:
    """The names of a format's columns; the last stands for all further ones."""
    layout = entry.reader.layout if isinstance(entry.reader, ColumnFormat) else CONLLU_LAYOUT
    return [*layout.columns, layout.further] if layout.further else list(layout.columns)
