"""Checks of arguments: arrays of any kind, heads, options."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.arrays import as_array, as_count, as_heads, as_real, as_seed
from arbora.errors import ArgumentError, ShapeError
from arbora.types import FloatArray

__all__ = [
    "as_array",
    "as_count",
    "as_heads",
    "as_real",
    "as_scores",
    "as_seed",
    "as_values",
    "check_choice",
]


LARGEST_VALUE = 1e100  # its square, and sums of such squares, do not overflow


def as_scores(scores: ArrayLike, what: str = "scores") -> NDArray[Any]:
    """Arc scores of one sentence: (n+1, n+1), or (n+1, n+1, L) with labels; not copied yet."""
    array = as_real(scores, what)
    if array.ndim not in (2, 3) or array.shape[0] != array.shape[1]:
        raise ShapeError(
            f"{what} must have shape (n+1, n+1), or (n+1, n+1, L) with labels, not {array.shape}"
            + _guess(array.shape)
        )
    if array.shape[0] < 2:
        raise ShapeError(f"{what} have shape {array.shape}: a sentence needs at least one word.")
    if array.ndim == 3 and array.shape[2] < 1:
        raise ShapeError(f"{what} have shape {array.shape}: there must be at least one label.")
    return array


def _guess(shape: tuple[int, ...]) -> str:
    """The end of the message: the probable cause of a wrong shape."""
    if len(shape) in (3, 4) and shape[1] == shape[2]:
        return ": use .batch for several sentences."
    if len(shape) in (2, 3) and shape[0] + 1 == shape[1]:
        return ": is the row of the root, scores[0], missing?"
    if len(shape) in (2, 3) and shape[0] == shape[1] + 1:
        return ": is the column of the root, which is never read, missing?"
    return "."


def as_values(values: ArrayLike, scores: FloatArray, what: str) -> FloatArray:
    """Finite numbers, one per score; with labels, one per arc is enough.

    The values of forbidden and absent arcs are never read, and become 0.
    """
    with np.errstate(over="ignore"):  # overflows are rejected below
        array = as_real(values, what).astype(np.float64)
    shape = scores.shape
    if len(shape) == 3 and array.shape == shape[:2]:
        array = np.broadcast_to(array[:, :, None], shape)
    if array.shape != shape:
        raise ShapeError(f"{what} must have the shape of the scores, {shape}, not {array.shape}.")
    array = np.where(np.isneginf(scores), 0.0, array)
    sane = np.abs(array) <= LARGEST_VALUE
    if not sane.all():
        where = tuple(int(i) for i in np.argwhere(~sane)[0])
        raise ShapeError(
            f"{what}{list(where)} is {array[where]}: it must be a finite number, "
            f"at most {LARGEST_VALUE:g} in magnitude."
        )
    return array


def check_choice(value: object, choices: tuple[str, ...], name: str) -> None:
    """Raises `ArgumentError` unless the value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise ArgumentError(f"{name} must be {listed}, not {value!r}.")
