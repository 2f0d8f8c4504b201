"""Output of bytes: to a file that is replaced when complete, standard output or a stream."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from arbora.data.compression import Packed, compression_named
from arbora.data.source import check_path
from arbora.data.temporary_files import remove_leftovers, temporary_path
from arbora.errors import ArgumentError, FileError, unwritable

__all__ = ["WritePath", "open_output"]

WritePath = str | os.PathLike[str] | IO[bytes] | IO[str]
Write = Callable[[bytes], object]


@contextmanager
def open_output(path: WritePath, durable: bool = False) -> Iterator[Write]:
    """A context with a function that writes bytes.

    For a path, a temporary file is written and renamed when complete: an error leaves the old file
    unchanged. `durable` syncs it to disk, so that a power failure leaves one of the two files, too,
    and after the end the new one. A name that ends in `.gz`, `.bz2`, `.xz` or `.zst` is compressed,
    `-` is standard output, a stream or a device is written directly.
    """
    if isinstance(path, str) and path == "-":
        sys.stdout.flush()
        yield _Checked(sys.stdout.buffer, "standard output")
        with _one_sentence("standard output"):
            sys.stdout.buffer.flush()
    elif isinstance(path, str | os.PathLike):
        check_path(path)
        name = os.fspath(path)
        target = Path(os.path.realpath(name))
        with _one_sentence(name):
            is_file = not target.exists() or target.is_file()
        with _written_aside(target, name, durable) if is_file else _opened(target, name) as stream:
            compression = compression_named(name)
            if compression is not None:
                packed = Packed(stream, compression, name)
                yield _Checked(packed, name)
                with _one_sentence(name):
                    packed.close()
            else:
                yield _Checked(stream, name)
    elif hasattr(path, "write"):
        yield _Checked(path, getattr(path, "name", "the stream"))
    else:
        raise ArgumentError(
            f"sentences are written to a path or an open file, not to {type(path).__name__}."
        )


class _Checked:
    """A stream's `write` whose errors name the file."""

    def __init__(self, stream: Any, name: object) -> None:
        self._stream = stream
        self._name = str(name)
        self._text = isinstance(stream, io.TextIOBase)

    def __call__(self, data: bytes) -> None:
        try:
            self._stream.write(data.decode("utf-8") if self._text else data)
        except OSError as error:
            raise _explained(error, self._name) from error


@contextmanager
def _one_sentence(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _explained(error, name) from error


def _explained(error: OSError, name: str) -> OSError:
    """The error with the file's name, except for a pipe whose reader has closed it."""
    if isinstance(error, BrokenPipeError | FileError):
        return error
    advice = "; free some space" if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
    return unwritable(name, error, advice)


@contextmanager
def _opened(target: Path, name: str) -> Iterator[IO[bytes]]:
    """A device or a pipe, which nothing can be renamed to."""
    with _one_sentence(name):
        stream = target.open("wb", buffering=0)
    try:
        yield stream
    finally:
        stream.close()


@contextmanager
def _written_aside(target: Path, name: str, durable: bool) -> Iterator[IO[bytes]]:
    remove_leftovers(target)
    aside = temporary_path(target)
    stream: IO[bytes] | None = None
    try:  # from here on, since a signal may come as soon as there is a file
        with _one_sentence(name):
            stream = _new_file(aside)
        yield stream
        with _one_sentence(name):
            stream.flush()
            if durable:
                os.fsync(stream.fileno())  # before renaming, which may reach the disk first
            stream.close()
            if target.exists():
                aside.chmod(stat.S_IMODE(target.stat().st_mode))
            aside.replace(target)
            if durable:
                _sync_folder(target.parent)
    except BaseException:
        if stream is not None:
            with suppress(OSError):
                stream.close()
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def _new_file(path: Path) -> IO[bytes]:
    return path.open("xb")


def _sync_folder(folder: Path) -> None:
    """Syncs a folder's entries to disk, where the system supports it."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder may be writable only
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)
