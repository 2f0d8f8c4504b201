"""Arrays of any kind that callers hand in, as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import ShapeError

__all__ = ["as_array", "as_real"]


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
    array = as_array(values, what)
    if array.dtype.kind not in "fiub":
        raise ShapeError(f"{what} must be real numbers, not {array.dtype}")
    return array
