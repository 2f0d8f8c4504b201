"""Arrays of any kind that callers hand in, as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import ShapeError

__all__ = ["as_array", "as_heads", "as_real"]


def as_array(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array over the caller's data: NumPy, the buffer protocol, DLPack, or nested lists."""
    if isinstance(values, np.ma.MaskedArray):
        raise ShapeError(f"{what} must not be a masked array: fill it, with -inf to forbid an arc")
    try:
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return np.from_dlpack(values)  # type: ignore[arg-type]  # it has __dlpack__
        return np.asarray(values)
    except Exception as error:  # whatever another framework raises, the caller needs one sentence
        raise ShapeError(f"{what} cannot be read as an array: {error}") from error


def as_real(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array of real numbers."""
    array = as_array(values, what)
    if array.dtype.kind not in "fiub":
        raise ShapeError(f"{what} must be real numbers, not {array.dtype}")
    return array


def as_heads(heads: ArrayLike, n_words: int, what: str = "heads") -> NDArray[np.int64]:
    """Heads of one tree, (n,), or of many, (k, n)."""
    array = as_array(heads, what)
    if array.dtype.kind not in "iu":
        raise ShapeError(f"{what} must be integers, not {array.dtype}")
    if array.ndim not in (1, 2) or array.shape[-1] != n_words:
        raise ShapeError(
            f"{what} must have one number per word, {n_words} in all, not shape {array.shape}"
        )
    wide = array.astype(np.int64)
    bad = (wide < 0) | (wide > n_words)
    if bad.any():
        where = np.argwhere(bad)[0]
        word = int(where[-1]) + 1
        raise ShapeError(
            f"the head of word {word} is {wide[tuple(where)]}: "
            f"it must be 0 (the root) or a word from 1 to {n_words}"
        )
    return wide
