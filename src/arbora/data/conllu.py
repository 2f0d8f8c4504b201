"""Reading and writing the sentences of a file, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from arbora._core import data as _core
from arbora.arrays import as_iterator
from arbora.data.block import Block
from arbora.data.blocks import (
    CHUNK_SIZE,
    MAX_SENTENCE_BYTES,
    Chunk,
    OnError,
    read_blocks,
)
from arbora.data.formats import format_named
from arbora.data.output import WritePath, open_output
from arbora.data.sentence import Sentence
from arbora.data.source import ReadPath, Source
from arbora.errors import ArgumentError, DataError

__all__ = ["SentenceReader", "TextJoiner", "read_conllu", "sentences_of", "write_conllu"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SentenceReader(Iterator[Sentence]):
    """The sentences of a file; `errors` collects the errors of skipped ones.

    `format_known` becomes False if the format was not recognised.
    """

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self.errors: list[DataError] = []
        self.format_known = True
        self._sentences = self._read(chunks)

    def _read(self, chunks: Iterator[Chunk]) -> Iterator[Sentence]:
        for chunk in chunks:
            self.errors.extend(chunk.errors)
            self.format_known = chunk.format_known
            yield from sentences_of(chunk.block)

    def __iter__(self) -> Iterator[Sentence]:
        return self._sentences

    def __next__(self) -> Sentence:
        return next(self._sentences)


def sentences_of(block: Block) -> Iterator[Sentence]:
    """The sentences of a block, which share its memory."""
    heads, first = block.heads, 0
    for index, n_words in enumerate(block.n_words.tolist()):
        yield Sentence(block, index, heads[first : first + n_words])
        first += n_words


def read_conllu(
    path: ReadPath | Source,
    format: str | None = None,  # noqa: A002  # the public name
    skip_bad: bool = False,
    on_error: OnError | None = None,
    trees: bool = False,
    *,
    chunk_size: int = CHUNK_SIZE,
    max_sentence_bytes: int = MAX_SENTENCE_BYTES,
) -> SentenceReader:
    """Iterates over the sentences of a file, in bounded memory.

    `path` is a path, `-` for standard input, or an open file, binary or text. Files that gzip,
    bzip2, xz or Zstandard compressed are recognised and decompressed. `format` is a name in the
    table of formats (`"conllu"`, `"conllx"`, `"conll2008"`, `"conll2009"`); None recognises it.

    A malformed sentence raises `DataError` with file and line; with `skip_bad` it is skipped,
    reported to `on_error` and collected in `errors` of the iterator. With `trees`, a cycle in the
    heads, or no root where all heads are given, is an error too. A sentence of more than
    `max_sentence_bytes`, by default 64 MB, is always an error.
    """
    return SentenceReader(
        read_blocks(path, format, skip_bad, on_error, trees, chunk_size, max_sentence_bytes)
    )


def write_conllu(path: WritePath, sentences: Iterable[Sentence]) -> int:
    """Writes sentences byte for byte, each in its own format, and returns their number.

    The file is replaced when it is complete, so an error leaves the old one unchanged; `path` may
    be the file that the sentences are read from. A name that ends in `.gz`, `.bz2`, `.xz` or `.zst`
    is compressed, `-` is standard output, an open file is written directly.
    """
    if isinstance(sentences, Sentence):
        raise ArgumentError("write_conllu takes several sentences; put a single one into a list.")
    given = as_iterator(sentences, "write_conllu takes a list of sentences")
    count, join = 0, TextJoiner()
    with open_output(path) as write:
        for block, first, last in _runs(given):
            write(join(block.texts(first, last)))
            count += last - first
    return count


class TextJoiner:
    """Joins texts of whole sentences.

    It is called with each text and the name of its format. It inserts the empty line that the end
    of a file may lack, if the format has such lines, and keeps a byte-order mark at the very
    beginning only.
    """

    def __init__(self) -> None:
        self._before: bytes | None = None

    def __call__(self, text: bytes, format: str = "conllu") -> bytes:  # noqa: A002  # as above
        """The text, after the separator that it needs."""
        if not text:
            return text
        if self._before is not None:
            text = text.removeprefix(_BYTE_ORDER_MARK)
            if format_named(format).blank_lines:
                text = _core.missing_separator(self._before) + text
        self._before = text
        return text


def _runs(sentences: Iterable[Sentence]) -> Iterator[tuple[Block, int, int]]:
    """Runs of adjacent sentences of a block, as (block, first, last + 1)."""
    block, first, last = None, 0, 0
    for sentence in sentences:
        if not isinstance(sentence, Sentence):
            raise ArgumentError(f"write_conllu takes sentences, not {type(sentence).__name__}.")
        if sentence._block is block and sentence._index == last:
            last += 1
            continue
        if block is not None:
            yield block, first, last
        block, first = sentence._block, sentence._index
        last = first + 1
    if block is not None:
        yield block, first, last
