"""The elimination in plain torch, which CUDA tensors use, run on the CPU."""

from __future__ import annotations

import pytest

from tests.torch.batches import LENGTHS, scores_of, torch

from arbora.torch import SpanningTrees, elimination  # isort: skip  # after the skip
from arbora.torch.elimination import Elimination  # isort: skip


@pytest.fixture
def on_device(monkeypatch):
    """Counts the eliminations of a test in which every tensor counts as one of a device."""
    finished = []
    start = Elimination.of.__func__

    def of(cls, *arguments):
        found = start(cls, *arguments)
        finished.append(found is not None)
        return found

    monkeypatch.setattr(elimination, "uses_device", lambda scores: True)  # noqa: ARG005
    monkeypatch.setattr(Elimination, "of", classmethod(of))
    return finished


def answers(scores, root, **lengths):
    """log Z, marginals and a Hessian-vector product."""
    leaf = scores.detach().nan_to_num(0.0, neginf=-torch.inf).requires_grad_()
    trees = SpanningTrees(leaf, root=root, **lengths)
    direction = torch.linspace(-3, 1e6, leaf.numel(), dtype=torch.float64).reshape(leaf.shape)
    (product,) = torch.autograd.grad((trees.marginals * direction).sum(), leaf)
    return trees.log_partition.detach(), trees.marginals.detach(), product * 1e-6


@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize("labels", [None, 2])
@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_same_answers_as_the_host(root, labels, scale, on_device, monkeypatch):
    scores = scores_of(labels, scale=scale)
    found = answers(scores, root, lengths=LENGTHS)
    assert on_device == [True, True]
    monkeypatch.setattr(elimination, "uses_device", lambda scores: False)  # noqa: ARG005
    for mine, host in zip(found, answers(scores, root, lengths=LENGTHS), strict=True):
        torch.testing.assert_close(mine, host, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("root", ["single", "multi"])
def test_long_sentences(root, on_device, monkeypatch):
    scores = torch.randn(2, 41, 41, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    scores[1, 3:7, 8:20] = -torch.inf
    lengths = torch.tensor([40, 27])
    found = answers(10 * scores, root, lengths=lengths)
    assert on_device == [True, True]
    monkeypatch.setattr(elimination, "uses_device", lambda scores: False)  # noqa: ARG005
    for mine, host in zip(found, answers(10 * scores, root, lengths=lengths), strict=True):
        torch.testing.assert_close(mine, host, rtol=1e-9, atol=1e-9)


def test_the_last_word_is_one_that_reaches_all_others(on_device):
    """Word 1 has the best arc of the root, but no modifiers."""
    scores = torch.zeros(1, 4, 4, dtype=torch.float64)
    scores[0, 0, 1] = 10.0
    scores[0, 1] = -torch.inf
    log_partition = SpanningTrees(scores).log_partition
    assert on_device == [True]
    # Word 2 or 3 is the root; the other depends on it, word 1 on either.
    torch.testing.assert_close(log_partition.exp(), torch.tensor([4.0]).double())


@pytest.mark.parametrize("root", ["single", "multi"])
@pytest.mark.parametrize(("n", "cost"), [(12, 200.0), (7, 145.0)])  # to 0; to few digits
def test_beyond_the_range_of_doubles_the_host_answers(root, n, cost, on_device, monkeypatch):
    """Chains whose reverse arcs are far better: the product of the pivots underflows."""
    scores = torch.full((1, n + 1, n + 1), -torch.inf, dtype=torch.float64)
    scores[0, 0, 1] = 0.0
    for m in range(1, n):
        scores[0, m, m + 1] = -cost
        scores[0, m + 1, m] = 0.0
    found = answers(scores, root)
    assert not all(on_device)
    monkeypatch.setattr(elimination, "uses_device", lambda scores: False)  # noqa: ARG005
    for mine, host in zip(found, answers(scores, root), strict=True):
        assert torch.equal(mine, host)
    assert found[0].isfinite().all()


def test_sentences_without_a_tree_get_the_hosts_message(on_device):
    scores = scores_of(grad=False)
    scores[2, :, 2] = -torch.inf
    with pytest.raises(ValueError, match=r"sentence 2: .*word 2"):
        _ = SpanningTrees(scores, lengths=LENGTHS).log_partition
    assert on_device == [False]
