"""Checks of file arguments; `-` is standard input."""

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
        raise ArgumentError("standard input (-) can be used for one file only.")


def check_writable(path: str) -> None:
    """Raises an error for a path that cannot be written to, before any work is done."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise unwritable(path, IsADirectoryError("it is a folder"))
    if target.exists() and not os.access(target, os.W_OK):
        raise unwritable(path, PermissionError("permission denied"))
    if target.exists() and not target.is_file():
        return  # a device or a pipe
    try:
        # The file is written under a temporary name in the same folder; try that.
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise unwritable(path, error) from None


def check_not_an_input(output: str, *inputs: str | None) -> None:
    """Raises an error if the output would overwrite an input."""
    written = Path(output)
    for path in map(Path, filter(None, inputs)):
        if written.exists() and path.exists() and written.samefile(path):
            raise ArgumentError(f"{output} is read by this command: give the output another name.")


def report_skipped(error: Exception) -> None:
    """Reports a malformed sentence that is skipped."""
    tell(f"skipped: {error}")


def size_text(n_bytes: int) -> str:
    """A readable size: 312 kB, 4.1 MB."""
    if n_bytes < 1_000_000:
        return f"{max(1, round(n_bytes / 1000))} kB"
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.2f} GB"
