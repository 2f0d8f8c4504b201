"""Parsing of many files into a folder: resumable, in shards, with a manifest.

The output folder mirrors the input. Each output file is written aside and renamed, and then a
record of it: so a file with a record is finished. `.arbora/run.json` says which model and options
the folder belongs to, and a run with others is refused. `manifest.jsonl` has all records. Nothing
in the folder depends on when or how often the run was interrupted.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from arbora.corpus.files import CorpusFile
from arbora.data.compression import COMPRESSIONS, compression_named, without_ending
from arbora.data.output import open_output
from arbora.errors import ArboraError, ArgumentError, FileError, unreadable
from arbora.models.vocabulary import Unfamiliar
from arbora.options import spelled
from arbora.spread import Spread, one_after_another

__all__ = ["FileFigures", "FolderRun", "RunSummary", "output_name", "sharded"]

LOG = logging.getLogger("arbora")
LOG.addHandler(logging.NullHandler())  # silent unless the caller wants to see the log
_OWN = ".arbora"
_RUN = "run.json"
_MANIFEST = "manifest.jsonl"
_AT_ONCE = 1 << 20
_TEXT = (".txt", ".text")
_FULL = {errno.ENOSPC, errno.EDQUOT}
_OF_ONE_FILE = (ArboraError, OSError, MemoryError, UnicodeError)  # other files may be fine


@dataclass
class FileFigures:
    """What parsing a file gave; a function that parses files fills it in."""

    sentences: int = 0
    words: int = 0
    certified: int = 0
    fallbacks: dict[str, int] = field(default_factory=dict)  # by reason
    skipped: dict[str, int] = field(default_factory=dict)  # malformed sentences, by reason
    messages: list[str] = field(default_factory=list)  # for the log; they are not in the record
    seen: Unfamiliar | None = None  # what the training data did not have; not in the record

    def record(self) -> dict[str, Any]:
        """The figures of the manifest."""
        return {
            "sentences": self.sentences, "words": self.words, "certified": self.certified,
            "fallbacks": self.fallbacks, "skipped": self.skipped,
        }  # fmt: skip


@dataclass
class RunSummary:
    """What a run did; `failed` has the reason for each file that was not parsed."""

    files: int = 0
    parsed: int = 0
    finished_before: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    sentences: int = 0
    words: int = 0
    certified: int = 0
    fallbacks: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, figures: FileFigures) -> None:
        """Adds those of a file."""
        self.parsed += 1
        self.sentences += figures.sentences
        self.words += figures.words
        self.certified += figures.certified
        for own, other in ((self.fallbacks, figures.fallbacks), (self.skipped, figures.skipped)):
            for reason, number in other.items():
                own[reason] = own.get(reason, 0) + number

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, with the speed."""
        speed = self.words / self.seconds if self.seconds > 0 else None
        return asdict(self) | {"words_per_second": speed}


ParseFile = Callable[[Path, str], FileFigures]


