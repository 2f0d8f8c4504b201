"""Small padded batches for the tests of the PyTorch layers."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the extra torch)")

LENGTHS = torch.tensor([3, 1, 2])  # mixed lengths, and a sentence of one word


def scores_of(labels=None, *, seed=0, scale=1.0, dtype=torch.float64, grad=True, forbid=True):
    """Scores (3, 4, 4[, labels]) with NaN in the padding and, unless told, a forbidden arc."""
    shape = (3, 4, 4) if labels is None else (3, 4, 4, labels)
    generator = torch.Generator().manual_seed(seed)
    scores = scale * torch.randn(shape, generator=generator, dtype=torch.float64)
    if forbid:
        scores[0, 1, 3] = -torch.inf
    for i, n in enumerate(LENGTHS.tolist()):
        scores[i, n + 1 :] = torch.nan
        scores[i, :, n + 1 :] = torch.nan
    return scores.to(dtype).requires_grad_(grad)


def differentiable(question, *inputs, twice=False):
    """gradcheck of a question, and gradgradcheck; the padding's NaN becomes 0 for it."""
    clean = tuple(x.detach().nan_to_num(0.0, neginf=-torch.inf).requires_grad_() for x in inputs)
    check = torch.autograd.gradcheck(question, clean, fast_mode=True)
    if twice:
        check = check and torch.autograd.gradgradcheck(question, clean, fast_mode=True)
    return check
