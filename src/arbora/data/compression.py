"""Compressed files: recognised by their first bytes, written by the ending of their name."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol

from arbora.errors import FileError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = [
    "COMPRESSIONS",
    "PEEKED",
    "Compression",
    "DamagedError",
    "Packed",
    "Unpacked",
    "compression_named",
    "compression_of",
    "without_ending",
]

PEEKED = 10  # bytes that tell what a file is
_AT_ONCE = 1 << 16  # compressed bytes
_MOST_MEMORY = 1 << 28  # bytes that a decompressor may take; xz -9 takes 65 MB
_LARGEST_WINDOW = 1 << 27  # bytes; that of zstd --ultra -22


class DamagedError(OSError):
    """A compressed file cannot be decompressed."""


class _Reader(Protocol):
    """A decompressor of one stream, as in `bz2` and `lzma`."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


@dataclass(frozen=True)
class Compression:
    """A kind of compressed file: its name and ending, its first bytes, and how to read and write.

    The functions take the name of the file, for messages.
    """

    name: str
    ending: str
    first_bytes: re.Pattern[bytes]
    reader: Callable[[str], _Reader]
    writer: Callable[[str], Any]  # with compress(data) and flush(), as in `bz2` and `lzma`


class Unpacked(io.RawIOBase):
    """The contents of a compressed stream, in memory that does not depend on their size.

    Several compressed streams in a row are read as one. Raises `EOFError` for a file that is cut
    short and `DamagedError` for a damaged one.
    """

    def __init__(self, stream: Any, compression: Compression, name: str) -> None:
        self._stream = stream  # anything with read(size)
        self._compression = compression
        self._name = name
        self._reader = compression.reader(name)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Reads and unpacks bytes into a buffer; returns their number, 0 at the end."""
        view = memoryview(buffer).cast("B")
        data = self._next(len(view))
        view[: len(data)] = data
        return len(data)

    def _next(self, size: int) -> bytes:
        while True:
            data = b""
            if self._reader.eof:  # another stream may follow, after zeros
                data = self._reader.unused_data.lstrip(b"\0")
                while not data:
                    piece = self._stream.read(_AT_ONCE)
                    if not piece:
                        return b""
                    data = piece.lstrip(b"\0")
                self._reader = self._compression.reader(self._name)
            elif self._reader.needs_input:
                data = self._stream.read(_AT_ONCE)
                if not data:
                    raise EOFError("the compressed file is cut short; get it again")
            try:
                found = self._reader.decompress(data, size)
            except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
                if isinstance(error, FileError):
                    raise
                limit = "memory usage limit" in str(error).lower()
                raise DamagedError(
                    f"it takes more than {_MOST_MEMORY >> 20} MB to decompress; compress it again"
                    if limit
                    else "the compressed file is damaged; get it again"
                ) from error
            if found:
                return found


class Packed:
    """Compresses what is written to a stream. The bytes depend on nothing but the data."""

    def __init__(self, stream: IO[bytes], compression: Compression, name: str) -> None:
        self._stream = stream
        self._writer = compression.writer(name)

    def write(self, data: bytes) -> None:
        """Compresses and writes bytes."""
        self._stream.write(self._writer.compress(data))

    def close(self) -> None:
        """Writes what is held back; the stream stays open."""
        self._stream.write(self._writer.flush())


class _GzipReader:
    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        found = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = len(found) < max_length and not self._inner.unconsumed_tail
        return found


class _ZstdReader:
    """Passes on a few bytes at a time, since what they expand to is not limited otherwise."""

    _FEW = 512  # expand to at most 16 MB

    def __init__(self, inner: Any, error: type[Exception]) -> None:
        self._inner = inner
        self._error = error
        self._packed = memoryview(b"")
        self._found = bytearray()

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof) and not self._found

    @property
    def needs_input(self) -> bool:
        return not self._packed and not self._found

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) + bytes(self._packed)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if data:
            self._packed = memoryview(bytes(self._packed) + data)
        while len(self._found) < max_length and self._packed and not self._inner.eof:
            few, self._packed = self._packed[: self._FEW], self._packed[self._FEW :]
            try:
                self._found += self._inner.decompress(few)
            except self._error as error:
                raise OSError(str(error)) from error
        found = bytes(self._found[:max_length])
        del self._found[:max_length]
        return found


def _zstandard(name: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise FileError(
            f"{name} is a Zstandard file, which requires the package zstandard: "
            "pip install 'arbora[zstd]'."
        ) from None
    return zstandard


def _zstd_reader(name: str) -> _Reader:
    package = _zstandard(name)
    inner = package.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj()
    return _ZstdReader(inner, package.ZstdError)


def _zstd_writer(name: str) -> Any:
    return _zstandard(name).ZstdCompressor(write_checksum=True).compressobj()


COMPRESSIONS = (
    Compression(
        "gzip", ".gz", re.compile(rb"\x1f\x8b"),
        lambda _: _GzipReader(), lambda _: zlib.compressobj(9, zlib.DEFLATED, 31),
    ),
    Compression(
        "bzip2", ".bz2", re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
        lambda _: bz2.BZ2Decompressor(), lambda _: bz2.BZ2Compressor(),
    ),
    Compression(
        "xz", ".xz", re.compile(rb"\xfd7zXZ\0"),
        lambda _: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY),
        lambda _: lzma.LZMACompressor(),
    ),
    Compression("Zstandard", ".zst", re.compile(rb"\x28\xb5\x2f\xfd"), _zstd_reader, _zstd_writer),
)  # fmt: skip


def compression_of(beginning: bytes) -> Compression | None:
    """The compression of a file with these first bytes; None if it is not compressed."""
    return next((one for one in COMPRESSIONS if one.first_bytes.match(beginning)), None)


def compression_named(name: str) -> Compression | None:
    """The compression of a file with this name, by its ending; None if it has none of them."""
    return next((one for one in COMPRESSIONS if name.lower().endswith(one.ending)), None)


def without_ending(name: str) -> str:
    """The name without the ending of a compressed file."""
    found = compression_named(name)
    return name if found is None else name[: -len(found.ending)]
