"""The file that the page edits, and the journal of its changes.

Every change is in the journal, on the disk, before it is answered. The file itself changes only
when it is saved: written aside, then renamed. The next start reads the file and repeats the
journal, so that a killed server loses at most the change that it had not answered.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arbora.data import Block, read_conllu
from arbora.data.compression import compression_named
from arbora.data.formats import layout_named
from arbora.data.temporary_files import remove_leftovers, temporary_path
from arbora.errors import ArboraError, ArgumentError, FileError, unreadable, unwritable
from arbora.server.refusals import ConflictError, RefusedError
from arbora.server.settings import Suggestion

__all__ = ["Document", "Item", "journal_path"]

_VERSION = 1
_FORMATS = ("conllu", "conllx")  # of ten columns, which the page can change


@dataclass
class Item:
    """A sentence: its text in the file, and what the page knows of it.

    `state` has the arcs and tags that the annotator has fixed, the arcs that are forbidden, and
    whether the sentence is accepted. `key` is its number at the start, which splitting keeps.
    """

    text: str
    key: int
    state: dict[str, Any] = field(default_factory=dict)


def journal_path(file: Path) -> Path:
    """The journal beside a file."""
    return file.with_name(f"{file.name}.journal")


class Document:
    """The sentences of a file, with changes that survive the process."""

    def __init__(self, path: str, order: Sequence[Suggestion] | None = None) -> None:
        self.path = Path(path)
        if compression_named(path) is not None:
            raise ArgumentError(f"{path} is compressed: unpack it to work on it.")
        self._lock = threading.Lock()
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise unreadable(path, error) from error
        self.format, self.items = _read(data, path)
        self._base, self._next_key = _digest(data), len(self.items)
        self._originals = {item.key: item.text for item in self.items}
        self.revision, self.changed = 0, False
        self._first_revision = 0  # of the journal; revisions go on after a restart
        self.order = _checked_order(order, len(self.items), path)
        self._journal = self._open_journal()

    # Reading

    def describe(self) -> dict[str, Any]:
        """The document as a whole, with the order in which its sentences are to be looked at."""
        with self._lock:
            return {
                "name": self.path.name,
                "format": self.format,
                "sentences": len(self.items),
                "accepted": sum(bool(item.state.get("accepted")) for item in self.items),
                "revision": self.revision,
                "changed": self.changed,
                "base": self._base,
                "order": None if self.order is None else [vars(one) for one in self.order],
            }

    def page(self, start: int, count: int) -> dict[str, Any]:
        """Some sentences, from `start`, which counts from 0."""
        with self._lock:
            found = [
                vars(item) | {"original": self._originals.get(item.key, "")}
                for item in self.items[start : start + count]
            ]
            return {"revision": self.revision, "start": start, "items": found}

    def text(self) -> str:
        """The document as it would be saved."""
        with self._lock:
            return "".join(item.text for item in self.items)

    def accepted(self) -> list[str]:
        """The texts of the accepted sentences."""
        with self._lock:
            return [item.text for item in self.items if item.state.get("accepted")]

    # Changing

    def change(self, revision: int, start: int, removed: int, items: list[dict[str, Any]]) -> int:
        """Replaces some sentences by others, in the journal first; returns the new revision."""
        with self._lock:
            if revision != self.revision:
                raise ConflictError(
                    f"the document has changed in another window (revision {self.revision}, not "
                    f"{revision}): reload the page."
                )
            if not 0 <= start <= start + removed <= len(self.items) or not (removed or items):
                raise RefusedError(f"there are {len(self.items)} sentences in the document.")
            for item in items:
                self._check(item["text"], start + removed == len(self.items))
            self._append({"start": start, "removed": removed, "items": items})
            self._apply(start, removed, items)
            return self.revision

    def save(self) -> dict[str, Any]:
        """Writes the file, and begins a new journal with the states of its sentences."""
        with self._lock:
            data = "".join(item.text for item in self.items).encode()
            digest = _digest(data)
            self._append({"saved": digest})
            _replace(self.path, data)
            self._base, self.changed = digest, False
            self._originals = {item.key: item.text for item in self.items}
            self._first_revision = self.revision
            self._journal.close()
            states = [
                {"start": i, "state": item.state} for i, item in enumerate(self.items) if item.state
            ]
            _replace(journal_path(self.path), _lines([self._heading(), *states]))
            self._journal = self._opened()
            return {"revision": self.revision, "bytes": len(data), "file": self.path.name}

    def close(self) -> None:
        """Closes the journal."""
        self._journal.close()

    def _check(self, text: str, at_end: bool) -> None:
        block = Block(text.encode(), layout_named(self.format))
        if len(block) != 1 or block.faults:
            why = block.faults[0][1] if block.faults else f"it has {len(block)} sentences"
            raise ArgumentError(f"this is not one sentence of the document: {why}.")
        if not at_end and not text.replace("\r\n", "\n").endswith("\n\n"):
            raise ArgumentError("a sentence must end in an empty line.")

    def _apply(self, start: int, removed: int, items: list[dict[str, Any]]) -> None:
        keys = [item.key for item in self.items[start : start + removed]][: len(items)]
        while len(keys) < len(items):
            keys.append(self._next_key)
            self._next_key += 1
        made = [
            Item(one["text"], key, one.get("state") or {})
            for one, key in zip(items, keys, strict=True)
        ]
        self.items[start : start + removed] = made
        self.revision += 1
        self.changed = True

    # The journal

    def _heading(self) -> dict[str, Any]:
        about = {"arbora": "journal", "version": _VERSION, "file": self._base}
        return about | {"revision": self._first_revision}

    def _open_journal(self) -> io.BufferedWriter:
        path = journal_path(self.path)
        remove_leftovers(path)
        remove_leftovers(self.path)
        if path.exists():
            self._repeat(path)
        else:
            _replace(path, _lines([self._heading()]))
        return self._opened()

    def _opened(self) -> io.BufferedWriter:
        path = journal_path(self.path)
        try:
            return path.open("ab")
        except OSError as error:
            raise unwritable(path, error) from error

    def _repeat(self, path: Path) -> None:
        """Repeats the changes of the journal; a last line that was cut off is removed."""
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            heading, *entries = [json.loads(line) for line in whole.splitlines()]
            if heading.get("arbora") != "journal" or heading.get("version") != _VERSION:
                raise ValueError
        except (ValueError, AttributeError):
            raise FileError(f"{path} is not a journal of arbora: move it away.") from None
        if heading["file"] != self._base:
            saved = [i for i, one in enumerate(entries) if one.get("saved") == self._base]
            if not saved:  # else the process ended between the two files
                raise FileError(
                    f"{self.path} is not the file that {path.name} has changes of: move one of "
                    "them away."
                )
            done = sum("items" in one for one in entries[: saved[-1]])
            heading["revision"] = heading.get("revision", 0) + done
            entries = entries[saved[-1] + 1 :]
        try:
            self.revision = self._first_revision = int(heading.get("revision", 0))
            for one in entries:
                if "items" in one:
                    self._apply(one["start"], one["removed"], one["items"])
                elif "state" in one:
                    self.items[one["start"]].state = one["state"]
        except (KeyError, IndexError, TypeError):
            raise FileError(f"{path} is damaged: move it away.") from None
        if len(whole) < len(data) or heading["file"] != self._base:
            _replace(path, _lines([self._heading(), *entries]))

    def _append(self, entry: dict[str, Any]) -> None:
        try:
            self._journal.write(_lines([entry]))
            self._journal.flush()
            os.fsync(self._journal.fileno())
        except OSError as error:
            raise unwritable(journal_path(self.path), error) from error


def _read(data: bytes, name: str) -> tuple[str, list[Item]]:
    """The format of a file, and its sentences, which together are its text."""
    try:
        reader = read_conllu(io.BytesIO(data))
        sentences = list(reader)
    except ArboraError as error:
        raise FileError(f"{name}: {error}") from error
    if not sentences or not reader.format_known:
        raise FileError(f"{name} has no sentences in a format that is known.")
    file_format = sentences[0].format
    if file_format not in _FORMATS:
        raise FileError(f"{name} is {file_format}: convert it to CoNLL-U with arbora convert.")
    items = [Item(bytes(one).decode(), key) for key, one in enumerate(sentences)]
    if "".join(item.text for item in items).encode() != data:
        raise FileError(f"{name} has text outside of its sentences, which would be lost.")
    return file_format, items


def _checked_order(
    order: Sequence[Suggestion] | None, count: int, name: str
) -> list[Suggestion] | None:
    if order is None:
        return None
    for one in order:
        if not 0 <= one.sentence < count:
            raise ArgumentError(
                f"{name} has {count} sentences, counted from 0, and no {one.sentence}."
            )
    return list(order)


def _replace(path: Path, data: bytes) -> None:
    """Writes a file aside and renames it; the old one stays if that fails."""
    aside = temporary_path(path)
    try:
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise unwritable(path, error) from error


def _lines(entries: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=True) + "\n" for one in entries).encode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
