"""Input of bytes: from a path, standard input or an open stream, decompressed if need be."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from arbora.data.compression import PEEKED, Compression, Unpacked, compression_named, compression_of
from arbora.errors import ArgumentError, FileError, unreadable

__all__ = ["ReadPath", "Source", "check_path", "open_source", "source_name"]

ReadPath = str | os.PathLike[str] | IO[bytes] | IO[str]


_AT_ONCE = 1 << 24  # bytes; a stream allocates memory for the whole request


class Source:
    """Bytes that are read in pieces of any size, with `peek` and a count for progress."""

    def __init__(
        self, stream: Any, name: str, total: int | None = None, packed: Source | None = None
    ) -> None:
        self.name = name
        self.total = total
        self._stream = stream
        self._packed = packed  # the compressed file that the stream is read from, for progress
        self._ahead = b""
        self._taken = 0
        self._ended = False

    @property
    def position(self) -> int:
        """Bytes of the file that were read so far."""
        return self._taken - len(self._ahead) if self._packed is None else self._packed.position

    @property
    def at_end(self) -> bool:
        """Whether a read has seen the end; one that stops exactly there has not yet."""
        return self._ended and not self._ahead

    def peek(self, size: int) -> bytes:
        """The next bytes, without consuming them; fewer than `size` only at the end."""
        pieces = [self._ahead]
        missing = size - len(self._ahead)
        while missing > 0 and not self._ended:
            piece = self._read_piece(missing)
            self._ended = not piece
            self._taken += len(piece)
            missing -= len(piece)
            pieces.append(piece)
        if len(pieces) > 1:
            self._ahead = b"".join(filter(None, pieces))
        return self._ahead[:size]

    def read(self, size: int) -> bytes:
        """The next bytes; fewer than `size` only at the end."""
        taken = self.peek(size)
        self._ahead = self._ahead[len(taken) :]
        return taken

    def _read_piece(self, size: int) -> bytes:
        try:
            piece = self._stream.read(min(size, _AT_ONCE))
        except UnicodeDecodeError as error:
            raise FileError(
                f"{self.name} is not UTF-8 ({error.reason}); convert it, or open it in binary mode "
                "to get the line of the error."
            ) from error
        except (OSError, EOFError) as error:
            raise unreadable(self.name, error) from error
        return piece.encode("utf-8") if isinstance(piece, str) else bytes(piece or b"")


def check_path(path: str | os.PathLike[str]) -> None:
    """Raises for a name that no file can have."""
    try:
        ok = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        ok = False
    if not ok:
        raise ArgumentError(f"{os.fspath(path)!r} is not the name of a file.")


def source_name(path: ReadPath) -> str:
    """The name in messages."""
    if isinstance(path, str) and path == "-":
        return "standard input"
    if isinstance(path, str | os.PathLike):
        return os.fspath(path)
    own_name = getattr(path, "name", None)
    return own_name if isinstance(own_name, str) else "stream"


@contextmanager
def open_source(path: ReadPath | Source) -> Iterator[Source]:
    """Opens a path (`-` is standard input) or uses an open stream, or an open source as it is.

    Compressed contents are recognised by their first bytes and decompressed.
    """
    if isinstance(path, Source):
        yield path
    elif isinstance(path, str) and path == "-":
        yield _unpacked(Source(sys.stdin.buffer, source_name(path)))
    elif isinstance(path, str | os.PathLike):
        name = os.fspath(path)
        with _opened(name) as raw:
            yield _unpacked(Source(raw, name, _size(raw)), compression_named(name))
    elif hasattr(path, "read"):
        yield _unpacked(Source(path, source_name(path), _size(path)))
    else:
        raise ArgumentError(
            f"sentences are read from a path or an open file, not from {type(path).__name__}."
        )


def _unpacked(source: Source, promised: Compression | None = None) -> Source:
    """The source, or the decompressed one; `promised` is what the file's name says."""
    beginning = source.peek(PEEKED)
    found = compression_of(beginning)
    if found is not None:
        stream = Unpacked(source, found, source.name)
        return Source(stream, source.name, source.total, source)
    if promised is not None:
        kind, ending = promised.name, promised.ending
        raise FileError(
            f"{source.name} cannot be read: it is empty, so it is not a {kind} file; get it again."
            if not beginning
            else f"{source.name} cannot be read: it is not a {kind} file; if it is not compressed, "
            f"give it a name without {ending}."
        )
    return source


def _opened(name: str) -> IO[bytes]:
    try:
        check_path(name)
        return Path(name).open("rb")
    except OSError as error:
        raise unreadable(name, error) from error


def _size(stream: IO[Any]) -> int | None:
    """Bytes of an open file, if it is one."""
    try:
        return os.fstat(stream.fileno()).st_size or None
    except (OSError, AttributeError, io.UnsupportedOperation):
        return None
