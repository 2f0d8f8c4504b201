"""Scores from anything that holds an array."""

from __future__ import annotations

import array

import numpy as np
import pytest

from arbora import ShapeError


class OnlyDLPack:
    """Another framework's array: speaks DLPack and nothing else."""

    def __init__(self, data):
        self.data = data

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


@pytest.mark.parametrize("make", [
    lambda s: s.tolist(),
    lambda s: s.astype(np.float32),
    np.asfortranarray,
    lambda s: s[::1, ::1].T.copy().T,
    lambda s: memoryview(s),
    OnlyDLPack,
    lambda s: np.repeat(np.repeat(s, 2, axis=0), 2, axis=1)[::2, ::2],
])  # fmt: skip
def test_kinds_of_array(kind, make, rng):
    scores = rng.normal(size=(5, 5)).astype(np.float32).astype(float)
    assert kind(make(scores)).log_partition == kind(scores).log_partition


def test_integers_and_flat_buffers(kind):
    assert kind([[0, 1, 2], [0, 0, 3], [0, 4, 0]]).argmax().score == 6
    with pytest.raises(ShapeError):
        kind(array.array("d", [0.0] * 9))


def test_heads_and_labels_over_dlpack(kind, rng):
    trees = kind(rng.normal(size=(4, 4, 2)))
    heads, labels = np.array([0, 1, 2]), np.array([1, 0, 1])
    answer = trees.log_prob(OnlyDLPack(heads), OnlyDLPack(labels))
    assert isinstance(answer, float)
    assert answer == trees.log_prob(heads, labels)


def test_torch_tensors(kind):
    torch = pytest.importorskip("torch")
    scores = torch.zeros(4, 4)
    assert kind(scores).log_partition == kind(np.zeros((4, 4))).log_partition
    with pytest.raises(ShapeError, match="grad"):
        kind(torch.zeros(4, 4, requires_grad=True))
