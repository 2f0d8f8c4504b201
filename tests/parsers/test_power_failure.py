"""A power failure at any moment of a training leaves a model or a checkpoint that can be read.

What `arbora.data.output` does to the disk is recorded while a parser is trained and saved. Then
the power fails after each of these steps, in every way that the disk is free to have things:
contents that were not synced are gone, or are there; changes of names that were not synced are
done or not, each on its own.
"""

from __future__ import annotations

import io
import itertools
import os
import stat

import pytest

import arbora
from arbora import ModelError, Parser
from arbora.data import output
from arbora.fitting import fit as fitting
from arbora.fitting.checkpoint import Checkpoint
from tests.small_parsers import SMALL, sentences

PIECES = 3  # that each write is cut into


class Recorder:
    """Does everything to the real disk, and writes down what it did."""

    def __init__(self, monkeypatch):
        self.steps, self._real = [], {name: getattr(os, name) for name in ("fsync", "unlink")}
        self._replace = os.replace
        self._files = {}  # inode: number of the file, since inodes are used again
        monkeypatch.setattr(output, "_new_file", self._new_file)
        monkeypatch.setattr(os, "fsync", self._fsync)
        monkeypatch.setattr(os, "unlink", self._unlink)
        monkeypatch.setattr(os, "replace", self._rename)

    def _new_file(self, path):
        recorder = self

        class File(io.FileIO):
            def write(self, data):
                piece = max(1, len(data) // PIECES)
                written = super().write(memoryview(data)[:piece])
                recorder.steps.append(("write", number, bytes(memoryview(data)[:written])))
                return written

        file, number = File(path, "xb"), len(self.steps)
        self._files[os.fstat(file.fileno()).st_ino] = number
        self.steps.append(("name", path.name, number))
        return io.BufferedWriter(file)

    def _fsync(self, descriptor):
        self._real["fsync"](descriptor)
        status = os.fstat(descriptor)
        folder = stat.S_ISDIR(status.st_mode)
        self.steps.append(("sync names",) if folder else ("sync", self._files[status.st_ino]))

    def _unlink(self, path, **options):
        self._real["unlink"](path, **options)  # which has found it, or raised
        self.steps.append(("forget", os.path.basename(path)))  # noqa: PTH119  # may be a text

    def _rename(self, source, target, **options):
        self._replace(source, target, **options)
        self.steps.append(("rename", source.name, target.name))


class Disk:
    """What is certain to be there after a power failure, and what may be."""

    def __init__(self, files):
        self.names = {name: name for name in files}  # name: file
        self.synced = dict(files)  # file: contents
        self.contents = dict(files)
        self.pending = []  # changes of names that were not synced

    def do(self, step):
        match step:
            case ("write", file, data):
                self.contents[file] = self.contents.get(file, b"") + data
            case ("sync", file):
                self.synced[file] = self.contents.get(file, b"")
            case ("sync names",):
                self.names, self.pending = self._renamed(self.pending), []
            case _:
                self.pending.append(step)

    def _renamed(self, changes):
        """Names after some changes; a file that is renamed need not have had its first name yet."""
        names = dict(self.names)
        of_name = dict(self.names) | {s[1]: s[2] for s in self.pending if s[0] == "name"}
        for change in changes:
            match change:
                case ("name", name, file):
                    names[name] = file
                case ("forget", name):
                    names.pop(name, None)
                case ("rename", source, target):
                    names.pop(source, None)
                    names[target] = of_name[source]
        return names

    def failures(self):
        """All that may be found when the power is back: lists of names with contents."""
        for count in range(len(self.pending) + 1):
            for changes in itertools.combinations(self.pending, count):
                for contents in (self.synced, self.contents):
                    names = self._renamed(changes)
                    yield {name: contents.get(file, b"") for name, file in names.items()}


class Judge:
    """Says which of the files that were found can be read."""

    def __init__(self, folder, fingerprint):
        self._folder, self._fingerprint, self._known = folder, fingerprint, {}

    def whole(self, found):
        return {name: self._is_whole(name, found[name]) for name in found if name[0] != "."}

    def _is_whole(self, name, contents):
        if (name, contents) not in self._known:
            path = self._folder / name
            path.write_bytes(contents)
            try:
                if name == "model":
                    arbora.load(path)
                else:
                    Checkpoint(path, self._fingerprint).read()
                self._known[name, contents] = True
            except ModelError:
                self._known[name, contents] = False
        return self._known[name, contents]


def train(folder, options):
    """Trains with checkpoints and saves; the checkpoints' fingerprint."""
    fingerprints = set()

    class Noted(Checkpoint):
        def write(self, *arguments):
            fingerprints.add(self.fingerprint)
            super().write(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "Checkpoint", Noted)
        parser = Parser(**options).fit(
            sentences("train", 30), sentences("dev", 10), checkpoint=folder / "model"
        )
    parser.save(folder / "model")
    [fingerprint] = fingerprints
    return fingerprint


@pytest.mark.parametrize("before", ["nothing", "a model"])
@pytest.mark.parametrize("order", ["first", "sibling"])
def test_a_power_failure_after_each_step(tmp_path, monkeypatch, before, order):
    folder, after = tmp_path / "disk", tmp_path / "after"
    folder.mkdir()
    after.mkdir()
    options = SMALL | {"bits": 10, "label_bits": 4, "passes": 3, "patience": 9, "order": order}
    if before == "a model":
        Parser(**(options | {"seed": 1})).fit(sentences("train", 30)).save(folder / "model")
    disk = Disk({path.name: path.read_bytes() for path in folder.iterdir()})
    recorder = Recorder(monkeypatch)
    judge = Judge(after, train(folder, options))
    monkeypatch.undo()
    new_model = (folder / "model").read_bytes()
    renamed = checkpointed = False
    for step in recorder.steps:
        disk.do(step)
        checkpointed |= renamed and step[0] == "name"  # the first one is written, a second begins
        renamed |= step[0] == "rename"
        for found in disk.failures():
            whole = judge.whole(found)
            assert all(whole.values()), (step, whole)  # what has its final name is whole
            assert "model" in whole or before == "nothing", step
            if checkpointed:  # an old model does not have what was learnt since
                assert "model.checkpoint" in whole or found.get("model") == new_model, step
    # Three passes, four of a pruner, and the model: created, written, synced, renamed, synced.
    files = {"first": 4, "sibling": 8}[order]
    kinds = [step[0] for step in recorder.steps]
    assert [kinds.count(kind) for kind in ("name", "rename", "sync", "sync names")] == [files] * 4
    assert kinds.count("write") > files
    assert kinds.count("forget") == 1
