"""Files as arguments; `-` is standard input."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from arbora.cli.terminal import tell
from arbora.errors import ArgumentError, unwritable

__all__ = ["check_not_an_input", "check_one_input", "check_writable", "report_skipped", "size_text"]


def check_one_input(*paths: str) -> None:
    """Standard input can be read only once."""
    if paths.count("-") > 1:
        raise ArgumentError("standard input (-) can stand for one file only")


def check_writable(path: str) -> None:
    """Refuses a path that could not be written to, before the work whose result it is to take."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise unwritable(path, IsADirectoryError("it is a folder"))
    if target.exists() and not os.access(target, os.W_OK):
        raise unwritable(path, PermissionError("permission denied"))
    if target.exists() and not target.is_file():
        return  # a device or a pipe
    try:
        # What is written aside first needs room in the folder; only trying tells.
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise unwritable(path, error) from None


def check_not_an_input(output: str, *inputs: str | None) -> None:
    """Refuses to write over a file that the same command reads."""
    written = Path(output)
    for path in map(Path, filter(None, inputs)):
        if written.exists() and path.exists() and written.samefile(path):
            raise ArgumentError(f"{output} is read by this command: give the output another name.")


def report_skipped(error: Exception) -> None:
    """Says which malformed sentence is left out."""
    tell(f"skipped: {error}")


def size_text(n_bytes: int) -> str:
    """A size for people: 312 kB, 4.1 MB."""
    if n_bytes < 1_000_000:
        return f"{max(1, round(n_bytes / 1000))} kB"
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.2f} GB"
