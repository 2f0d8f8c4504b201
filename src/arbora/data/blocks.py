"""Reads files as blocks of whole sentences, for code that works on many sentences at once."""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard

from arbora.data.block import Block
from arbora.data.formats import Piece, Place, Reader, format_named, recognise
from arbora.data.source import ReadPath, Source, check_path, open_source
from arbora.errors import ArgumentError, DataError, DataWarning, FileError

__all__ = [
    "CHUNK_SIZE",
    "MAX_SENTENCE_BYTES",
    "Chunk",
    "OnError",
    "is_model",
    "is_parquet_file",
    "read_blocks",
]

OnError = Callable[[DataError], object]

CHUNK_SIZE = 1 << 19  # large enough for several threads, small enough for the cache
_SAMPLE = 1 << 18  # what the format is guessed from
_MODEL_SAMPLE = 1 << 12
_GZIP = 31  # the window bits by which zlib knows gzip
MAX_SENTENCE_BYTES = (
    64_000_000  # half a million words; compressed files may expand to one endless line
)
_LARGEST_BLOCK = (1 << 31) - 1  # the range of the core's offsets


@dataclass(frozen=True)
class Chunk:
    """A block of sentences, the errors of invalid ones, and the progress in the file.

    `format` is the name of the file's format. `format_known` is False if it was neither given nor
    recognised. `lines` and `lost` are those of `Piece`.
    """

    block: Block
    errors: tuple[DataError, ...]
    bytes_read: int
    bytes_total: int | None  # None if it is not known
    format: str = "conllu"
    format_known: bool = True
    lines: Sequence[int] = ()
    lost: Sequence[Mapping[str, int]] = ()


def read_blocks(
    path: ReadPath | Source,
    format: str | None = None,  # noqa: A002  # the public name
    skip_bad: bool = False,
    on_error: OnError | None = None,
    trees: bool = False,
    chunk_size: int = CHUNK_SIZE,
    max_sentence_bytes: int = MAX_SENTENCE_BYTES,
    max_words: int | None = None,
    readers: Mapping[str, Reader] | None = None,
) -> Iterator[Chunk]:
    """Blocks of about `chunk_size` bytes, cut between sentences; options as in `read_conllu`.

    Memory is bounded by a few chunks for files of any size; only a sentence longer than a chunk
    takes more, and one of more than `max_sentence_bytes` is an error. `chunk_size` affects nothing
    except how sentences are grouped into blocks. A sentence of more than `max_words` counts as
    malformed. The first unusual line of a file causes a `DataWarning`. `readers` replaces the
    readers of formats, by their names.
    """
    if format is not None:
        format_named(format)
    if not isinstance(chunk_size, int) or chunk_size < 1:
        raise ArgumentError(f"chunk_size must be a positive number of bytes, not {chunk_size!r}.")
    if not isinstance(max_sentence_bytes, int) or not 1 <= max_sentence_bytes <= _LARGEST_BLOCK:
        raise ArgumentError(
            f"max_sentence_bytes must be a number of bytes up to {_LARGEST_BLOCK}, not "
            f"{max_sentence_bytes!r}."
        )
    for name, value in (("skip_bad", skip_bad), ("trees", trees)):
        if not isinstance(value, bool):
            raise ArgumentError(f"{name} must be True or False, not {value!r}.")
    if on_error is not None and not callable(on_error):
        raise ArgumentError(f"on_error must be a function of an error, not {on_error!r}.")
    if format is None and is_parquet_file(path):
        from arbora.data.parquet import read_parquet

        for block in read_parquet(path, max_words):
            yield Chunk(block, (), 0, None, format="conllu")
        return
    with open_source(path) as source:
        _check_not_a_model(source)
        name, known = (format, True) if format is not None else _recognised(source)
        reader = (readers or {}).get(name) or format_named(name).reader
        place = Place(trees=trees, skip_bad=skip_bad, max_words=max_words)
        for chunk in _chunks(source, reader, place, chunk_size, max_sentence_bytes):
            chunk = replace(chunk, format=name, format_known=known)  # the same one
            if not skip_bad:
                yield chunk
                if chunk.errors:
                    raise chunk.errors[0]
                continue
            if on_error is not None:
                for error in chunk.errors:
                    on_error(error)
            yield chunk


def is_parquet_file(path: ReadPath | Source) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a file is Parquet, which is read from its end, so that a pipe cannot be."""
    if not isinstance(path, str | os.PathLike) or path == "-":
        return False
    check_path(path)
    if not Path(path).is_file():
        return False
    from arbora.data.parquet import is_parquet

    return is_parquet(path)


def _recognised(source: Source) -> tuple[str, bool]:
    """The format of a file, from its first whole lines, and whether it was recognised."""
    sample = source.peek(_SAMPLE)
    whole_lines = sample if len(sample) < _SAMPLE else sample[: sample.rfind(b"\n") + 1]
    return recognise(whole_lines, source.name)


def is_model(beginning: bytes) -> bool:
    """Whether a file with this beginning is a model: safetensors with our metadata, or its gzip."""
    if beginning.startswith(b"\x1f\x8b"):
        try:
            beginning = zlib.decompressobj(_GZIP).decompress(beginning, 64)
        except zlib.error:
            return False
    return beginning[8:].startswith(b'{"__metadata__":{"arbora":')


def _check_not_a_model(source: Source) -> None:
    if is_model(source.peek(_MODEL_SAMPLE)):
        raise FileError(
            f"{source.name} is a model, not a treebank: give it with --model, or load it with "
            "arbora.load()."
        )


def _warn_of(piece: Piece, name: str) -> bool:
    """Warns of unusual lines in a piece; returns whether there were any."""
    for line, remark in piece.remarks:
        warnings.warn(f"{name}, line {line}: {remark}.", DataWarning, stacklevel=4)
    return bool(piece.remarks)


def _chunks(
    source: Source, reader: Reader, place: Place, chunk_size: int, longest: int
) -> Iterator[Chunk]:
    pending, wanted, warned = b"", chunk_size, False
    while True:
        pending += source.read(max(0, wanted - len(pending)))
        is_last = source.at_end
        piece = reader.read(pending, replace(place, is_last=is_last))
        if not warned:
            warned = _warn_of(piece, source.name)
        errors = tuple(DataError(message, source.name, at) for at, message in piece.faults)
        pending = pending[piece.size :]
        place = replace(
            place, first_line=piece.next_line,
            first_sentence=place.first_sentence + len(piece.block),
        )  # fmt: skip
        if len(piece.block) or errors:
            wanted = chunk_size
            yield Chunk(
                piece.block, errors, source.position, source.total, lines=piece.lines,
                lost=piece.lost,
            )  # fmt: skip
        elif len(pending) > longest and not is_last:
            raise DataError(
                f"a sentence has more than {longest / 1e6:,.0f} MB; is this CoNLL? (read_conllu "
                "takes a larger max_sentence_bytes)",
                source.name,
                place.first_line,
            )
        else:  # a sentence that is longer than the chunk
            wanted = min(max(wanted, len(pending)) * 2, max(longest, len(pending)) + 1)
        if is_last or (errors and not place.skip_bad):
            return
