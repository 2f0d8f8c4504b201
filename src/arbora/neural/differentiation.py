"""Gradients of the network by PyTorch: the graph of each shard, on one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from arbora.neural.shards import Shard, arcs_into_words, flat_starts, hide_words, scatter_arcs
from arbora.neural.torch_network import Noise, TorchNetwork
from arbora.scores import Scores
from arbora.scoring import Batch, Parameters
from arbora.types import FloatArray

if TYPE_CHECKING:
    from arbora.neural.scorer import NeuralScorer

__all__ = ["ShardGraph", "merged", "tensors_of"]

Tensor = torch.Tensor


def tensors_of(parameters: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """Tensors that share the memory of arrays."""
    return {
        name: torch.from_numpy(np.require(values, requirements="W")).requires_grad_()
        for name, values in parameters.items()
    }


class ShardGraph:
    """The scores of a shard as a graph of tensors."""

    def __init__(
        self,
        scorer: NeuralScorer,
        tensors: Mapping[str, Tensor],
        batch: Batch,
        shard: Shard,
        number: int,
    ) -> None:
        # On one thread, sums have the same order everywhere; other shards have other threads.
        torch.set_num_threads(1)
        self.scorer, self.tensors, self.batch, self.shard = scorer, tensors, batch, shard
        tokens, noise = shard.tokens, None
        if batch.noise is not None:
            generator = torch.Generator().manual_seed(batch.noise + number)
            noise = Noise(scorer.dropout, generator)
            if batch.encoded.hidden is not None:
                amount, _ = batch.encoded.hidden
                random = np.random.default_rng([batch.noise, number])
                tokens = hide_words(shard, scorer.vocabulary, amount, random)
        self.network = TorchNetwork(scorer.sizes, tensors, noise)
        given = scorer.given(shard)
        context = scorer.context(batch.encoded, shard, tensors)
        vectors = self.network.vectors(shard, tokens, given, context)
        self.states = self.network.states(shard, vectors)
        self.arcs = self.network.arcs(shard, self.states)
        if scorer.sizes.joint:
            self.arcs = self.arcs[..., None] + self.network.joint_labels(shard, self.states)
        self.parts: list[tuple[Any, int, Tensor]] = []
        # Made on the same thread as the rest: PyTorch adds gradients in the order of its nodes,
        # which it counts on each thread.
        self.loss = self._label_loss()

    def score(self, scores: Scores, pieces: list[FloatArray]) -> None:
        """Fills in the scores of the shard's sentences."""
        from arbora.neural.scorer import packed_parts

        scatter_arcs(self.shard, self.arcs.detach().numpy(), pieces)
        for kind in scores.kinds:
            for i, columns in packed_parts(scores, kind, self.shard):
                values = self.network.parts(kind, self.states, columns)
                scores.piece(kind, i)[:] = values.detach().numpy()
                self.parts.append((kind, i, values))

    def pullback(self, d_scores: Scores) -> dict[str, Tensor | None]:
        """The gradient by every parameter, of the scores and of the labels' loss."""
        d_arcs = np.zeros(self.arcs.shape, dtype=self.arcs.detach().numpy().dtype)
        for values, member, length in zip(
            d_arcs, self.shard.members.tolist(), self.shard.lengths.tolist(), strict=True
        ):
            values[:length, :length] = d_scores.arcs_of(member)
        outputs = [self.arcs, *(values for _, _, values in self.parts)]
        gradients = [torch.from_numpy(d_arcs)]
        for kind, i, part in self.parts:
            gradients.append(torch.from_numpy(d_scores.piece(kind, i)).to(part.dtype))
        if self.loss is not None:
            outputs.append(self.loss)
            gradients.append(torch.ones_like(self.loss))
        found = torch.autograd.grad(
            outputs, list(self.tensors.values()), gradients, allow_unused=True
        )
        return dict(zip(self.tensors, found, strict=True))

    def _label_loss(self) -> Tensor | None:
        """The cross-entropy of the annotated labels, given the annotated heads."""
        batch, sizes = self.batch, self.scorer.sizes
        if not sizes.n_labels or sizes.joint or not len(batch.labels):
            return None
        starts = flat_starts(batch.n_words)
        words, heads = arcs_into_words(self.shard, batch.heads, starts)
        labels = np.concatenate([
            batch.labels[starts[i] : starts[i] + length - 1]
            for i, length in zip(self.shard.members, self.shard.lengths, strict=True)
        ])  # fmt: skip
        known = (heads >= 0) & (labels >= 0)
        if not known.any():
            return None
        scores = self.network.labels(self.shard, self.states, heads[known], words[known])
        right = torch.from_numpy(labels[known].astype(np.int64))
        return torch.nn.functional.cross_entropy(scores, right, reduction="sum")


def merged(
    found: Sequence[Mapping[str, Tensor | None]], parameters: Mapping[str, NDArray[Any]]
) -> Parameters:
    """The sum of the gradients of all shards, added in the order of the shards."""
    answer: Parameters = {}
    for name, values in parameters.items():
        own = [one[name] for one in found]
        known = [gradient.numpy() for gradient in own if gradient is not None]
        if not known:
            answer[name] = np.zeros_like(values)
            continue
        total = known[0]
        for gradient in known[1:]:
            total += gradient
        answer[name] = total
    return answer
