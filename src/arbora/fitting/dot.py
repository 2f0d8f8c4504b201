"""Inner products that are the same bytes on any number of threads, which BLAS does not promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora.types import FloatArray

__all__ = ["dot"]


def dot(a: FloatArray, b: FloatArray) -> Any:
    """The sum of products along the last axis, pairwise, in an order that the length alone decides.

    Of two vectors it is a number; of rows and a vector, one number for each row.
    """
    return np.add.reduce(np.ascontiguousarray(a * b), axis=-1)
