"""Scores of sentences packed into one flat array, checked: lists, stacks, single sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import inference as kernels
from arbora.errors import ArboraError
from arbora.inference.packed import Packed, check_room, most_cells, room
from arbora.types import Root, TreeClass

__all__ = ["pack", "pack_list", "pack_stack"]


def pack(
    arrays: Sequence[NDArray[Any]],
    trees: TreeClass,
    root: Root,
    threads: int,
    sentences: NDArray[np.int64] | None = None,
) -> tuple[Packed, dict[int, ArboraError]]:
    """Copies and checks the scores of sentences with the same number of labels."""
    if len(arrays) > 1:
        packed_list = pack_list(arrays, trees, root, threads, sentences)
        if packed_list is not None:
            return packed_list
    n_words = [array.shape[0] - 1 for array in arrays]
    n_labels = arrays[0].shape[2] if arrays and arrays[0].ndim == 3 else None
    check_room(sum(array.size for array in arrays))
    with np.errstate(over="ignore"):  # values beyond float64 are rejected as too large
        if len(arrays) == 1:
            flat = np.array(arrays[0], dtype=np.float64, order="C").reshape(-1)
        else:
            pieces = [array.reshape(-1) for array in arrays] or [np.empty(0)]
            flat = np.concatenate(pieces, dtype=np.float64)
    packed = Packed(flat, n_words, n_labels, trees, root, threads, sentences)
    return packed, packed.check()


def pack_list(
    arrays: Sequence[Any],
    trees: TreeClass,
    root: Root,
    threads: int,
    sentences: NDArray[np.int64] | None = None,
) -> tuple[Packed, dict[int, ArboraError]] | None:
    """The same in one call of the core, which also checks the shapes.

    None unless all are contiguous float64 NumPy arrays in the shape of scores.
    """
    answer = kernels.pack_list(
        list(arrays), np.ndarray, most_cells(), trees == "projective", root == "multi",
        threads,
    )  # fmt: skip
    if answer is None:
        return None
    flat, n_words, n_labels, found = answer
    packed = Packed(flat, n_words, n_labels, trees, root, threads, sentences)
    return packed, packed.explain(found)


def pack_stack(
    stack: NDArray[Any], trees: TreeClass, root: Root, threads: int
) -> tuple[Packed, dict[int, ArboraError]]:
    """The same for an array of sentences, (sentences, n+1, n+1) or with labels."""
    check_room(stack.size)
    if stack.dtype != np.float64:
        with np.errstate(over="ignore"):
            stack = stack.astype(np.float64)
    source = np.ascontiguousarray(stack).reshape(-1)
    n_words = np.full(len(stack), stack.shape[1] - 1, dtype=np.int64)
    n_labels = stack.shape[3] if stack.ndim == 4 else None
    packed = Packed(room(source.size), n_words, n_labels, trees, root, threads)
    return packed, packed.check(source)
