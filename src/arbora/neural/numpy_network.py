"""The network in NumPy, for parsing: the same numbers as `torch_network.py`, without gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.neural.shards import Shard
from arbora.neural.sizes import CHARACTER_WINDOW, Sizes, roles_of, side_of
from arbora.scores import PartKind

__all__ = ["SLOPE", "NumpyNetwork"]

Array = NDArray[Any]
SLOPE = 0.1  # of leaky rectifiers below 0


class NumpyNetwork:
    """Reads shards of sentences; its parameters are constant."""

    def __init__(self, sizes: Sizes, parameters: Mapping[str, Array]) -> None:
        self.sizes, self.parameters = sizes, parameters
        self.tables = {
            name.removeprefix("vectors."): values
            for name, values in parameters.items()
            if name.startswith("vectors.")
        }
        for name in ("character", "feats"):  # -1 is no character or feature: a row of zeros
            if name in self.tables:
                self.tables[name] = np.pad(self.tables[name], ((0, 1), (0, 0)))
        self._lstms = [
            [
                _prepared(parameters, f"lstm.{layer}.{side}", sizes.width)
                for side in ("forward", "backward")
            ]
            for layer in range(sizes.layers)
        ]

    def states(
        self, shard: Shard, given: Array | None = None, context: Array | None = None
    ) -> Array:
        """The state of the top layer for each token, packed, (tokens, 2 * width)."""
        states = self._inputs(shard, given, context)
        for forward, backward in self._lstms:
            ahead = _run(forward, states, shard.counts, reverse=False)
            back = _run(backward, states, shard.counts, reverse=True)
            states = np.concatenate([ahead, back], axis=1)
        return states

    def _inputs(self, shard: Shard, given: Array | None, context: Array | None) -> Array:
        parts = [self.tables[name][numbers] for name, numbers in shard.tokens.items()]
        if given is not None:
            parts[0] = parts[0] + given @ self.parameters["given.map"]
        if len(shard.features):
            parts.append(self.tables["feats"][shard.feats].sum(axis=1)[shard.features])
        parts.append(self._spellings(shard.characters)[shard.spellings])
        if context is not None:
            parts.append(context @ self.parameters["context.map"])
        return np.concatenate(parts, axis=1)

    def _spellings(self, characters: NDArray[np.int32]) -> Array:
        """A vector of each spelling: the largest value of each filter over its characters."""
        half = CHARACTER_WINDOW // 2
        letters = self.tables["character"][np.pad(characters, ((0, 0), (half,) * 2), "constant",
                                                  constant_values=-1)]  # fmt: skip
        length = characters.shape[1]
        windows = np.concatenate(
            [letters[:, i : i + length] for i in range(CHARACTER_WINDOW)], axis=2
        )
        values = windows @ self.parameters["spelling.filters"] + self.parameters["spelling.bias"]
        values[characters < 0] = -np.inf
        return np.asarray(np.maximum(values.max(axis=1), 0.0))

    def arcs(self, shard: Shard, states: Array) -> Array:
        """Scores of arcs, padded, (sentences, longest, longest): [head, modifier]."""
        heads = self._mapped("arc.head", states)
        modifiers = self._mapped("arc.modifier", states)
        pair = self.parameters["arc.pair"]
        left = heads @ pair[:-1] + pair[-1]  # the last row: the modifier alone
        alone = heads @ self.parameters["arc.head"]
        rows, columns = left[shard.padded], modifiers[shard.padded]
        return np.asarray(rows @ columns.transpose(0, 2, 1) + alone[shard.padded][:, :, None])

    def labels(self, states: Array, heads: NDArray[Any], words: NDArray[Any]) -> Array:
        """Scores of labels, (arcs, labels), of arcs between packed places."""
        pair = self.parameters["label.pair"]
        side = self.sizes.label_width + 1
        above = _with_one(self._mapped("label.head", states))[heads]
        below = _with_one(self._mapped("label.modifier", states))[words]
        turned = (below @ pair).reshape(-1, self.sizes.n_labels, side)
        return np.asarray((turned @ above[:, :, None])[:, :, 0])

    def joint_labels(self, shard: Shard, states: Array) -> Array:
        """Scores of labels of all arcs, (sentences, longest, longest, labels)."""
        side = self.sizes.label_width + 1
        above = _with_one(self._mapped("label.head", states))[shard.padded]
        below = _with_one(self._mapped("label.modifier", states)) @ self.parameters["label.pair"]
        turned = below[shard.padded].reshape(*shard.padded.shape, self.sizes.n_labels, side)
        return np.asarray(np.einsum("bhd,bmld->bhml", above, turned, optimize=True))

    def parts(self, kind: PartKind, states: Array, columns: NDArray[np.int64]) -> Array:
        """Scores of parts; `columns` have packed places, and -1 for no word."""
        total: Array | None = None
        for role in roles_of(kind):
            name = f"part.{kind}.{role}"
            values = states @ self.parameters[f"{name}.map"]
            if role != roles_of(kind)[-1]:
                values = np.tanh(values)
            values = np.concatenate([values, self.parameters[f"{name}.none"][None]])
            factor = values[columns[:, role]]
            total = factor if total is None else total * factor
        assert total is not None
        side = side_of(kind)
        if side is not None:
            total = total * self.parameters[f"part.{kind}.side"][columns[:, side]]
        return np.asarray(total.sum(axis=1))

    def _mapped(self, name: str, states: Array) -> Array:
        values = states @ self.parameters[f"{name}.map"] + self.parameters[f"{name}.bias"]
        return np.asarray(np.maximum(values, SLOPE * values))


def _with_one(values: Array) -> Array:
    return np.pad(values, ((0, 0), (0, 1)), constant_values=1.0)


def _prepared(parameters: Mapping[str, Array], name: str, width: int) -> tuple[Array, ...]:
    """Weights with halved gates: sigmoid(x) = (1 + tanh(x / 2)) / 2, so tanh does for all."""
    halves = np.full(4 * width, 0.5, dtype=parameters[f"{name}.bias"].dtype)
    halves[2 * width : 3 * width] = 1.0  # the candidate
    kinds = ("input", "state", "bias")
    inputs, state, bias = (parameters[f"{name}.{kind}"] for kind in kinds)
    return (
        np.ascontiguousarray((inputs * halves[:, None]).T),
        np.ascontiguousarray((state * halves[:, None]).T),
        bias * halves,
    )


def _run(
    weights: tuple[Array, ...], inputs: Array, counts: NDArray[np.int64], *, reverse: bool
) -> Array:
    """One direction of an LSTM over packed tokens; sentences that are shorter begin later."""
    into, again, bias = weights
    width = again.shape[0]
    gates = inputs @ into
    gates += bias
    states = np.empty((len(inputs), width), dtype=gates.dtype)
    hidden = np.zeros((int(counts[0]), width), dtype=gates.dtype)
    cell = np.zeros_like(hidden)
    ends = np.cumsum(counts)
    order = range(len(counts) - 1, -1, -1) if reverse else range(len(counts))
    for step in order:
        count, end = int(counts[step]), int(ends[step])
        gate = gates[end - count : end]
        gate += hidden[:count] @ again
        np.tanh(gate, out=gate)
        gate[:, : 2 * width] *= 0.5
        gate[:, : 2 * width] += 0.5
        gate[:, 3 * width :] *= 0.5
        gate[:, 3 * width :] += 0.5
        own = cell[:count]
        own *= gate[:, width : 2 * width]
        own += gate[:, :width] * gate[:, 2 * width : 3 * width]
        np.multiply(np.tanh(own), gate[:, 3 * width :], out=hidden[:count])
        states[end - count : end] = hidden[:count]
    return states