class FolderRun:
    """An output folder that belongs to a model and options, given as their fingerprint."""

    def __init__(self, folder: str | os.PathLike[str], fingerprint: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self._own = self.folder / _OWN
        self._claim(fingerprint)

    def _claim(self, fingerprint: dict[str, Any]) -> None:
        """Creates the folder, or checks that it belongs to the same model and options."""
        place = self._own / _RUN
        try:
            if self.folder.exists() and not self.folder.is_dir():
                raise FileError(f"{self.folder} is not a folder: choose another output folder.")
            if not place.exists():
                others = [path for path in _entries(self.folder) if path.name != _OWN]
                if others:
                    raise FileError(
                        f"{self.folder} has other files in it, such as {others[0].name}: choose "
                        "another output folder."
                    )
                self._own.mkdir(parents=True, exist_ok=True)
                with open_output(place, durable=True) as write:
                    write(_json(fingerprint))
            known = json.loads(place.read_bytes())
        except ValueError as error:
            if isinstance(error, ArboraError):
                raise
            raise FileError(f"{place} is damaged: choose another output folder.") from error
        except OSError as error:
            if isinstance(error, ArboraError):
                raise
            raise unreadable(os.fspath(self.folder), error) from error
        for name in sorted({*fingerprint, *known}):
            old = known.get(name)
            if old != fingerprint.get(name):
                raise ArgumentError(
                    f"{self.folder} belongs to a run {_with(name, old)}: choose another output "
                    "folder."
                )

    def parse(
        self,
        files: Iterable[CorpusFile],
        parse_file: ParseFile,
        compression: str | None = None,
        on_file: Callable[[CorpusFile, FileFigures | None], object] | None = None,
        spread: Spread = one_after_another,
    ) -> RunSummary:
        """Parses all files that are not finished; a failed file does not stop the others.

        `on_file` is called after each file, with its figures if it was parsed. `spread` gets large
        files first, so that none of them is left for the end.
        """
        named = _named(files, compression)
        order = list(range(len(named)))
        if spread is not one_after_another:
            order.sort(key=lambda place: -_size(named[place][0].path))
        summary, failed = RunSummary(files=len(named)), {}
        tasks = [named[place] for place in order]
        for number, answer in spread(_parse_unfinished, (self, parse_file), tasks):
            place = order[number]
            file, _ = named[place]
            if isinstance(answer, Exception):
                if _disk_is_full(answer) or not isinstance(answer, _OF_ONE_FILE):
                    raise answer
                failed[place] = _reason(answer)
                LOG.error("%s: %s", file.name, failed[place])
            elif answer is None:
                summary.finished_before += 1
                LOG.info("%s is finished", file.name)
            else:
                summary.add(answer)
                for message in answer.messages:
                    LOG.warning("skipped: %s", message)
                LOG.info("%s: %d sentences, %d words", file.name, answer.sentences, answer.words)
            if on_file is not None:
                on_file(file, answer if isinstance(answer, FileFigures) else None)
        summary.failed = {named[place][0].name: failed[place] for place in sorted(failed)}
        self._write_manifest()
        return summary

    def _parse_one(self, file: CorpusFile, name: str, parse_file: ParseFile) -> FileFigures:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        before = _checksum(file.path)
        figures = parse_file(file.path, os.fspath(target))
        if _checksum(file.path) != before:
            target.unlink(missing_ok=True)
            raise FileError(f"{file.path} was changed while it was parsed: run the command again.")
        record = {
            "input": file.name, "input_sha256": before, "output": name,
            "output_sha256": _checksum(target), **figures.record(),
        }  # fmt: skip
        place = self._record(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        with open_output(place) as write:
            write(_json(record))
        return figures

    def _is_finished(self, file: CorpusFile, name: str) -> bool:
        """Whether there is a record of this input, and the output is as it was written."""
        try:
            record = json.loads(self._record(name).read_bytes())
        except (OSError, ValueError):
            return False
        target = self.folder / name
        return (
            isinstance(record, dict)
            and target.is_file()
            and record.get("input") == file.name
            and record.get("input_sha256") == _checksum(file.path)
            and record.get("output_sha256") == _checksum(target)
        )

    def _record(self, name: str) -> Path:
        return self._own / "files" / f"{name}.json"

    def _write_manifest(self) -> None:
        """All records, one per line, in order of their names."""
        records = sorted((self._own / "files").rglob("*.json"))
        with open_output(self.folder / _MANIFEST) as write:
            for place in records:
                write(place.read_bytes())


def _parse_unfinished(
    shared: tuple[FolderRun, ParseFile], named: tuple[CorpusFile, str]
) -> FileFigures | None:
    """Parses a file of a run, unless it is finished."""
    run, parse_file = shared
    file, name = named
    if run._is_finished(file, name):  # noqa: SLF001  # as a function, it can be sent elsewhere
        return None
    return run._parse_one(file, name, parse_file)  # noqa: SLF001


def sharded(files: list[CorpusFile], shard: str | None) -> list[CorpusFile]:
    """The files of a shard `i/n`: every n-th from the i-th on."""
    if shard is None:
        return files
    first, _, last = shard.partition("/")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise ArgumentError(f"a shard is written as i/n, from 1/n to n/n, not {shard!r}.")
    return files[int(first) - 1 :: int(last)]


def output_name(name: str, compression: str | None = None) -> str:
    """The name of the output for an input: text becomes .conllu, and the compression stays.

    `compression` is another one (gz, zst, ...), or `none`.
    """
    found = compression_named(name)
    plain = without_ending(name)
    for ending in _TEXT:
        plain = plain.removesuffix(ending) + ".conllu" if plain.endswith(ending) else plain
    if compression is None:
        return plain + (found.ending if found is not None else "")
    if compression == "none":
        return plain
    endings = {kind.ending.removeprefix("."): kind.ending for kind in COMPRESSIONS}
    if compression not in endings:
        raise ArgumentError(
            f"there is no compression {compression!r}: choose {', '.join(endings)} or none."
        )
    return plain + endings[compression]


def _named(files: Iterable[CorpusFile], compression: str | None) -> list[tuple[CorpusFile, str]]:
    """Each file with its output's name; two must not have the same."""
    seen: dict[str, CorpusFile] = {}
    answer = []
    for file in files:
        name = output_name(file.name, compression)
        if name in seen:
            raise ArgumentError(
                f"{seen[name].name} and {file.name} would both be written to {name}: parse them "
                "into two folders."
            )
        seen[name] = file
        answer.append((file, name))
    return answer


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # its task will say so
        return 0


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(_AT_ONCE):
                digest.update(piece)
    except OSError as error:
        raise unreadable(os.fspath(path), error) from error
    return digest.hexdigest()


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n").encode()


def _with(name: str, value: Any) -> str:
    """What another run was made with, in words."""
    if name == "model":
        return "with another model"
    if name == "version":
        return f"of Arbora {value}"
    if value is None or value is False:
        return f"without {spelled(name)}"
    return f"with {spelled(name, None if value is True else value)}"


def _disk_is_full(error: BaseException) -> bool:
    known = [error, error.__cause__]
    return any(isinstance(one, OSError) and one.errno in _FULL for one in known)


def _reason(error: BaseException) -> str:
    return str(error) or "there is not enough memory"
