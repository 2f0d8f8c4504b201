"""Lists of arrays: the core packs plain ones, Python all others, and the answers are the same."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from arbora import ArboraError
from arbora.inference import batch as batches
from arbora.inference.packing import pack_list
from tests.helpers import random_scores
from tests.inference.test_batch import answers_of

SWAPPED = ">f8" if sys.byteorder == "little" else "<f8"


def padded(array):
    """The same numbers as a view of a larger array."""
    larger = np.zeros(tuple(size + 1 for size in array.shape))
    view = larger[tuple(slice(size) for size in array.shape)]
    view[...] = array
    return view


def misaligned(array):
    """The same numbers at an odd address."""
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64).reshape(array.shape)
    view[...] = array
    return view


UNUSUAL = {
    "rows": lambda array: array.tolist(),
    "Fortran": np.asfortranarray,
    "view": padded,
    "misaligned": misaligned,
    "swapped": lambda array: array.astype(SWAPPED),
    "subclass": lambda array: array.view(np.memmap),
    "buffer": memoryview,
}


def by_python(monkeypatch, make):
    """The same without the core's way."""
    with monkeypatch.context() as patch:
        patch.setattr(batches, "pack_list", lambda *_: None)
        patch.setattr("arbora.inference.packing.pack_list", lambda *_: None)
        return make()


def test_a_list_is_the_same_as_an_array(kind, root, rng):
    stack = np.stack([random_scores(rng, 10, 2.0, 0.2) for _ in range(20)])
    values = rng.normal(size=stack.shape)
    listed = answers_of(kind.batch(list(stack), root), values)
    assert listed == answers_of(kind.batch(stack, root), values)


@pytest.mark.parametrize("n_labels", [None, 1, 3])
def test_both_ways_give_the_same(kind, root, rng, n_labels, monkeypatch):
    scores = [random_scores(rng, n, 2.0, 0.2, n_labels) for n in (3, 1, 12, 7)]
    assert pack_list(scores, kind.trees, root, 1) is not None
    core = kind.batch(scores, root)
    python = by_python(monkeypatch, lambda: kind.batch(scores, root))
    assert [m.shape for m in core.marginals] == [s.shape for s in scores]
    for a, b in zip(core.marginals, python.marginals, strict=True):
        assert a.tobytes() == b.tobytes()
    assert core.argmax() == python.argmax()
    assert core.sample(3, seed=1)[2][0].tolist() == python.sample(3, seed=1)[2][0].tolist()


@pytest.mark.parametrize("change", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_unusual_arrays_are_converted_in_python(kind, root, rng, change):
    scores = [random_scores(rng, n, 2.0) for n in (4, 9, 2)]
    mixed = [scores[0], change(scores[1]), scores[2]]
    assert pack_list(mixed, kind.trees, root, 1) is None
    assert kind.batch(mixed, root).log_partition == kind.batch(scores, root).log_partition


def test_scores_are_copied_and_read_only_arrays_will_do(kind, root, rng):
    scores = [random_scores(rng, 5, 2.0) for _ in range(3)]
    before = [array.copy() for array in scores]
    scores[1].setflags(write=False)
    batch = kind.batch(scores, root)
    expected = kind.batch(before, root).log_partition
    assert all((a == b).all() for a, b in zip(scores, before, strict=True))
    scores[0][:] = 0.0
    assert batch.log_partition == expected


BAD = {
    "NaN": np.array([[0, 1.0], [0, np.nan]]).repeat(2, 0).repeat(2, 1),
    "infinite": np.full((3, 3), np.inf),
    "huge": np.full((3, 3), 1e300),
    "no tree": np.full((3, 3), -np.inf),
    "no root": np.zeros((2, 3)),
    "no words": np.zeros((1, 1)),
    "labels": np.zeros((3, 3, 2)),
    "no labels": np.zeros((3, 3, 0)),
    "complex": np.zeros((3, 3), complex),
    "masked": np.ma.masked_array(np.zeros((3, 3)), False),
    "text": "abc",
    "none": None,
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_both_ways_give_the_same_errors(kind, root, rng, bad, monkeypatch):
    scores = [random_scores(rng, 3, 2.0), bad, random_scores(rng, 2, 2.0)]

    def attempt():
        with pytest.raises(ArboraError) as caught:
            kind.batch(scores, root)
        returned = kind.batch(scores, root, errors="return").log_partition
        assert str(returned[1]) == str(caught.value)
        return type(caught.value), str(caught.value), returned[0], returned[2]

    kind_of_error, message, *others = attempt()
    assert message.startswith("sentence 1: ")
    assert (kind_of_error, message, *others) == by_python(monkeypatch, attempt)


def test_lists_that_do_not_fit_into_memory(kind, monkeypatch):
    monkeypatch.setattr("arbora.inference.packed.physical_memory", lambda: 1000)
    one = np.zeros((5, 5))
    assert len(kind.batch([one] * 5)) == 5
    with pytest.raises(ArboraError, match="the scores take"):
        kind.batch([one] * 6)
