"""Bad tensors: one clear sentence each. And torch is imported by nothing else."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from arbora import ArboraError
from tests.torch.batches import LENGTHS, scores_of, torch

from arbora.torch import SpanningTrees, from_root_on_diagonal  # isort: skip  # after the skip


def good(**given):
    return SpanningTrees(scores_of(grad=False), lengths=LENGTHS, **given)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (torch.zeros(2, 3, 3).long(), r"float dtype, not torch\.int64: use scores\.double\(\)"),
        (torch.zeros(2, 3, 3) * 1j, "float dtype"),
        (np.zeros((2, 3, 3)), "must be a tensor, not ndarray"),
        (torch.zeros(3, 3), r"\(B, N\+1, N\+1\).*not \(3, 3\)"),
        (torch.zeros(2, 3, 4), r"not \(2, 3, 4\)"),
        (torch.zeros(0, 3, 3), "at least one sentence"),
        (torch.zeros(2, 1, 1), "one word"),
    ],
)
def test_scores_of_the_wrong_kind(scores, message):
    with pytest.raises(ArboraError, match=message):
        SpanningTrees(scores)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lengths": torch.tensor([2])}, "2 whole numbers, one per sentence"),
        ({"lengths": torch.tensor([2.0, 1.0])}, "whole numbers"),
        ({"lengths": torch.tensor([2, 3])}, "sentence 1: its length is 3, .* 1 to 2 words"),
        ({"lengths": torch.tensor([0, 2])}, "sentence 0: its length is 0"),
        ({"mask": torch.ones(2, 2)}, "booleans"),
        ({"mask": torch.ones(2, 5).bool()}, "mask must have shape"),
        ({"mask": torch.tensor([[True, True], [False, True]])}, "sentence 1: the mask has a gap"),
        ({"mask": torch.zeros(2, 3, 3).bool()}, "sentence 0: .*word 1 has no possible head"),
        ({"mask": torch.ones(2, 2).bool(), "lengths": torch.tensor([2, 2])}, "give one of them"),
        ({"root": "none"}, "root must be"),
    ],
)
def test_lengths_and_masks_that_do_not_fit(given, message):
    with pytest.raises(ArboraError, match=message):
        _ = SpanningTrees(torch.zeros(2, 3, 3), **given).log_partition


@pytest.mark.parametrize("value", [torch.nan, torch.inf, 1e300])
def test_scores_that_are_no_scores(value):
    scores = torch.zeros(2, 3, 3, dtype=torch.float64)
    scores[1, 2, 1] = value
    with pytest.raises(ArboraError, match=r"sentence 1: scores\[2, 1\]"):
        _ = SpanningTrees(scores).marginals


def test_questions_that_do_not_fit():
    trees = good()
    cases = [
        (lambda: trees.log_prob(torch.zeros(3, 4).long()), r"heads must have shape \(3, 3\)"),
        (lambda: trees.log_prob(torch.zeros(3, 3)), "whole numbers"),
        (lambda: trees.log_prob(torch.full((3, 3), -1)), "sentence 0: the head of word 1 is -1"),
        (lambda: trees.log_prob(torch.full((3, 3), 2)), "sentence 1: the head of word 1 is 2"),
        (lambda: trees.log_prob(torch.zeros(3, 3).long(), torch.zeros(3, 3).long()), "leave them"),
        (lambda: trees.expect(torch.zeros(3, 3)), "shape of the scores"),
        (lambda: trees.kl(3), "is compared with"),
        (lambda: trees.kl(SpanningTrees(torch.zeros(3, 5, 5))), "same words"),
        (lambda: trees.kl(SpanningTrees(torch.zeros(3, 4, 4))), "different lengths"),
        (lambda: trees.kbest(0), "k must be"),
        (lambda: trees.sample(2, seed=-1), "seed must be"),
        (lambda: trees.perturbed_max(scale=0.0), "scale must be"),
        (lambda: trees.straight_through("best"), "by must be"),
        (lambda: from_root_on_diagonal(torch.zeros(3, 2)), "scores must have shape"),
    ]
    for question, message in cases:
        with pytest.raises(ArboraError, match=message):
            question()
    labelled = SpanningTrees(scores_of(2, grad=False), lengths=LENGTHS)
    heads = torch.tensor([[0, 1, 2], [0, 0, 0], [0, 1, 0]])
    with pytest.raises(ArboraError, match="the label of word 1 is 2"):
        labelled.log_prob(heads, torch.full((3, 3), 2))


def test_importing_arbora_imports_no_torch():
    code = "import sys, arbora; arbora.SpanningTrees; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
