"""Finite differences, to check gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arbora.types import FloatArray

__all__ = ["finite_difference"]


def finite_difference(
    function: Callable[[FloatArray], float], at: FloatArray, step: float = 1e-3
) -> FloatArray:
    """The gradient of a function by central differences of fourth order.

    The default step balances rounding (about 1e-13 of the function's size) with truncation
    (about step^4). The gradient of entries that are not finite is 0.
    """
    answer = np.zeros(at.shape)
    for index in np.ndindex(*at.shape):
        if not np.isfinite(at[index]):
            continue

        def shifted(by: float, index: tuple[int, ...] = index) -> float:
            moved = at.copy()
            moved[index] += by
            return function(moved)

        near = shifted(step) - shifted(-step)
        far = shifted(2 * step) - shifted(-2 * step)
        answer[index] = (8 * near - far) / (12 * step)
    return answer
