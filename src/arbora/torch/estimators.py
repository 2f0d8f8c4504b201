"""Trees with gradients: estimators for networks that need one tree, or the average of a few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from arbora.errors import ArgumentError
from arbora.inference.arguments import as_count, check_choice

if TYPE_CHECKING:
    from arbora.torch.trees import Trees
    from arbora.types import Root

__all__ = ["Estimators"]


class Estimators:
    """Straight-through and perturbed-max estimators of first-order trees."""

    scores: Tensor
    lengths: Tensor
    root: Root

    if TYPE_CHECKING:

        def argmax(self) -> Trees: ...
        def mbr(self) -> Trees: ...
        def sample(self, k: int = 1, seed: int | Tensor | None = None) -> Any: ...
        def _marginals(self) -> Tensor: ...
        def _indicator(self, trees: Trees) -> Tensor: ...
        def _fixed(self) -> Tensor: ...

    def straight_through(
        self, by: Literal["argmax", "mbr", "sample"] = "argmax", seed: int | Tensor | None = None
    ) -> Tensor:
        """Trees as 0 and 1 in the shape of the scores, with the gradient of the marginals.

        The value is a tree (the best, the one of least risk, or a draw); the gradient pretends that
        it was the marginals (Bengio, Léonard & Courville 2013), so it is biased.
        """
        check_choice(by, ("argmax", "mbr", "sample"), "by")
        if by == "sample":
            drawn = self.sample(1, seed)
            one = [None if rows is None else rows[:, 0] for rows in drawn]
            arcs = self._indicator(_trees(*one))
        else:
            arcs = self._indicator(self.argmax() if by == "argmax" else self.mbr())
        marginals = self._marginals().to(self.scores.dtype)
        return arcs + (marginals - marginals.detach())

    def perturbed_max(
        self,
        k: int = 10,
        scale: float = 1.0,
        noise: Literal["gumbel", "normal"] = "gumbel",
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """The average of the best trees under k noisy copies of the scores, with its gradient.

        In the shape of the scores. An estimate of the expectation of the perturbed argmax, whose
        gradient is unbiased (Berthet et al. 2020, Proposition 3.1), with the tree without noise as
        a control variate. All k + 1 decodings are one call.
        """
        check_choice(noise, ("gumbel", "normal"), "noise")
        if not scale > 0:
            raise ArgumentError(f"scale must be above 0, not {scale}.")
        count, fixed = as_count(k, "k"), self._fixed().double()
        shape = (count, *fixed.shape)
        drawn = torch.randn(shape, dtype=fixed.dtype, device=fixed.device, generator=generator)
        slope = drawn
        if noise == "gumbel":
            uniform = torch.special.ndtr(drawn).clamp(1e-300, 1.0 - 1e-16)
            drawn = -torch.log(-torch.log(uniform))
            slope = 1.0 - torch.exp(-drawn)  # minus the derivative of the log-density
        copies = torch.cat([fixed[None], fixed + scale * drawn]).flatten(0, 1)
        best = type(self)(  # type: ignore[call-arg]  # the classes that inherit this take scores
            copies, root=self.root, lengths=self.lengths.repeat(count + 1)
        )
        trees: Tensor = best._indicator(best.argmax()).reshape(count + 1, *fixed.shape)
        allowed = fixed > -torch.inf
        scores = torch.where(allowed, self.scores.double(), 0.0)
        along = (torch.where(allowed, slope, 0.0) * scores).flatten(2).sum(2) / (scale * count)
        # The value of `along` cancels; what remains is its gradient, times each tree.
        weight = (along - along.detach()).reshape(count, -1, *[1] * (fixed.dim() - 1))
        answer = trees[1:].mean(0) + (weight * (trees[1:] - trees[:1])).sum(0)
        return answer.to(self.scores.dtype)


def _trees(heads: Any, labels: Any) -> Trees:
    from arbora.torch.trees import Trees

    return Trees(heads, labels, heads.new_zeros(len(heads)))
