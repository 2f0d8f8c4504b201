"""Parquet files of sentences (the extra `arrow`): a row per sentence, with list columns.

| Column | Type | Contents |
| --- | --- | --- |
| `sent_id`, `text` | string | the comments of these names, if there are any |
| `form`, `lemma`, `upos`, `xpos`, `feats`, `deprel`, `deps`, `misc` | list of string | per word |
| `head` | list of int32 | per word; 0 is the root, -1 a missing head |
| `comments` | list of string | all lines of comments |
| `others` | list of (before, line) | multiword tokens and empty nodes, before which word (from 0) |
| `raw` | binary | the bytes of a sentence that the other columns do not restore; else null |

So the CoNLL-U file comes back byte for byte, whatever it has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from arbora.data.arrow import pyarrow
from arbora.data.block import COLUMNS, CONLLU_LAYOUT, Block
from arbora.data.formats import format_named
from arbora.data.output import open_output
from arbora.data.source import check_path
from arbora.errors import ArgumentError, DataError, FileError, unreadable

__all__ = [
    "MAGIC",
    "is_parquet",
    "read_parquet",
    "sentence_rows",
    "sentence_schema",
    "sentence_text",
    "write_parquet",
]

MAGIC = b"PAR1"
_TEXTS = {
    "form": "forms", "lemma": "lemmas", "upos": "upos", "xpos": "xpos", "feats": "feats",
    "deprel": "labels", "deps": "deps", "misc": "misc",
}  # fmt: skip
_ORDER = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_ROWS = 2000  # sentences that are read at a time
_WORDS = 100_000  # of a row group


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as Parquet files do."""
    check_path(path)
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def write_parquet(path: str | os.PathLike[str] | IO[bytes], blocks: Iterable[Block]) -> int:
    """Writes blocks to a file, which is replaced when it is complete; returns the sentences.

    Memory does not depend on the size of the file.
    """
    arrow = pyarrow()
    import pyarrow.parquet as parquet

    schema, count = sentence_schema(arrow), 0
    with _binary_output(path) as stream, parquet.ParquetWriter(stream, schema) as writer:
        rows: list[dict[str, Any]] = []
        words = 0
        for block in blocks:
            for row in sentence_rows(block):
                rows.append(row)
                words += len(row["form"])
                if words >= _WORDS:
                    writer.write_table(arrow.Table.from_pylist(rows, schema))
                    count, rows, words = count + len(rows), [], 0
        if rows or not count:
            writer.write_table(arrow.Table.from_pylist(rows, schema))
        count += len(rows)
    return count


def read_parquet(path: str | os.PathLike[str], max_words: int | None = None) -> Iterator[Block]:
    """The sentences of a file in blocks of CoNLL-U, in bounded memory.

    Only `form` is required. A sentence of more than `max_words` words is an error.
    """
    arrow = pyarrow()
    import pyarrow.parquet as parquet

    name, first = os.fspath(path), 0
    try:
        with parquet.ParquetFile(path) as file:
            known = [
                column
                for column in file.schema_arrow.names
                if column in sentence_schema(arrow).names
            ]
            if "form" not in known:
                raise FileError(f"{name} has no column form: it is not a file of sentences.")
            for batch in file.iter_batches(_ROWS, columns=known):
                rows = batch.to_pylist()
                for number, row in enumerate(rows):
                    words = len(row["form"] or ())
                    if max_words is not None and words > max_words:
                        raise DataError(
                            f"the sentence has {words} words, more than max_words ({max_words})",
                            name, first + number + 1,
                        )  # fmt: skip
                text = b"".join(sentence_text(row, name, first + i) for i, row in enumerate(rows))
                block = Block(text, CONLLU_LAYOUT, first_sentence=first)
                if block.faults:
                    line, problem = block.faults[0]
                    raise DataError(problem, name, line)
                first += len(block)
                if len(block):
                    yield block
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, FileError):
            raise
        raise unreadable(name, error) from error


def sentence_schema(arrow: Any) -> Any:
    """The columns of a table of sentences, as a schema of pyarrow."""
    texts = arrow.list_(arrow.string())
    other = arrow.struct([("before", arrow.int32()), ("line", arrow.string())])
    columns = [("sent_id", arrow.string()), ("text", arrow.string())]
    columns += [(name, arrow.list_(arrow.int32()) if name == "head" else texts) for name in _ORDER]
    columns += [("comments", texts), ("others", arrow.list_(other)), ("raw", arrow.binary())]
    return arrow.schema(columns)


def sentence_rows(block: Block) -> Iterator[dict[str, Any]]:
    """The sentences of a block as rows of a table."""
    if not block.layout.universal:
        block = Block(format_named("conllu").writer.write(block), CONLLU_LAYOUT)
    starts = np.cumsum(block.n_words) - block.n_words
    heads = np.asarray(block.heads)
    for i in range(len(block)):
        row: dict[str, Any] = {
            name: block.column(i, COLUMNS.index(column)) for name, column in _TEXTS.items()
        }
        row["head"] = heads[starts[i] : starts[i] + block.words(i)].tolist()
        text = block.text(i)
        row["comments"], row["others"] = _lines(text.decode("utf-8"))
        for name in ("sent_id", "text"):
            prefix = f"# {name} = "
            own = [line for line in row["comments"] if line.startswith(prefix)]
            row[name] = own[0].removeprefix(prefix) if own else None
        row["raw"] = None
        if sentence_text(row, "", i) != text:
            row["raw"] = text
        yield row


def _lines(text: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The comments of a sentence, and its multiword tokens and empty nodes."""
    comments, others, words = [], [], 0
    for line in text.split("\n"):
        if line.startswith("#"):
            comments.append(line)
        elif line.strip():
            identity = line.partition("\t")[0]
            if identity.isdecimal():
                words += 1
            else:
                others.append({"before": words, "line": line})
    return comments, others


def sentence_text(row: dict[str, Any], name: str, number: int) -> bytes:
    """A sentence as CoNLL-U."""
    if row.get("raw") is not None:
        return bytes(row["raw"])
    count = len(row["form"] or ())
    columns = []
    for column in _ORDER:
        values = row.get(column)
        if values is None:
            values = [-1 if column == "head" else "_"] * count
        if len(values) != count:
            raise DataError(
                f"column {column} has {len(values)} entries, and form has {count}", name, number + 1
            )
        columns.append(["_" if v is None or v == -1 else str(v) for v in values])
    lines = list(row.get("comments") or ())
    others = row.get("others") or []
    for word in range(count + 1):
        lines += [other["line"] for other in others if other["before"] == word]
        if word < count:
            lines.append("\t".join([str(word + 1), *(values[word] for values in columns)]))
    return ("\n".join(lines) + "\n\n").encode("utf-8") if count else b""


@contextmanager
def _binary_output(path: str | os.PathLike[str] | IO[bytes]) -> Iterator[Any]:
    if not isinstance(path, str | os.PathLike):
        if not hasattr(path, "write"):
            raise ArgumentError(f"a Parquet file is written to a path, not {type(path).__name__}.")
        yield path
        return
    with open_output(path) as write:
        yield _Stream(write)


class _Stream:
    """What pyarrow writes to, over a function that writes bytes."""

    closed = False

    def __init__(self, write: Any) -> None:
        self._write, self._at = write, 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._write(piece)
        self._at += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._at

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """The file is closed by its owner."""
