"""Small tables of names, one row per line: Arbora's own, or a file of the user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from arbora.data.source import check_path
from arbora.errors import ArgumentError, DataError, unreadable

__all__ = ["TableName", "built_in_names", "table_rows"]

TableName = str | os.PathLike[str]

_FOLDER = Path(__file__).parent / "built_in"
_COMMENT = "##"  # a single # is a tag of the Penn Treebank
_LARGEST = 10_000_000  # bytes


def built_in_names(kind: str) -> list[str]:
    """The names of Arbora's own tables of a kind, which is the ending of their files."""
    return sorted(path.stem for path in _FOLDER.glob(f"*.{kind}"))


def table_rows(name: TableName, kind: str, what: str) -> Iterator[tuple[int, str]]:
    """The rows of a table with the numbers of their lines, without comments and blank lines.

    `name` is that of one of Arbora's tables, or a path. `what` describes such a table in messages.
    """
    own = built_in_names(kind)
    if not isinstance(name, str | os.PathLike):
        raise ArgumentError(f"{what} must be a name or a path, not {name!r}.")
    path = _FOLDER / f"{name}.{kind}" if name in own else Path(name)
    check_path(path)
    if not path.exists():
        raise ArgumentError(
            f"there is no {what} {os.fspath(name)!r}: choose {' or '.join(own)}, or give a file."
        )
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise unreadable(os.fspath(name), error) from error
    if len(data) > _LARGEST:
        raise ArgumentError(f"{os.fspath(name)} is too large for a {what}.")
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            row = line.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            raise DataError("the line is not UTF-8; convert the file", str(name), number) from error
        if row and not row.startswith(_COMMENT):
            yield number, row
