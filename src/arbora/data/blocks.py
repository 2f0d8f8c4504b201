"""A file as blocks of whole sentences: the way in for everything that works on many at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from arbora._core import data as _core
from arbora.data.source import ReadPath, Source, open_source
from arbora.errors import ArgumentError, DataError, DataWarning

__all__ = [
    "CHUNK_SIZE",
    "MAX_SENTENCE_BYTES",
    "Block",
    "Chunk",
    "Format",
    "OnError",
    "format_code",
    "read_blocks",
]

Format = Literal["conllu", "conllx"]
OnError = Callable[[DataError], object]
Block = _core.Block

CHUNK_SIZE = 1 << 19  # large enough for threads to share, small enough for the cache
_SAMPLE = 1 << 18  # what the format is guessed from
MAX_SENTENCE_BYTES = 64_000_000  # half a million words; packed files may hold one endless line
_LARGEST_BLOCK = (1 << 31) - 1  # what the core's offsets reach


@dataclass(frozen=True)
class Chunk:
    """A block of sentences, the errors of those left out, and how much of the file is read.

    `format_known` says whether the format was given or anything in the file tells it.
    """

    block: Block
    errors: tuple[DataError, ...]
    bytes_read: int
    bytes_total: int | None  # None if it is not known
    format_known: bool = True


def format_code(format: Format | None) -> int | None:  # noqa: A002  # the public name
    """The core's number of a format."""
    if format is None:
        return None
    if not isinstance(format, str) or format not in get_args(Format):
        raise ArgumentError(f"format is 'conllu', 'conllx' or None (recognised), not {format!r}.")
    return get_args(Format).index(format)


def read_blocks(
    path: ReadPath,
    format: Format | None = None,  # noqa: A002  # the public name
    skip_bad: bool = False,
    on_error: OnError | None = None,
    trees: bool = False,
    chunk_size: int = CHUNK_SIZE,
    max_sentence_bytes: int = MAX_SENTENCE_BYTES,
) -> Iterator[Chunk]:
    """Blocks of about `chunk_size` bytes, cut between sentences; options as in `read_conllu`.

    Memory stays within a few chunks whatever the file's size; only a sentence longer than a chunk
    takes more, and one of more than `max_sentence_bytes` is an error. Which block a sentence is in
    depends on `chunk_size`, and nothing else does. The first
    odd line of a file is a `DataWarning`.
    """
    code = format_code(format)
    if not isinstance(chunk_size, int) or chunk_size < 1:
        raise ArgumentError(f"chunk_size is a positive number of bytes, not {chunk_size!r}.")
    if not isinstance(max_sentence_bytes, int) or not 1 <= max_sentence_bytes <= _LARGEST_BLOCK:
        raise ArgumentError(
            f"max_sentence_bytes is a number of bytes up to {_LARGEST_BLOCK}, not "
            f"{max_sentence_bytes!r}."
        )
    for name, value in (("skip_bad", skip_bad), ("trees", trees)):
        if not isinstance(value, bool):
            raise ArgumentError(f"{name} is True or False, not {value!r}.")
    if on_error is not None and not callable(on_error):
        raise ArgumentError(f"on_error is a function of an error, not {on_error!r}.")
    with open_source(path) as source:
        known, warned = True, False
        if code is None:
            sample = source.peek(_SAMPLE)
            whole_lines = sample if len(sample) < _SAMPLE else sample[: sample.rfind(b"\n") + 1]
            code, known = _core.guess_format(whole_lines)
        for chunk in _chunks(source, code, known, skip_bad, trees, chunk_size, max_sentence_bytes):
            if not warned:
                warned = _warn_of(chunk.block, source.name)
            if not skip_bad:
                yield chunk
                if chunk.errors:
                    raise chunk.errors[0]
                continue
            if on_error is not None:
                for error in chunk.errors:
                    on_error(error)
            yield chunk


def _warn_of(block: Block, name: str) -> bool:
    """Tells of what is odd in a block; returns whether anything was."""
    for line, remark in block.remarks:
        warnings.warn(f"{name}, line {line}: {remark}.", DataWarning, stacklevel=3)
    return bool(block.remarks)


def _chunks(
    source: Source,
    code: int,
    known: bool,
    skip_bad: bool,
    trees: bool,
    chunk_size: int,
    longest: int,
) -> Iterator[Chunk]:
    pending, line, wanted = b"", 1, chunk_size
    while True:
        pending += source.read(max(0, wanted - len(pending)))
        whole = source.at_end
        block = _core.read(pending, code, line, whole, trees, skip_bad)
        errors = tuple(DataError(message, source.name, at) for at, message in block.faults)
        pending, line = pending[block.size :], block.next_line
        if len(block) or errors:
            wanted = chunk_size
            yield Chunk(block, errors, source.position, source.total, known)
        elif len(pending) > longest and not whole:
            raise DataError(
                f"a sentence has more than {longest / 1e6:,.0f} MB; is this CoNLL? (read_conllu "
                "takes a larger max_sentence_bytes)",
                source.name,
                line,
            )
        else:  # a sentence that is longer than the chunk
            wanted = min(max(wanted, len(pending)) * 2, max(longest, len(pending)) + 1)
        if whole or (errors and not skip_bad):
            return
