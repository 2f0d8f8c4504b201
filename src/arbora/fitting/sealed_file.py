"""Files of interrupted work: arrays and a text, tied to the data and options they belong to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from safetensors.numpy import save as save_tensors

from arbora.data import open_output
from arbora.data.temporary_files import remove_leftovers
from arbora.errors import FileError, ModelError
from arbora.models.tensor_file import (
    Tensors,
    checksum_of,
    layout_of,
    parse_tensors,
    read_contents,
)
from arbora.options import spelled

__all__ = ["read_sealed", "remove_sealed", "write_sealed"]

Answer = TypeVar("Answer")

_DAMAGE = (
    FileError, KeyError, ValueError, TypeError, IndexError, AttributeError, MemoryError,
    OverflowError,
)  # fmt: skip


def write_sealed(path: Path, fingerprint: str, text: str, tensors: Tensors) -> None:
    """Replaces the file atomically."""
    metadata = {
        "fingerprint": fingerprint, "history": text,
        "checksum": checksum_of(text, tensors).tobytes().hex(),
        "layout": layout_of(tensors).tobytes().hex(),
    }  # fmt: skip
    with open_output(path, durable=True) as write:
        write(save_tensors(tensors, metadata))


def remove_sealed(path: Path) -> None:
    """Removes the file, if it is there, and its temporary files."""
    path.unlink(missing_ok=True)
    remove_leftovers(path)


def read_sealed(path: Path, fingerprint: str, build: Callable[[str, Tensors], Answer]) -> Answer:
    """What `build` makes of the text and the arrays.

    Raises `ModelError` if the file is missing, damaged, or belongs to another fingerprint.
    """
    if not path.exists():
        raise ModelError(f"{path}: there is no checkpoint; train without {spelled('resume')}.")
    try:
        metadata, tensors = parse_tensors(read_contents(path))
        text = metadata["history"]
        layout = layout_of(tensors).tobytes().hex()
        if metadata.get("layout", layout) != layout:  # older checkpoints have none
            raise ValueError("altered or damaged")
        if metadata["checksum"] != checksum_of(text, tensors).tobytes().hex():
            raise ValueError("altered or damaged")
        if metadata.get("fingerprint") == fingerprint:
            return build(text, tensors)
    except _DAMAGE:
        raise ModelError(
            f"{path}: the checkpoint is incomplete or damaged; start a new training."
        ) from None
    raise ModelError(
        f"{path}: the checkpoint belongs to other data or options; train without "
        f"{spelled('resume')}."
    )
