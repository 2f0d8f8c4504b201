"""Gradients times inputs: what each word's columns contribute to a score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from arbora.neural.differentiation import tensors_of
from arbora.neural.scorer import NeuralScorer, packed_parts
from arbora.neural.shards import make_shard
from arbora.neural.torch_network import TorchNetwork
from arbora.scores import Scores
from arbora.scoring import Batch

__all__ = ["Attribution", "attributions"]


class Attribution(NamedTuple):
    """The contribution of a column of a word, 0 for the root symbol."""

    column: str
    word: int
    value: float


def attributions(scorer: NeuralScorer, batch: Batch, d_scores: Scores) -> list[Attribution]:
    """The gradient of sum(d_scores * scores) by the vectors of a sentence, times the vectors.

    The network is not linear, so the contributions do not add up to the sum.
    """
    shard = make_shard(scorer.numbered(batch.encoded), batch.sentences, np.arange(1))
    tensors = tensors_of(scorer.parameters())
    network = TorchNetwork(scorer.sizes, tensors)
    with torch.no_grad():
        context = scorer.context(batch.encoded, shard, tensors)
        found = network.vectors(shard, shard.tokens, scorer.given(shard), context)
    vectors = {name: values.detach().requires_grad_() for name, values in found.items()}
    states = network.states(shard, vectors)
    arcs = network.arcs(shard, states)
    if scorer.sizes.joint:
        arcs = arcs[..., None] + network.joint_labels(shard, states)
    weights = torch.from_numpy(d_scores.arcs_of(0)).to(arcs.dtype)
    total = (arcs[0] * weights).sum()
    for kind in scorer.kinds:
        for i, columns in packed_parts(d_scores, kind, shard):
            values = network.parts(kind, states, columns)
            total = total + (values * torch.from_numpy(d_scores.piece(kind, i))).sum()
    gradients = torch.autograd.grad(total, list(vectors.values()))
    answer = []
    for (name, values), gradient in zip(vectors.items(), gradients, strict=True):
        for word, value in enumerate((values * gradient).sum(dim=1).tolist()):
            answer.append(Attribution(name, word, value))  # one sentence: packed is in order
    return answer
