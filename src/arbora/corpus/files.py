"""The files of a corpus: files, and folders with all files below them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from arbora.data.source import check_path
from arbora.errors import ArgumentError, FileError, unreadable

__all__ = ["CorpusFile", "corpus_files"]


@dataclass(frozen=True)
class CorpusFile:
    """A file of a corpus, and its name relative to the folder that was given (or to its own)."""

    path: Path
    name: str


def corpus_files(paths: Iterable[str | os.PathLike[str]]) -> list[CorpusFile]:
    """The files in order of their names, those of a folder in its place.

    Hidden files and folders are left out. Two files must not have the same name.
    """
    found: list[CorpusFile] = []
    for given in paths:
        check_path(given)
        path = Path(given)
        if path.is_dir():
            own = [CorpusFile(file, file.relative_to(path).as_posix()) for file in _below(path)]
            if not own:
                raise FileError(f"{path} has no files.")
            found += own
        elif path.exists():
            found.append(CorpusFile(path, path.name))
        else:
            raise unreadable(os.fspath(given), FileNotFoundError("no such file or directory"))
    seen: dict[str, CorpusFile] = {}
    for file in found:
        if file.name in seen:
            raise ArgumentError(
                f"{seen[file.name].path} and {file.path} have the same name, {file.name}: give "
                "folders above them, or parse them in two runs."
            )
        seen[file.name] = file
    return found


def _below(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise unreadable(os.fspath(folder), error) from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _below(entry)
        elif entry.is_file():
            yield entry
