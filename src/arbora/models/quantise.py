"""Small models: weights rounded to a few values, which a file stores as codes of 4 or 8 bits.

The model then really has these weights, so that its scores are those of the file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError, ModelError
from arbora.models.components import FirstOrderPruner, StagedLabels
from arbora.models.model import Model, StoredStage
from arbora.models.tensor_file import Tensors
from arbora.scoring import LinearScorer

__all__ = ["CODES", "SIZE", "VALUES", "decoded", "encode", "quantise"]

CODES, VALUES, SIZE = "codes", "values", "size"  # the last parts of the names of a rounded array

_MOST_VALUES = 256  # of an array that is stored as codes
_NIBBLE = 16  # this many values need only half a byte
_BINS = 1 << 16  # of the histogram that the values are chosen by
_WIDE_BINS = 1 << 9  # of the histogram that the first choice is made by
_BEGINNING = 1 << 15  # weights whose number of values tells whether to count them all
_ROUNDS = 100
_BITS = range(4, 9)
_SMALL = 1 << 12  # arrays of stages with fewer weights stay as they are


def quantise(
    model: Model, bits: int = 8, stage_bits: int | None = None, pruner_bits: int | None = None
) -> Model:
    """The model with every linear weight rounded to one of 2 to the power of `bits` values.

    The values of each component are chosen for the smallest squared error (Lloyd's algorithm);
    zero is always one of them. The stages before the parser have `stage_bits`, and the pruner of a
    higher-order model has `pruner_bits`; by default both have the same.
    A file stores 4 bits in half a byte and more in a byte, which compression makes smaller.
    """
    of_stages = bits if stage_bits is None else stage_bits
    of_pruner = bits if pruner_bits is None else pruner_bits
    for given in (bits, of_stages, of_pruner):
        if given not in _BITS:
            raise ArgumentError(f"bits must be a whole number from 4 to 8, not {given!r}.")

    if not isinstance(model.scorer, LinearScorer):
        raise ArgumentError(
            f"only linear weights can be rounded: the model's scorer is {model.scorer.kind}."
        )

    def rounded(scorer: Any, to_bits: int = bits) -> Any:
        return scorer.with_parameters({"weights": _rounded(scorer.weights, 1 << to_bits)})

    changed: dict[str, Any] = {"scorer": rounded(model.scorer)}
    if isinstance(model.labeller, StagedLabels):
        changed["labeller"] = StagedLabels(rounded(model.labeller.scorer))
    if isinstance(model.pruner, FirstOrderPruner):
        changed["pruner"] = replace(model.pruner, scorer=rounded(model.pruner.scorer, of_pruner))
    if model.reranker is not None:
        changed["reranker"] = replace(model.reranker, scorer=rounded(model.reranker.scorer))
    stages = {name: _rounded_stage(stage, 1 << of_stages) for name, stage in model.stages.items()}
    return replace(model, stages=stages, **changed)


def _rounded_stage(stage: StoredStage, count: int) -> StoredStage:
    """The stage with its weights rounded: its large arrays of float16."""
    tensors = {
        name: _rounded(values, count) if values.dtype == np.float16 and len(values) >= _SMALL
        else values
        for name, values in stage.tensors.items()
    }  # fmt: skip
    return StoredStage(stage.settings, tensors)


def _rounded(weights: NDArray[Any], count: int) -> NDArray[Any]:
    values = _chosen_values(weights.astype(np.float32), count)
    middles = (values[1:] + values[:-1]) / 2
    answer: NDArray[Any] = values.astype(weights.dtype)[np.searchsorted(middles, weights)]
    return answer


def _chosen_values(weights: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """At most `count` increasing values, one of them zero, close to the weights.

    They begin where density to the power of 1/3 puts them (Panter & Dite 1951), which leaves
    enough values to the rare large weights, and then move to the means of what they stand for.
    """
    low, high = float(weights.min(initial=0.0)), float(weights.max(initial=0.0))
    counts, edges = np.histogram(weights[weights != 0], _BINS, (low, high if high > low else 1.0))
    used = np.flatnonzero(counts)
    if not len(used):
        return np.zeros(1, dtype=np.float32)
    sizes, places = counts[used], (edges[used] + edges[used + 1]) / 2
    density = counts.reshape(_WIDE_BINS, -1).sum(axis=1)
    shares = np.concatenate([[0.0], np.cumsum(np.cbrt(density))])
    wide = edges[:: _BINS // _WIDE_BINS]
    values = np.interp(np.linspace(0, shares[-1], count), shares, wide)
    for _ in range(_ROUNDS):
        values[np.abs(values).argmin()] = 0.0
        values = np.unique(values)
        nearest = np.searchsorted((values[1:] + values[:-1]) / 2, places)
        sums = np.bincount(nearest, sizes * places, len(values))
        totals = np.bincount(nearest, sizes, len(values))
        values = np.where(totals > 0, sums / np.maximum(totals, 1), values)
    values[np.abs(values).argmin()] = 0.0
    return np.unique(values.astype(np.float32))


def encode(weights: NDArray[Any]) -> Tensors | None:
    """Codes and values of an array with few different values; None for any other."""
    if len(weights) <= _MOST_VALUES or len(np.unique(weights[:_BEGINNING])) > _MOST_VALUES:
        return None
    values, codes = np.unique(weights, return_inverse=True)
    if len(values) > _MOST_VALUES:
        return None
    codes = codes.astype(np.uint8)
    if len(values) <= _NIBBLE:
        codes = np.append(codes, np.zeros(len(codes) % 2, dtype=np.uint8))
        codes = codes[0::2] | codes[1::2] << 4
    return {CODES: codes, VALUES: values}


def decoded(codes: NDArray[Any], values: NDArray[Any], size: int) -> NDArray[Any]:
    """The array that `encode` was given."""
    halves = 0 < len(values) <= _NIBBLE
    length = (size + 1) // 2 if halves else size
    fits = codes.shape == (length,) and codes.dtype == np.uint8 and values.ndim == 1
    if not 0 < len(values) <= _MOST_VALUES or not fits:
        raise ModelError("the number of weights does not fit the options.")
    table = np.zeros(_NIBBLE if halves else _MOST_VALUES, dtype=values.dtype)
    table[: len(values)] = values
    if halves:  # a table of the two weights of a byte
        table = np.stack([np.tile(table, _NIBBLE), np.repeat(table, _NIBBLE)], axis=1)
    answer: NDArray[Any] = np.take(table, codes, axis=0).reshape(-1)[:size]
    return answer
