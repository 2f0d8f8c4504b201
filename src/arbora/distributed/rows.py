"""Parsing of tables: texts, CoNLL-U or sentences in, sentences or CoNLL-U out.

A table has rows of one of three kinds:

- a text in a column of strings (format `text`),
- CoNLL-U in a column of strings or bytes, of any number of sentences (format `conllu`),
- a sentence with list columns, as `arbora.data.parquet` writes it (no column is named).

The answer does not depend on how rows are grouped into tables.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from arbora.data import Block
from arbora.data.arrow import pyarrow
from arbora.data.block import CONLLU_LAYOUT
from arbora.data.blocks import CHUNK_SIZE
from arbora.data.parquet import sentence_rows, sentence_schema, sentence_text
from arbora.errors import ArgumentError, DataError, TooLargeError
from arbora.models.decoding import Decoder
from arbora.options import ParseOptions
from arbora.parsers import Parser

__all__ = ["CONLLU", "NUMBER", "SENTENCES", "RowParser"]

TEXT, CONLLU, SENTENCES = "text", "conllu", "sentences"
NUMBER = "sentence"  # the column with the number of a sentence in its row
_WORDS = "form"  # the column that tables of sentences have
_SHOWN = 30  # characters of a row in messages


@dataclass(frozen=True)
class RowParser:
    """Parses tables of pyarrow; made for a kind of rows by `of`.

    `output` is `sentences`, a row per sentence, or `conllu`, a column that is added to each row.
    With `skip_bad`, malformed sentences and texts that cannot be parsed are left out.
    """

    parser: Parser
    column: str | None
    format: str
    output: str = SENTENCES
    skip_bad: bool = False
    options: ParseOptions = field(default_factory=ParseOptions)

    @classmethod
    def of(
        cls, parser: Parser, names: list[str] | None, column: str | None, format: str | None,  # noqa: A002
        output: str, skip_bad: bool, options: ParseOptions,
    ) -> RowParser:  # fmt: skip
        """For a table with columns of these names, which are checked later if they are unknown.

        Raises errors before anything is parsed.
        """
        if output not in (SENTENCES, CONLLU):
            raise ArgumentError(f"output must be {SENTENCES} or {CONLLU}, not {output!r}.")
        if format not in (None, TEXT, CONLLU):
            raise ArgumentError(f"format must be {TEXT} or {CONLLU}, not {format!r}.")
        for name in ("kbest", "samples", "tag_samples"):
            if getattr(options, name):
                raise ArgumentError(
                    f"{name} gives several trees, or depends on the number of a sentence in its "
                    "file: parse files with arbora parse --ray instead."
                )
        if names is not None:
            column = _found(names, column)
        if column is None and format is not None:
            raise ArgumentError("format requires column, whose rows have it.")
        kind = SENTENCES if column is None else format or TEXT
        made = cls(parser, column, kind, output, skip_bad, options)
        made._check_names(names or [])
        if kind == TEXT and getattr(parser, "segmenter", None) is None:
            raise ArgumentError(
                "this model has no segmenter, so it takes no text: give CoNLL-U, or another model."
            )
        assert made._decoder is not None
        return made

    def _check_names(self, names: list[str]) -> None:
        """Columns that are added must not be there already."""
        clash = [name for name in self.kept(names) if name in self.added]
        if clash:
            raise ArgumentError(
                f"the table has a column {clash[0]}, which parsing adds: give yours another name."
            )

    @property
    def added(self) -> list[str]:
        """The names of the columns that parsing adds or replaces."""
        if self.output == CONLLU:
            return [CONLLU]
        own = list(sentence_schema(pyarrow()).names)
        return own if self.format == SENTENCES else [NUMBER, *own]

    def kept(self, names: list[str]) -> list[str]:
        """The columns of the input that stay."""
        if self.output == CONLLU:
            return names
        if self.format == SENTENCES:
            return [name for name in names if name not in self.added]
        return [name for name in names if name != self.column]

    @cached_property
    def _decoder(self) -> Decoder:
        return self.parser.decoder(self.options)

    def __reduce__(self) -> tuple[Any, ...]:
        return RowParser, (
            self.parser, self.column, self.format, self.output, self.skip_bad, self.options,
        )  # fmt: skip

    def __call__(self, table: Any) -> Any:
        """The parsed table: the columns that stay, then those that are added."""
        arrow = pyarrow()
        _found(table.column_names, self.column)
        self._check_names(table.column_names)
        kept = table.select(self.kept(table.column_names))
        if self.output == CONLLU:
            return kept.append_column(CONLLU, arrow.array(self.texts(table), arrow.string()))
        schema = sentence_schema(arrow)
        rows: list[dict[str, Any]] = []
        numbers: list[int] = []
        origins: list[int] = []
        for origin, block in self._parsed(table):
            if block is None:
                if self.format == SENTENCES:  # a sentence without words stays
                    origins.append(origin)
                    rows.append(dict.fromkeys(schema.names))
                continue
            own = list(sentence_rows(block))
            first = numbers[-1] if origins and origins[-1] == origin else 0
            rows += own
            origins += [origin] * len(own)
            numbers += range(first + 1, first + len(own) + 1)
        found = arrow.Table.from_pylist(rows, schema)
        columns = dict(
            zip(
                kept.column_names,
                kept.take(arrow.array(origins, arrow.int64())).columns,
                strict=True,
            )
        )
        if self.format != SENTENCES:
            columns[NUMBER] = arrow.array(numbers, arrow.int32())
        columns |= dict(zip(found.column_names, found.columns, strict=True))
        return arrow.table(columns)

    def texts(self, table: Any) -> list[str | None]:
        """The CoNLL-U of each row; None for one without a value, or that is left out."""
        answer: list[str | None] = [None] * table.num_rows
        for origin, block in self._parsed(table):
            if block is not None:
                answer[origin] = (answer[origin] or "") + block.texts(0, len(block)).decode("utf-8")
        return answer

    def _parsed(self, table: Any) -> Iterator[tuple[int, Block | None]]:
        """Parsed sentences with the number of their row, in order; None for rows without any."""
        waiting: list[tuple[int, Block | None]] = []
        size = 0
        for origin, block in self._sentences(table):
            waiting.append((origin, block))
            size += 0 if block is None else len(block.texts(0, len(block)))
            if size >= CHUNK_SIZE:
                yield from self._together(waiting)
                waiting, size = [], 0
        yield from self._together(waiting)

    def _together(
        self, waiting: list[tuple[int, Block | None]]
    ) -> Iterator[tuple[int, Block | None]]:
        """Parses the sentences of several rows at once, which is faster."""
        texts = [b"" if block is None else block.texts(0, len(block)) for _, block in waiting]
        whole = Block(b"".join(texts), CONLLU_LAYOUT)
        if len(whole):
            parsed = self.parser.parse_block(whole, self.options, decoder=self._decoder)
            whole = parsed.to_block(self.options.probabilities, self.options.certificates)
        start = 0
        for origin, block in waiting:
            count = 0 if block is None else len(block)
            part = whole.texts(start, start + count)
            yield origin, whole.reread(part) if count else None
            start += count

    def _sentences(self, table: Any) -> Iterator[tuple[int, Block | None]]:
        """The sentences of each row, in pieces; None for a row without any."""
        if self.format == SENTENCES:
            known = [n for n in table.column_names if n in sentence_schema(pyarrow()).names]
            for origin, row in enumerate(table.select(known).to_pylist()):
                yield from self._of_row(origin, sentence_text(row, "the table", origin), CONLLU)
            return
        assert self.column is not None
        for origin, value in enumerate(table.column(self.column).to_pylist()):
            if value is None:
                yield origin, None
                continue
            data = value.encode("utf-8") if isinstance(value, str) else bytes(value)
            yield from self._of_row(origin, data, self.format)

    def _of_row(
        self, origin: int, data: bytes, format: str  # noqa: A002
    ) -> Iterator[tuple[int, Block | None]]:  # fmt: skip
        if not data.strip():
            yield origin, None
            return
        stream = _Named(data)
        try:
            for chunk in self.parser.chunks(
                stream, self.options, format=format, skip_bad=self.skip_bad
            ):
                if len(chunk.block):
                    yield origin, chunk.block
        except DataError:
            if not self.skip_bad:
                raise
        except TooLargeError as error:
            if not self.skip_bad:
                raise TooLargeError(f"{stream.name}: {error}") from error


def _found(names: list[str], column: str | None) -> str | None:
    """The column to parse; None for a table of sentences."""
    if column is None and _WORDS in names:
        return None
    if column is None and TEXT not in names:
        raise ArgumentError(
            f"the table has neither a column {_WORDS} nor a column {TEXT}: name the column to "
            f"parse (it has {', '.join(names)})."
        )
    if (column or TEXT) not in names:
        raise ArgumentError(f"the table has no column {column}: it has {', '.join(names)}.")
    return column or TEXT


class _Named(io.BytesIO):
    """The bytes of a row, with a name for messages."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        start = data[: 4 * _SHOWN].decode("utf-8", "ignore").strip().partition("\n")[0][:_SHOWN]
        self.name = f"the row that begins with {start!r}"
