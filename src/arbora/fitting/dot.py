"""Inner products that do not depend on the number of threads, unlike those of BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora.types import FloatArray

__all__ = ["dot"]


def dot(a: FloatArray, b: FloatArray) -> Any:
    """The sum of products along the last axis, in an order that depends only on the length.

    Returns a number for two vectors, and one number per row for a matrix and a vector.
    """
    return np.add.reduce(np.ascontiguousarray(a * b), axis=-1)
