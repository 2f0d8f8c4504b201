"""Sentences of a file, one after the other, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from arbora._core import data as _core
from arbora.data.blocks import CHUNK_SIZE, Chunk, Format, OnError, read_blocks
from arbora.data.output import WritePath, open_output
from arbora.data.sentence import Sentence
from arbora.data.source import ReadPath
from arbora.errors import ArgumentError, DataError

__all__ = ["SentenceReader", "read_conllu", "write_conllu"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SentenceReader(Iterator[Sentence]):
    """The sentences of a file; `errors` collects what was wrong with those that were skipped."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self.errors: list[DataError] = []
        self._sentences = self._read(chunks)

    def _read(self, chunks: Iterator[Chunk]) -> Iterator[Sentence]:
        for chunk in chunks:
            self.errors.extend(chunk.errors)
            block = chunk.block
            for index in range(len(block)):
                yield Sentence(block, index)

    def __iter__(self) -> SentenceReader:
        return self

    def __next__(self) -> Sentence:
        return next(self._sentences)


def read_conllu(
    path: ReadPath,
    format: Format | None = None,  # noqa: A002  # the public name
    skip_bad: bool = False,
    on_error: OnError | None = None,
    trees: bool = False,
    *,
    chunk_size: int = CHUNK_SIZE,
) -> SentenceReader:
    """Iterates over the sentences of a CoNLL-U or CoNLL-X file, in bounded memory.

    `path` is a path (also of a `.gz` file), `-` for standard input, or an open file; one in text
    mode gives what it has decoded. `format` is `"conllu"` or `"conllx"`; None recognises it.
    A malformed sentence raises `DataError` with file and line; with `skip_bad` it is left out,
    reported to `on_error` and collected in `errors` of the iterator. With `trees`, a cycle in the
    heads, or no root where all heads are given, is an error too.
    """
    return SentenceReader(read_blocks(path, format, skip_bad, on_error, trees, chunk_size))


def write_conllu(path: WritePath, sentences: Iterable[Sentence]) -> int:
    """Writes sentences byte for byte and returns how many there were.

    A file appears when it is whole, so an error leaves the old one as it was; `path` may be the
    file that the sentences are read from. `-` is standard output, `.gz` is packed, an open file is
    written to as it is.
    """
    if isinstance(sentences, Sentence):
        raise ArgumentError("write_conllu takes several sentences; put the one into a list.")
    count, size, texts = 0, 0, []
    with open_output(path) as write:
        last = b"\n\n"
        for sentence in sentences:
            text = bytes(sentence)
            if count and text.startswith(_BYTE_ORDER_MARK):
                text = text.removeprefix(_BYTE_ORDER_MARK)
            if not last.endswith(b"\n\n"):
                texts.append(_core.missing_separator(last))
            texts.append(text)
            last = text
            count += 1
            size += len(text)
            if size > CHUNK_SIZE:
                write(b"".join(texts))
                texts.clear()
                size = 0
        write(b"".join(texts))
    return count
