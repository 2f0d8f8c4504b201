"""Conversion between formats, with a count of everything that the target cannot hold.

Losses are found by a round trip: a sentence that the reverse conversion restores byte for byte has
lost nothing; of others the columns are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from arbora.data.block import CONLLU_LAYOUT, Block
from arbora.data.blocks import CHUNK_SIZE, Chunk, OnError, read_blocks
from arbora.data.conllu import TextJoiner
from arbora.data.folders import files_of
from arbora.data.formats import FORMATS, ColumnFormat, Format, Place, format_named, layout_named
from arbora.data.formats.brackets import BracketReader
from arbora.data.formats.lines import ID, UPOS, Lines, Row, Words
from arbora.data.head_rules import HeadRules
from arbora.data.head_rules import head_rules as table_of_head_rules
from arbora.data.output import WritePath, open_output
from arbora.data.source import ReadPath, source_name
from arbora.data.tables import TableName
from arbora.data.universal_tags import TagMap, tag_map, tagged_block, warn_of_unmapped
from arbora.errors import ArgumentError, DataError
from arbora.options import spelled

__all__ = ["Conversion", "convert"]

_BRACKETS = "ptb"


@dataclass
class Conversion:
    """The counts of a conversion, and the information that it lost.

    `source` is the format of the files, or `a + b` if they have several. `lost` counts lost
    comments, multiword tokens, empty nodes, and columns by their names in the source, with the
    number of words that had a value there; of bracketed phrase structures, phrases, function tags
    and empty elements.
    """

    source: str = ""
    target: str = ""
    sentences: int = 0
    words: int = 0
    lost: dict[str, int] = field(default_factory=dict)

    def count(self, chunk: Chunk) -> None:
        """Adds the sentences of a chunk."""
        names = self.source.split(" + ") if self.source else []
        if chunk.format not in names:
            self.source = " + ".join([*names, chunk.format])
        self.sentences += len(chunk.block)
        self.words += chunk.block.total_words

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
    source: ReadPath | Sequence[ReadPath],
    target: WritePath,
    to: str,
    *,
    format: str | None = None,  # noqa: A002  # the public name
    skip_bad: bool = False,
    on_error: OnError | None = None,
    strict: bool = False,
    on_chunk: Callable[[Chunk], object] | None = None,
    head_rules: TableName | HeadRules | None = None,
    universal_tags: TagMap | None = None,
) -> Conversion:
    """Converts a file to the format `to` in bounded memory, and reports what was lost.

    Several files, in a list, are converted to one. A folder stands for the files in it and in
    folders below, in order of their names, with the endings of the format (`.mrg` and `.parse` of
    `"ptb"`). Options as in `read_conllu`. With `strict` the first sentence that would lose
    something raises `DataError`, and no file is written. `on_chunk` is called with each chunk. If
    the formats are the same, the file is copied byte for byte.

    `head_rules` are a name or a file, for formats of phrase structures (`arbora.data.head_rules`).
    `universal_tags` is a name or a file: UPOS (CPOSTAG) gets the universal tag of XPOS (POSTAG)
    (`arbora.data.with_universal_tags`). Tags that are replaced so are not counted as lost.
    """
    answer = Conversion(target=to)
    if format_named(to).read_only:
        written = ", ".join(name for name, entry in FORMATS.items() if not entry.read_only)
        raise ArgumentError(f"{FORMATS[to].title} are read, not written: choose one of {written}.")
    rules = None if head_rules is None else table_of_head_rules(head_rules)
    tags = None if universal_tags is None else tag_map(universal_tags)
    if tags is not None and layout_named(to).places[UPOS] < 0:
        raise ArgumentError(
            f"{FORMATS[to].title} has no column for universal tags: convert to conllu or conllx."
        )
    lost: Counter[str] = Counter()
    unmapped: Counter[str] = Counter()
    join = TextJoiner()
    with open_output(target) as write:
        for path, chunk in _chunks(files_of(source, format), format, skip_bad, on_error, rules):
            answer.count(chunk)
            for text, found, line in _converted(chunk, to):
                if found and strict:
                    raise DataError(_refusal(found, to), source_name(path), line)
                lost += found
                if tags is not None:
                    text = _tagged(text, to, tags, unmapped)
                write(join(text, to))
            if on_chunk is not None:
                on_chunk(chunk)
    answer.lost = dict(sorted(lost.items(), key=lambda item: (-item[1], item[0])))
    warn_of_unmapped(unmapped)
    return answer


def _chunks(
    files: Sequence[ReadPath],
    format: str | None,  # noqa: A002  # as above
    skip_bad: bool,
    on_error: OnError | None,
    rules: HeadRules | None,
) -> Iterator[tuple[ReadPath, Chunk]]:
    """The chunks of all files, with the bytes that were read of all of them."""
    readers = None if rules is None else {_BRACKETS: BracketReader(rules)}
    before = 0
    for path in files:
        read = 0
        for chunk in read_blocks(
            path, format, skip_bad, on_error, chunk_size=CHUNK_SIZE, readers=readers
        ):
            if rules is not None and chunk.format != _BRACKETS:
                raise ArgumentError(
                    f"{source_name(path)} is {FORMATS[chunk.format].title}, which has heads: leave "
                    f"out {spelled('head_rules')}."
                )
            read = chunk.bytes_read
            yield path, replace(chunk, bytes_read=before + read)
        before += read


def _tagged(text: bytes, to: str, tags: Mapping[str, str], unmapped: Counter[str]) -> bytes:
    """Text in the target's format with universal tags."""
    block = Block(text, layout_named(to))
    return tagged_block(block, tags, unmapped).texts(0, len(block))


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
        lost: Counter[str] = Counter(chunk.lost[i] if chunk.lost else {})
        if not _is_universal(there):
            lost["comments"] = lines.foreign_comments()
        if lost["comments"] or lines.to_text(back, comments=True) != text:
            lost = _losses(lines.words, back, _column_names(here), +lost, here.read_only)
        yield made, +lost, chunk.lines[i] if chunk.lines else block.line(i)


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


def _losses(
    old: Words, new: Words, names: list[str], lost: Counter[str], read_only: bool
) -> Counter[str]:
    """Adds what a sentence has lost after the round trip to the known losses.

    If only columns that were empty have changed, they count: the file would not come back as it
    was. Files that are read only do not come back at all.
    """
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
    if lost or read_only:
        return lost
    return changed or Counter({"spaces and line ends": 1})


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
