"""Reading of untrusted safetensors files, the format of models and checkpoints.

Sizes and checksums are checked first. An invalid file raises a `ModelError` before anything large
is unpacked, parsed or allocated.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors

from arbora.data.compression import PEEKED, DamagedError, Unpacked, compression_of
from arbora.errors import FileError, ModelError, unreadable
from arbora.inference.packed import physical_memory

__all__ = [
    "MAX_HEADER_BYTES",
    "Tensors",
    "checksum_of",
    "layout_of",
    "parse_json",
    "parse_tensors",
    "read_contents",
    "with_zeros",
]

Tensors = dict[str, NDArray[Any]]

MAX_HEADER_BYTES = 10_000_000  # of everything except the arrays; about 10 kB in a model
_DEEPEST = 40  # JSON nesting depth; 6 in a model
# Zeros are not stored, so compression hardly shrinks weights.
_UNPACKED_BASE, _UNPACKED_RATIO = 64_000_000, 50

# A JSON string; an unclosed one extends to the end, so that the search stays linear.
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BRACKETS = re.compile(r"[\[{]|[\]}]")


def read_contents(path: str | os.PathLike[str]) -> bytes:
    """The uncompressed contents of a file, if the sizes in its header are plausible."""
    try:
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
            # The size of a pipe is unknown.
            size = status.st_size if stat.S_ISREG(status.st_mode) else None
            compression = compression_of(file.peek(PEEKED)[:PEEKED])
            if compression is None:
                return _read_stated(file, size, None)
            packed = file.read() if size is None else None
            raw = file if packed is None else io.BytesIO(packed)
            packed_size = size if packed is None else len(packed)
            unpacked = Unpacked(raw, compression, os.fspath(path))
            return _read_stated(io.BufferedReader(unpacked), None, packed_size)
    except (DamagedError, EOFError):
        raise ModelError("the file is cut short or damaged; get it again.") from None
    except FileError:  # there is no package to decompress it
        raise
    except OSError as problem:
        raise unreadable(os.fspath(path), problem) from None
    except MemoryError:
        raise ModelError("the file is too large for the memory of this machine.") from None


def _read_stated(stream: IO[bytes], size: int | None, packed_size: int | None) -> bytes:
    """Reads as many bytes as the header states, if that is possible."""
    start = stream.read(9)
    length = _header_length(start)
    start += stream.read(length - 1)
    stated = 8 + length + _data_size(_parse_header(start, length))
    if size is not None and size != stated:
        raise ModelError(
            f"the file is {'cut short' if size < stated else 'damaged'}; get it again."
        )
    if packed_size is not None and stated > _UNPACKED_BASE + _UNPACKED_RATIO * packed_size:
        raise ModelError(
            f"the file has {packed_size / 1e6:,.1f} MB and claims {stated / 1e6:,.1f} MB "
            "uncompressed; it is not a model."
        )
    if size is None:
        contents = start + stream.read(stated - 8 - length)
    else:  # from the start again, without a copy
        stream.seek(0)
        contents = stream.read(stated)
    if len(contents) < stated:
        raise ModelError("the file is cut short; get it again.")
    if stream.read(1):
        raise ModelError("the file is damaged; get it again.")
    return contents


def parse_tensors(contents: bytes) -> tuple[dict[str, Any], Tensors]:
    """Metadata and tensors; safetensors checks their sizes."""
    metadata = _parse_header(contents, _header_length(contents)).get("__metadata__")
    if metadata is not None and not isinstance(metadata, dict):
        raise ModelError("the file is damaged; get it again.")
    try:
        return metadata or {}, load_tensors(contents)
    except (SafetensorError, ValueError, KeyError, TypeError) as problem:
        kind = "cut short" if "ncomplete" in str(problem) else "damaged"
        raise ModelError(f"the file is {kind}; get it again.") from None


def _header_length(contents: bytes) -> int:
    if len(contents) < 9:
        raise ModelError("the file is empty or cut short; it is not a model.")
    length = int.from_bytes(contents[:8], "little")
    if contents[8:9] != b"{" or length < 2:
        raise ModelError("this is not an Arbora model.")
    if length > MAX_HEADER_BYTES:
        raise ModelError(
            f"the file's header claims {length / 1e6:,.1f} MB; a model's has at most "
            f"{MAX_HEADER_BYTES / 1e6:,.0f} MB."
        )
    return length


def _parse_header(contents: bytes, length: int) -> dict[str, Any]:
    if len(contents) < 8 + length:
        raise ModelError("the file is cut short; get it again.")
    try:
        found = parse_json(contents[8 : 8 + length].decode("utf-8"))
    except UnicodeDecodeError:
        raise ModelError("the file is damaged; get it again.") from None
    if not isinstance(found, dict):
        raise ModelError("this is not an Arbora model.")
    return found


def _data_size(header: dict[str, Any]) -> int:
    """The size of the arrays in bytes, as stated in the header."""
    try:
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name[:2] != "__"]
    except (TypeError, KeyError, IndexError):
        ends = [-1]
    if not all(isinstance(end, int) and 0 <= end < 1 << 62 for end in ends):
        raise ModelError("the file is damaged; get it again.")
    return max(ends, default=0)


def parse_json(text: str) -> Any:
    """The value of a JSON text; invalid or deeply nested texts raise an error."""
    depth = 0
    for bracket in _BRACKETS.finditer(_TEXT.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > _DEEPEST:
            raise ModelError(f"the file's JSON is nested more than {_DEEPEST} levels deep.")
    try:
        found = json.loads(text)
        if _SURROGATE.search(text):
            json.dumps(found, ensure_ascii=False).encode()  # fails for lone surrogates
    except (ValueError, RecursionError):
        raise ModelError("the file is damaged; get it again.") from None
    return found


def with_zeros(
    places: NDArray[np.generic], values: NDArray[np.generic], length: int
) -> NDArray[Any]:
    """A dense array from values and their increasing indices."""
    fits = places.dtype == np.uint32 and places.ndim == 1 and places.shape == values.shape
    if not fits or (np.diff(places.astype(np.int64), append=length) <= 0).any():
        raise ModelError("the file is damaged; get it again.")
    if length * values.itemsize > physical_memory():
        raise ModelError(
            f"an array needs {length * values.itemsize * 1e-9:,.1f} GB, and this machine has "
            f"{physical_memory() * 1e-9:,.1f} GB of memory."
        )
    whole: NDArray[Any] = np.zeros(length, dtype=values.dtype)
    whole[places] = values
    return whole


def checksum_of(text: str, tensors: Tensors) -> NDArray[np.uint8]:
    """A checksum of a file's text and of the arrays' names and bytes."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensors[name]).view(np.uint8).data)
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def layout_of(tensors: Tensors) -> NDArray[np.uint8]:
    """A checksum of the arrays' names, types and shapes."""
    layout = [(name, tensors[name].dtype.str, tensors[name].shape) for name in sorted(tensors)]
    digest = hashlib.sha256(json.dumps(layout).encode()).digest()
    return np.frombuffer(digest, dtype=np.uint8)
