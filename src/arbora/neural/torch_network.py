"""The network in PyTorch, for training and explanations: the numbers of `numpy_network.py`.

Functions of a dictionary of tensors, which share their memory with the scorer's arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from arbora.neural.numpy_network import SLOPE
from arbora.neural.shards import Shard
from arbora.neural.sizes import CHARACTER_WINDOW, Sizes, roles_of, side_of
from arbora.neural.torch_lstm import PackedLstm
from arbora.scores import PartKind

__all__ = ["Noise", "TorchNetwork"]

Tensor = torch.Tensor


@dataclass(frozen=True)
class Noise:
    """Dropout of a shard: its share, and its own random numbers."""

    share: float
    generator: torch.Generator

    def mask(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Zeros, and 1 / (1 - share) where values are kept."""
        kept = torch.rand(shape, generator=self.generator, dtype=like.dtype) >= self.share
        return kept.to(like.dtype) / (1.0 - self.share)


class TorchNetwork:
    """Reads one shard of sentences, with dropout if there is noise."""

    def __init__(
        self, sizes: Sizes, parameters: Mapping[str, Tensor], noise: Noise | None = None
    ) -> None:
        self.sizes, self.parameters = sizes, parameters
        self.noise = noise if noise is not None and noise.share > 0.0 else None

    def vectors(
        self,
        shard: Shard,
        tokens: Mapping[str, NDArray[np.int32]],
        given: NDArray[np.float32] | None = None,
        context: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """The vector of every token by column, packed, before dropout."""
        found = {
            name: _rows(self.parameters[f"vectors.{name}"], numbers)
            for name, numbers in tokens.items()
        }
        if given is not None:
            known = torch.from_numpy(given).to(found["form"].dtype)
            found["form"] = found["form"] + known @ self.parameters["given.map"]
        if len(shard.features):
            table = _with_zeros(self.parameters["vectors.feats"])
            rows = _rows(table, shard.feats % len(table)).sum(dim=1)
            found["feats"] = _rows(rows, shard.features)
        spelled = self._spellings(shard.characters)
        found["character"] = _rows(spelled, shard.spellings)
        if context is not None:
            found["encoder"] = context.to(spelled.dtype) @ self.parameters["context.map"]
        return found

    def states(self, shard: Shard, vectors: Mapping[str, Tensor]) -> Tensor:
        """The state of the top layer for each token, packed, (tokens, 2 * width)."""
        states = self._joined(list(vectors.values()))
        counts = shard.counts.tolist()
        for layer in range(self.sizes.layers):
            states = self._dropped(states, shard)
            sides = []
            for side in ("forward", "backward"):
                name = f"lstm.{layer}.{side}"
                weights = [self.parameters[f"{name}.{kind}"] for kind in ("input", "state", "bias")]
                sides.append(PackedLstm.apply(states, *weights, counts, side == "backward"))
            states = torch.cat(sides, dim=1)
        return self._dropped(states, shard)

    def _joined(self, vectors: list[Tensor]) -> Tensor:
        """All vectors of a token; in training, some columns are dropped and the others grow."""
        if self.noise is None:
            return torch.cat(vectors, dim=1)
        shape = (len(vectors), len(vectors[0]), 1)
        random = torch.rand(shape, generator=self.noise.generator, dtype=vectors[0].dtype)
        kept = (random >= self.noise.share).to(vectors[0].dtype)
        scale = len(vectors) / kept.sum(dim=0).clamp(min=1.0)
        return torch.cat([one * mask * scale for one, mask in zip(vectors, kept, strict=True)], 1)

    def _dropped(self, values: Tensor, shard: Shard) -> Tensor:
        """Dropout with one mask for all tokens of a sentence (Gal & Ghahramani 2016)."""
        if self.noise is None:
            return values
        masks = self.noise.mask((len(shard.lengths), values.shape[1]), values)
        return values * torch.cat([masks[:count] for count in shard.counts.tolist()])

    def _spellings(self, characters: NDArray[np.int32]) -> Tensor:
        half, length = CHARACTER_WINDOW // 2, characters.shape[1]
        table = _with_zeros(self.parameters["vectors.character"])
        padded = np.pad(characters, ((0, 0), (half, half)), constant_values=-1)
        letters = _rows(table, padded % len(table))
        windows = torch.cat([letters[:, i : i + length] for i in range(CHARACTER_WINDOW)], dim=2)
        values = windows @ self.parameters["spelling.filters"] + self.parameters["spelling.bias"]
        values = values.masked_fill(torch.from_numpy(characters < 0)[:, :, None], -torch.inf)
        return values.amax(dim=1).clamp(min=0.0)

    def arcs(self, shard: Shard, states: Tensor) -> Tensor:
        """Scores of arcs, padded, (sentences, longest, longest): [head, modifier]."""
        heads = self._mapped("arc.head", shard, states)
        modifiers = self._mapped("arc.modifier", shard, states)
        pair, padded = self.parameters["arc.pair"], torch.from_numpy(shard.padded)
        left = heads @ pair[:-1] + pair[-1]
        alone = heads @ self.parameters["arc.head"]
        rows, columns = left[padded], modifiers[padded]
        return rows @ columns.transpose(1, 2) + alone[padded][:, :, None]

    def labels(
        self, shard: Shard, states: Tensor, heads: NDArray[Any], words: NDArray[Any]
    ) -> Tensor:
        """Scores of labels, (arcs, labels), of arcs between packed places."""
        side = self.sizes.label_width + 1
        above = _with_one(self._mapped("label.head", shard, states))
        below = _with_one(self._mapped("label.modifier", shard, states))
        above, below = _rows(above, heads), _rows(below, words)
        turned = (below @ self.parameters["label.pair"]).view(-1, self.sizes.n_labels, side)
        return (turned @ above[:, :, None])[:, :, 0]

    def joint_labels(self, shard: Shard, states: Tensor) -> Tensor:
        """Scores of labels of all arcs, (sentences, longest, longest, labels)."""
        side, padded = self.sizes.label_width + 1, torch.from_numpy(shard.padded)
        above = _with_one(self._mapped("label.head", shard, states))[padded]
        below = (
            _with_one(self._mapped("label.modifier", shard, states)) @ self.parameters["label.pair"]
        )
        turned = below[padded].view(*shard.padded.shape, self.sizes.n_labels, side)
        return torch.einsum("bhd,bmld->bhml", above, turned)

    def parts(self, kind: PartKind, states: Tensor, columns: NDArray[np.int64]) -> Tensor:
        """Scores of parts; `columns` have packed places, and -1 for no word."""
        total: Tensor | None = None
        for role in roles_of(kind):
            name = f"part.{kind}.{role}"
            values = states @ self.parameters[f"{name}.map"]
            if role != roles_of(kind)[-1]:
                values = torch.tanh(values)
            values = torch.cat([values, self.parameters[f"{name}.none"][None]])
            factor = _rows(values, columns[:, role] % len(values))
            total = factor if total is None else total * factor
        assert total is not None
        side = side_of(kind)
        if side is not None:
            total = total * _rows(self.parameters[f"part.{kind}.side"], columns[:, side])
        return total.sum(dim=1)

    def _mapped(self, name: str, shard: Shard, states: Tensor) -> Tensor:
        values = states @ self.parameters[f"{name}.map"] + self.parameters[f"{name}.bias"]
        return self._dropped(torch.nn.functional.leaky_relu(values, SLOPE), shard)


def _rows(table: Tensor, numbers: NDArray[Any]) -> Tensor:
    """The rows of a table; the gradient is faster than that of indexing."""
    return torch.nn.functional.embedding(torch.from_numpy(numbers.astype(np.int64)), table)


def _with_zeros(table: Tensor) -> Tensor:
    """A row of zeros at the end, which -1 refers to."""
    return torch.cat([table, table.new_zeros(1, table.shape[1])])


def _with_one(values: Tensor) -> Tensor:
    return torch.cat([values, values.new_ones(len(values), 1)], dim=1)
