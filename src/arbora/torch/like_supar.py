"""The dependency trees of SuPar 1.1 under its own names, answered by Arbora.

`from arbora.torch.like_supar import DependencyCRF, MatrixTree` replaces the import from `supar`.
Scores are (B, N+1, N+1), [modifier, head], with the root symbol at index 0; heads are (B, N+1) with
0 for the root symbol and the padding. New code should use `ProjectiveTrees` and `SpanningTrees`.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from arbora.torch.convert import from_modifier_head, to_modifier_head
from arbora.torch.trees import ProjectiveTrees, SpanningTrees, TreeDistribution

__all__ = ["DependencyCRF", "MatrixTree"]


class _TreeDistribution:
    kind: ClassVar[type[TreeDistribution]]

    def __init__(self, scores: Tensor, lens: Tensor | None = None, multiroot: bool = False) -> None:
        self.scores, self.multiroot = scores, multiroot
        root = "multi" if multiroot else "single"
        self.trees = self.kind(from_modifier_head(scores), root=root, lengths=lens)  # type: ignore[arg-type]
        self.lens = self.trees.lengths

    @property
    def log_partition(self) -> Tensor:
        """log Z, (B,)."""
        return self.trees.log_partition

    @property
    def marginals(self) -> Tensor:
        """P(arc), (B, N+1, N+1), [modifier, head]."""
        return to_modifier_head(self.trees.marginals)

    @property
    def max(self) -> Tensor:
        """The scores of the best trees, (B,), with their gradient."""
        return self.trees.max

    @property
    def argmax(self) -> Tensor:
        """The heads of the best trees, (B, N+1)."""
        return _with_root(self.trees.argmax().heads)

    mode = argmax

    @property
    def entropy(self) -> Tensor:
        """Entropy in nats, (B,)."""
        return self.trees.entropy()

    def kl(self, other: _TreeDistribution) -> Tensor:
        """KL(self || other), (B,)."""
        return self.trees.kl(other.trees)

    def cross_entropy(self, other: _TreeDistribution) -> Tensor:
        """Cross-entropy, (B,)."""
        return self.trees.cross_entropy(other.trees)

    def log_prob(self, value: Tensor, partial: bool = False) -> Tensor:
        """log P of heads (B, N+1), (B,); if `partial`, heads of -1 are summed over."""
        heads = value[:, 1:]
        if not partial:
            return self.trees.log_prob(heads)
        sides = torch.arange(self.scores.shape[1], device=value.device)
        required = (heads[:, None, :] == sides[:, None]) & self.trees._words()[:, None, :]
        known = self.trees.constrain(required=torch.nn.functional.pad(required, (1, 0)))
        return known.log_partition - self.trees.log_partition

    def kmax(self, k: int) -> Tensor:
        """The scores of the k best trees, (B, k)."""
        return self.trees.kbest(k).scores

    def topk(self, k: int) -> Tensor:
        """The heads of the k best trees, (B, N+1, k)."""
        return _with_root(self.trees.kbest(k).heads).transpose(1, 2)

    def sample(self) -> Tensor:
        """The heads of a draw, (B, N+1)."""
        return _with_root(self.trees.sample(1).heads[:, 0])


class MatrixTree(_TreeDistribution):
    """All trees."""

    kind = SpanningTrees


class DependencyCRF(_TreeDistribution):
    """Projective trees."""

    kind = ProjectiveTrees


def _with_root(heads: Tensor) -> Tensor:
    """A place for the root symbol in front, and 0 in the padding."""
    return torch.nn.functional.pad(heads.clamp(min=0), (1, 0))
