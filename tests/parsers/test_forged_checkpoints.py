"""Checkpoints with valid checksums and invalid contents raise an error and never crash."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from arbora import ArboraError, ModelError, Parser
from arbora.models import tensor_file
from arbora.models.tensor_file import checksum_of, layout_of
from tests.parsers.test_fitting import Stop, Watcher
from tests.small_parsers import sentences

LEARNERS = {
    "adagrad": {},
    "phases": {"learner": "l2+risk"},
    "lbfgs": {"optimizer": "lbfgs"},
    "maxmargin": {"learner": "maxmargin"},
    "siblings": {"order": "sibling"},
}
ODD = [..., None, True, -1, 0, 3, 10**30, 0.5, float("nan"), "x", [], [1], {}, {"a": 1}]


class Forge:
    """A checkpoint after the first pass, and resuming from it."""

    def __init__(self, folder, options):
        self.model, self.path = folder / "model", folder / "model.checkpoint"
        self.options = {"bits": 8, "label_bits": 4, "passes": 2, "threads": 1} | options
        with pytest.raises(Stop):
            self.fit(observer=Watcher(stop_after=1))
        self.contents = self.path.read_bytes()
        self.tensors = load_tensors(self.contents)
        length = int.from_bytes(self.contents[:8], "little")
        self.metadata = json.loads(self.contents[8 : 8 + length])["__metadata__"]
        self.history = json.loads(self.metadata["history"])

    def fit(self, **how):
        parser = Parser(**self.options)
        return parser.fit(sentences("train", 6), sentences("dev", 3), checkpoint=self.model, **how)

    def write(self, tensors=None, history=None, **metadata):
        tensors = self.tensors if tensors is None else tensors
        course = json.dumps(self.history) if history is None else history
        sums = {
            "checksum": checksum_of(course, tensors).tobytes().hex(),
            "layout": layout_of(tensors).tobytes().hex(),
        }
        entries = self.metadata | {"history": course} | sums | metadata
        self.path.write_bytes(save_tensors(tensors, entries))

    def resume(self):
        """The error, or None if the change has no effect."""
        try:
            self.fit(resume=True)
        except ArboraError as error:
            return str(error)
        return None


@pytest.fixture(params=LEARNERS)
def forge(request, tmp_path):
    return Forge(tmp_path, LEARNERS[request.param])


def places(value, at=()):
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else inner:
        yield from places(item, (*at, key))


def altered(value, at, new):
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = new
    if new is ...:
        del inner[at[-1]]
    return json.dumps(copy)


@pytest.mark.parametrize("forge", ["adagrad", "phases", "siblings"], indirect=True)
def test_odd_histories(forge):
    for at in places(forge.history):
        for new in ODD:
            forge.write(history=altered(forge.history, at, new))
            forge.resume()
    for text in ("", "[", "[]", "5", "[" * 100_000, '{"passes": []}'):
        forge.write(history=text)
        assert "incomplete or damaged" in forge.resume()


def test_odd_arrays(forge):
    for name, values in forge.tensors.items():
        largest = 9e37 if values.dtype.kind == "f" else np.iinfo(values.dtype).max
        for new in (
            None, values[:0], values[:-1], values.reshape(1, -1), np.zeros_like(values, np.int16),
            np.zeros_like(values, np.float16), np.full_like(values, largest),
            np.full_like(values, np.nan if values.dtype.kind == "f" else 1),
        ):  # fmt: skip
            tensors = {key: array for key, array in forge.tensors.items() if key != name}
            if new is not None:
                tensors[name] = np.ascontiguousarray(new)
            forge.write(tensors)
            harmless = name == "pruner/learnt" and new is None  # a pruner is learnt again
            assert forge.resume() or harmless or np.array_equal(new, values), (name, new)


def test_types_are_covered(tmp_path):
    forge = Forge(tmp_path, {})
    assert b'"F64"' in forge.contents
    forge.path.write_bytes(forge.contents.replace(b'"F64"', b'"I64"'))
    with pytest.raises(ModelError, match="incomplete or damaged"):
        forge.fit(resume=True)


def test_lengths_are_checked_before_memory_is_taken(tmp_path, monkeypatch):
    forge = Forge(tmp_path, {"bits": 16})
    [name, *_] = [name for name in forge.tensors if name.endswith("#length")]
    for length in (10**11, 1 << 62, -1):
        forge.write(forge.tensors | {name: np.array([length])})
        assert "incomplete or damaged" in forge.resume()
    forge.write()
    monkeypatch.setattr(tensor_file, "physical_memory", lambda: 100)
    assert "incomplete or damaged" in forge.resume()


def test_checkpoints_without_a_layout_are_older(tmp_path):
    forge = Forge(tmp_path, {})
    metadata = {key: value for key, value in forge.metadata.items() if key != "layout"}
    forge.path.write_bytes(save_tensors(forge.tensors, metadata))
    assert forge.resume() is None
