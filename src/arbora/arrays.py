"""Checks and conversions of arguments: arrays, numbers, lists."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import ArgumentError, ShapeError, reason

__all__ = ["as_array", "as_count", "as_heads", "as_iterator", "as_list", "as_real", "as_seed"]

Entry = TypeVar("Entry")


def as_array(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array over the caller's data: NumPy, the buffer protocol, DLPack, or nested lists."""
    if isinstance(values, np.ma.MaskedArray):
        raise ShapeError(f"{what} must not be a masked array: fill it, with -inf to forbid an arc.")
    try:
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return np.from_dlpack(values)  # type: ignore[arg-type]  # it has __dlpack__
        return np.asarray(values)
    except Exception as error:  # other frameworks raise anything
        raise ShapeError(f"{what} cannot be read as an array: {reason(error)}.") from error


def as_real(values: ArrayLike, what: str) -> NDArray[Any]:
    """An array of real numbers."""
    array = as_array(values, what)
    if array.dtype.kind not in "fiub":
        raise ShapeError(f"{what} must be real numbers, not {array.dtype}.")
    return array


def as_heads(heads: ArrayLike, n_words: int, what: str = "heads") -> NDArray[np.int64]:
    """Heads of one tree, (n,), or of many, (k, n)."""
    array = as_array(heads, what)
    if array.dtype.kind not in "iu":
        raise ShapeError(f"{what} must be integers, not {array.dtype}.")
    if array.ndim not in (1, 2) or array.shape[-1] != n_words:
        raise ShapeError(
            f"{what} must have one number per word, {n_words} in all, not shape {array.shape}."
        )
    wide = array.astype(np.int64)
    bad = (wide < 0) | (wide > n_words)
    if bad.any():
        where = np.argwhere(bad)[0]
        word = int(where[-1]) + 1
        raise ShapeError(
            f"the head of word {word} is {wide[tuple(where)]}: "
            f"it must be 0 (the root) or a word from 1 to {n_words}."
        )
    return wide


def as_count(k: int, name: str, least: int = 1) -> int:
    """A whole number from `least` to 2**31 - 1, the largest that the core takes."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < least:
        raise ArgumentError(f"{name} must be a whole number of at least {least}, not {k!r}.")
    if k > 2**31 - 1:
        raise ArgumentError(f"{name} must be less than 2**31, not {k}.")
    return int(k)


def as_seed(seed: int | None) -> int:
    """The seed, or a random one for None."""
    if seed is None:
        return secrets.randbits(63)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError(f"seed must be a whole number of at least 0, or None, not {seed!r}.")
    return int(seed) % 2**64


def as_iterator(values: Iterable[Entry], what: str) -> Iterator[Entry]:
    """An iterator over anything iterable except text; `what` begins the error message."""
    try:
        if not isinstance(values, str | bytes):
            return iter(values)
    except TypeError:  # for instance of a 0-dimensional array
        pass
    raise ArgumentError(f"{what}, not {type(values).__name__}.")


def as_list(values: Iterable[Entry], what: str) -> list[Entry]:
    """The entries of anything iterable except text."""
    return list(as_iterator(values, what))
