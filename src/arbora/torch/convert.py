"""Between Arbora's arrangement of arcs and that of other libraries; all are differentiable.

Arbora: `scores[b, head, modifier]` with the root symbol at index 0, shape (B, N+1, N+1), like
SynJax. torch-struct: [head, modifier], shape (B, N, N), without the root symbol, whose arcs are on
the diagonal. SuPar: [modifier, head], shape (B, N+1, N+1), with the root symbol at index 0. Further
axes (labels) stay where they are.
"""

from __future__ import annotations

import torch
from torch import Tensor

from arbora.errors import ShapeError

__all__ = [
    "arcs_of_heads",
    "from_modifier_head",
    "from_root_on_diagonal",
    "heads_of_arcs",
    "to_modifier_head",
    "to_root_on_diagonal",
]


def from_root_on_diagonal(scores: Tensor) -> Tensor:
    """(B, N, N, ...) with the root's arcs on the diagonal as (B, N+1, N+1, ...).

    Column 0 and the diagonal, which are never read, become 0.
    """
    _check_square(scores)
    n = scores.shape[1]
    diagonal = torch.eye(n, dtype=torch.bool, device=scores.device)
    diagonal = diagonal.reshape(n, n, *[1] * (scores.dim() - 3))
    root = torch.where(diagonal, scores, 0.0).sum(1, keepdim=True)
    below = torch.where(diagonal, 0.0, scores)
    return _with_column(torch.cat([root, below], 1))


def to_root_on_diagonal(scores: Tensor) -> Tensor:
    """The inverse of `from_root_on_diagonal`."""
    _check_square(scores)
    n = scores.shape[1] - 1
    diagonal = torch.eye(n, dtype=torch.bool, device=scores.device)
    diagonal = diagonal.reshape(n, n, *[1] * (scores.dim() - 3))
    return torch.where(diagonal, scores[:, :1, 1:], scores[:, 1:, 1:])


def from_modifier_head(scores: Tensor) -> Tensor:
    """[modifier, head] as [head, modifier]."""
    _check_square(scores)
    return scores.transpose(1, 2)


to_modifier_head = from_modifier_head  # its own inverse


def arcs_of_heads(
    heads: Tensor, labels: Tensor | None = None, n_labels: int | None = None
) -> Tensor:
    """Heads (..., N) as 0 and 1 for every arc, (..., N+1, N+1); with labels (..., N+1, N+1, L).

    Heads of -1 have no arc.
    """
    side = heads.shape[-1] + 1
    known = (heads >= 0).unsqueeze(-1)
    arcs = torch.nn.functional.one_hot(heads.clamp(min=0), side) * known
    arcs = torch.nn.functional.pad(arcs.transpose(-1, -2), (1, 0))
    if labels is None or n_labels is None:
        return arcs
    chosen = torch.nn.functional.one_hot(labels.clamp(min=0), n_labels) * known
    chosen = torch.nn.functional.pad(chosen, (0, 0, 1, 0)).unsqueeze(-3)
    return arcs.unsqueeze(-1) * chosen


def heads_of_arcs(arcs: Tensor) -> Tensor:
    """The inverse of `arcs_of_heads`: heads (..., N) of 0 and 1 (..., N+1, N+1), -1 without arc."""
    columns = arcs[..., 1:]
    return torch.where(columns.bool().any(-2), columns.to(torch.float32).argmax(-2), -1)


def _with_column(rows: Tensor) -> Tensor:
    column = rows.new_zeros(rows.shape[0], rows.shape[1], 1, *rows.shape[3:])
    return torch.cat([column, rows], 2)


def _check_square(scores: Tensor) -> None:
    if scores.dim() < 3 or scores.shape[1] != scores.shape[2]:
        raise ShapeError(
            f"scores must have shape (B, N, N) or (B, N, N, ...), not {tuple(scores.shape)}."
        )
