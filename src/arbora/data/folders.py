"""Files of a treebank that is kept in folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from arbora.data.compression import without_ending
from arbora.data.formats import FORMATS, format_named
from arbora.data.source import ReadPath, check_path
from arbora.errors import ArgumentError, FileError, unreadable

__all__ = ["SPLITS", "files_of", "find_splits", "split_of", "treebank_name"]

SPLITS = ("train", "dev", "test")
_ENDINGS = (".conllu", ".conll")


def files_of(
    source: ReadPath | Sequence[ReadPath],
    format: str | None = None,  # noqa: A002  # the public name
) -> list[ReadPath]:
    """A list of files and folders with the files of each folder in its place.

    The files of a folder are those with an ending of the format (of any format, if there is no
    name), also in folders below, in order of their names. The case of endings does not matter, and
    the ending of a compressed file may follow.
    """
    several = isinstance(source, list | tuple)
    given = cast("list[ReadPath]", list(source) if several else [source])  # type: ignore[arg-type]
    if not given:
        raise ArgumentError("there are no files to convert; give at least one.")
    entries = FORMATS.values() if format is None else [format_named(format)]
    endings = tuple(ending for entry in entries for ending in entry.endings)
    files: list[ReadPath] = []
    for path in given:
        folder = _folder(path)
        files += [path] if folder is None or not endings else _files_below(folder, endings)
    return files


def find_splits(folder: Path) -> dict[str, Path]:
    """The files of a folder whose names are or end in train, dev or test (`da_ddt-ud-dev`)."""
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir()):
        split = split_of(file)
        if split is None:
            continue
        if split in found:
            raise ArgumentError(
                f"{folder} has several {split} files, {found[split].name} and {file.name}: "
                "name the files."
            )
        found[split] = file
    if not found:
        raise ArgumentError(
            f"{folder} has no train, dev or test file in .conllu or .conll: name the files."
        )
    return {split: found[split] for split in SPLITS if split in found}


def split_of(file: str | os.PathLike[str]) -> str | None:
    """Train, dev or test, if the name of a treebank's file is or ends in it."""
    stem = _stem(Path(file))
    for split in SPLITS:
        if stem == split or stem.endswith((f"-{split}", f"_{split}", f".{split}")):
            return split
    return None


def treebank_name(file: str | os.PathLike[str]) -> str:
    """The name of a file without its ending and its split, or else that of its folder."""
    stem, split = _stem(Path(file)) or Path(file).stem, split_of(file)
    name = stem if split is None else stem[: -len(split)].rstrip("-_.")
    return name or Path(os.path.realpath(file)).parent.name or stem


def _stem(file: Path) -> str:
    """The name without an ending of treebanks; empty if it has none."""
    name = without_ending(file.name)
    return next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), "")


def _folder(path: ReadPath) -> Path | None:
    if not isinstance(path, str | os.PathLike) or path == "-":
        return None
    check_path(path)
    return Path(path) if Path(path).is_dir() else None


def _files_below(folder: Path, endings: tuple[str, ...]) -> list[ReadPath]:
    try:
        files = sorted(
            path
            for path in folder.rglob("*")
            if without_ending(path.name.lower()).endswith(endings) and path.is_file()
        )
    except OSError as error:
        raise unreadable(folder, error) from error
    if not files:
        raise FileError(f"{folder} has no files that end in {' or '.join(endings)}.")
    return list(files)
