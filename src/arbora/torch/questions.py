"""Checks of tensors, and what the questions about all distributions have in common."""

from __future__ import annotations

import torch
from torch import Tensor

from arbora.arrays import as_seed
from arbora.errors import ArgumentError, ShapeError
from arbora.torch import checks

__all__ = ["as_heads_tensor", "as_mask_or_lengths", "as_seed_tensor", "checked_scores", "per_word"]


def checked_scores(scores: Tensor, what: str = "scores", axes: tuple[int, ...] = (3, 4)) -> Tensor:
    """Scores of a padded batch, of a float dtype."""
    if not isinstance(scores, Tensor):
        raise ArgumentError(
            f"{what} must be a tensor, not {type(scores).__name__}: arrays are for arbora's own "
            "classes."
        )
    if not scores.is_floating_point():
        raise ArgumentError(
            f"{what} must be of a float dtype, not {scores.dtype}: use {what}.double()."
        )
    shape = tuple(scores.shape)
    if scores.dim() not in axes or shape[1] != shape[2] or shape[1] < 2 or 0 in shape:
        labels = ", or (B, N+1, N+1, L) with labels" if 4 in axes else ""
        raise ShapeError(
            f"{what} must have shape (B, N+1, N+1){labels}, with at least one sentence and one "
            f"word, not {shape}."
        )
    return scores


def as_mask_or_lengths(
    scores: Tensor, lengths: Tensor | None, mask: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """The lengths, (B,), and the mask of allowed arcs if that was given."""
    batch, side = scores.shape[:2]
    allowed = None
    if mask is not None:
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            raise ArgumentError("mask must be a tensor of booleans: use mask.bool().")
        if mask.shape == (batch, side, side):
            allowed = mask
        elif mask.shape not in ((batch, side - 1), (batch, side)):
            raise ShapeError(
                f"mask must have shape ({batch}, {side - 1}) for words, ({batch}, {side}) with the "
                f"root symbol, or ({batch}, {side}, {side}) for arcs, not {tuple(mask.shape)}."
            )
        elif lengths is not None:
            raise ArgumentError("lengths and a mask of words say the same: give one of them.")
        else:
            lengths = checks.word_lengths(mask, side - 1)
    if lengths is None:
        lengths = torch.full((batch,), side - 1, device=scores.device)
    elif not isinstance(lengths, Tensor):
        lengths = torch.as_tensor(lengths)
    if lengths.shape != (batch,) or lengths.is_floating_point() or lengths.dtype == torch.bool:
        raise ShapeError(
            f"lengths must be {batch} whole numbers, one per sentence, not {lengths.dtype} of "
            f"shape {tuple(lengths.shape)}."
        )
    return lengths.to(scores.device, torch.int64), allowed


def as_heads_tensor(heads: Tensor, scores: Tensor) -> Tensor:
    """Heads (B, N) or (B, k, N) as (B, k, N)."""
    batch, n = scores.shape[0], scores.shape[1] - 1
    if not isinstance(heads, Tensor) or heads.is_floating_point() or heads.dtype == torch.bool:
        raise ArgumentError("heads must be a tensor of whole numbers.")
    if heads.dim() not in (2, 3) or heads.shape[0] != batch or heads.shape[-1] != n:
        raise ShapeError(
            f"heads must have shape ({batch}, {n}) or ({batch}, k, {n}), one number per word and "
            f"none for the root symbol, not {tuple(heads.shape)}."
        )
    return heads.to(torch.int64).reshape(batch, -1, n)


def as_seed_tensor(seed: int | Tensor | None) -> Tensor:
    """The seed as a tensor; by default torch's generator draws one."""
    if isinstance(seed, Tensor):
        return seed
    if seed is None:
        return torch.randint(2**63 - 1, ())
    return torch.tensor(as_seed(seed) % 2**63)


def per_word(
    cells: Tensor,
    heads: Tensor,
    words: Tensor,
    labels: Tensor | None = None,
    *,
    probability: bool = False,
) -> Tensor:
    """The numbers of the words' arcs, (B, k, N), for heads (B, k, N); 0 in the padding.

    `words`, (B, N), says what is no padding. Unknown labels are summed out: numbers are scores
    (logarithms), or probabilities.
    """
    columns, places, real = cells[:, :, 1:], heads.clamp(min=0), words[:, None, :]
    if cells.dim() == 3:
        if labels is not None:
            raise ShapeError("labels are given, but the scores have none: leave them out.")
        return torch.where(real, columns.gather(1, places), 0.0)
    n_labels = cells.shape[3]
    rows = columns.gather(1, places.unsqueeze(3).expand(*places.shape, n_labels))
    rows = torch.where(real.unsqueeze(3), rows, 0.0)  # NaN in the padding has no gradient
    summed = rows.sum(3) if probability else _log_sum(rows)
    if labels is None:
        return torch.where(real, summed, 0.0)
    if not isinstance(labels, Tensor) or labels.is_floating_point():
        raise ArgumentError("labels must be a tensor of whole numbers.")
    if labels.numel() != heads.numel():
        raise ShapeError(f"labels must have the shape of heads, not {tuple(labels.shape)}.")
    chosen = checks.checked_labels(labels.to(torch.int64).reshape(heads.shape), n_labels)
    known = rows.gather(3, chosen.clamp(min=0).unsqueeze(3)).squeeze(3)
    return torch.where(real, torch.where(chosen < 0, summed, known), 0.0)


def _log_sum(rows: Tensor) -> Tensor:
    """log sum exp over the last axis; where all are -inf, -inf with a gradient of 0."""
    nothing = rows.amax(-1) == -torch.inf
    safe = torch.where(nothing.unsqueeze(-1), 0.0, rows)
    return torch.where(nothing, -torch.inf, safe.logsumexp(-1))
