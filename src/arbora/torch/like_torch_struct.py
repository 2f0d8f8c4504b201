"""The dependency trees of torch-struct 0.5 under its own names, answered by Arbora.

`from arbora.torch.like_torch_struct import DependencyCRF, NonProjectiveDependencyCRF` replaces the
import from `torch_struct`. Scores are (B, N, N[, L]), [head, modifier], with the root's arcs on the
diagonal; trees are 0 and 1 in the same arrangement; k comes first. New code should use
`ProjectiveTrees` and `SpanningTrees`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from arbora.torch.convert import (
    arcs_of_heads,
    from_root_on_diagonal,
    heads_of_arcs,
    to_root_on_diagonal,
)
from arbora.torch.trees import ProjectiveTrees, SpanningTrees, TreeDistribution

__all__ = ["DependencyCRF", "NonProjectiveDependencyCRF"]


class _TreeCRF:
    kind: ClassVar[type[TreeDistribution]]

    def __init__(
        self,
        log_potentials: Tensor,
        lengths: Tensor | None = None,
        args: Any = None,
        multiroot: bool = True,
    ) -> None:
        del args  # torch-struct takes them, and has no use for them here
        self.log_potentials = log_potentials
        self.trees = self.kind(
            from_root_on_diagonal(log_potentials),
            root="multi" if multiroot else "single",
            lengths=lengths,
        )

    @property
    def partition(self) -> Tensor:
        """log Z, (B,)."""
        return self.trees.log_partition

    @property
    def marginals(self) -> Tensor:
        """P(arc), in the shape of the scores."""
        return to_root_on_diagonal(self.trees.marginals)

    @property
    def entropy(self) -> Tensor:
        """Entropy in nats, (B,)."""
        return self.trees.entropy()

    @property
    def max(self) -> Tensor:
        """The scores of the best trees, (B,), with their gradient."""
        return self.trees.max

    @property
    def argmax(self) -> Tensor:
        """The arcs of the best trees."""
        return to_root_on_diagonal(self.trees.mode)

    mode = argmax

    @property
    def count(self) -> Tensor:
        """The number of trees, (B,)."""
        return self.trees.count

    def log_prob(self, value: Tensor) -> Tensor:
        """log P of trees, (B,) or (k, B) for (k, B, N, N)."""
        plain = self.log_potentials.dim()
        rows = value if value.dim() > plain else value[None]
        given = [self._one(row) for row in rows]
        return torch.stack(given) if value.dim() > plain else given[0]

    def _one(self, value: Tensor) -> Tensor:
        arcs = from_root_on_diagonal(value)
        labels = None
        if arcs.dim() == 4:
            labels = arcs.sum(1).argmax(2)[:, 1:]
            arcs = arcs.sum(3)
        return self.trees.log_prob(heads_of_arcs(arcs), labels)

    def kl(self, other: _TreeCRF) -> Tensor:
        """KL(self || other), (B,)."""
        return self.trees.kl(other.trees)

    def cross_entropy(self, other: _TreeCRF) -> Tensor:
        """Cross-entropy, (B,)."""
        return self.trees.cross_entropy(other.trees)

    def kmax(self, k: int) -> Tensor:
        """The scores of the k best trees, (k, B)."""
        return self.trees.kmax(k)

    def topk(self, k: int) -> Tensor:
        """The arcs of the k best trees, (k, B, N, N[, L])."""
        return torch.stack([to_root_on_diagonal(arcs) for arcs in self.trees.topk(k)])

    def sample(self, sample_shape: Any = (1,)) -> Tensor:
        """The arcs of draws, (k, B, N, N[, L])."""
        (count,) = sample_shape
        drawn = self.trees.sample(count)
        arcs = arcs_of_heads(drawn.heads, drawn.labels, self.trees.n_labels).transpose(0, 1)
        return torch.stack([to_root_on_diagonal(one) for one in arcs]).to(self.log_potentials.dtype)

    @staticmethod
    def to_parts(sequence: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Heads (B, N), from 0 to N, as arcs (B, N, N)."""
        if lengths is not None:
            places = torch.arange(sequence.shape[1], device=sequence.device)
            padding = places >= lengths[:, None]
            sequence = sequence.masked_fill(padding, -1)
        return to_root_on_diagonal(arcs_of_heads(sequence))

    @staticmethod
    def from_parts(arcs: Tensor) -> tuple[Tensor, None]:
        """Arcs (B, N, N) as heads (B, N); 0 without arc, as in torch-struct."""
        return heads_of_arcs(from_root_on_diagonal(arcs)).clamp(min=0), None


class DependencyCRF(_TreeCRF):
    """Projective trees."""

    kind = ProjectiveTrees


class NonProjectiveDependencyCRF(_TreeCRF):
    """All trees."""

    kind = SpanningTrees

    def __init__(
        self,
        log_potentials: Tensor,
        lengths: Tensor | None = None,
        args: Any = None,
        multiroot: bool = False,
    ) -> None:
        super().__init__(log_potentials, lengths, args, multiroot)
