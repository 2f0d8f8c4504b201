"""Checks of what taggers and lemmatisers read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError

__all__ = [
    "Tensors", "check_ends", "finite", "flag", "increasing", "names_in", "tensor", "whole_number",
    "within",
]  # fmt: skip

Tensors = Mapping[str, NDArray[Any]]


def tensor(
    tensors: Tensors, name: str, kind: type[np.generic], size: int | None = None
) -> NDArray[Any]:
    """A vector of the given type, and of the given size if there is one."""
    if name not in tensors:
        raise ModelError(f"the model has no tensor {name}.")
    found = np.ascontiguousarray(tensors[name])
    if found.dtype != kind or found.ndim != 1:
        raise ModelError(f"the tensor {name} must be a vector of {kind.__name__}.")
    if size is not None and len(found) != size:
        raise ModelError(f"the tensor {name} has {len(found)} entries where {size} are needed.")
    return found


def finite(values: NDArray[Any], name: str) -> NDArray[Any]:
    """The same values; infinities and NaN raise an error."""
    if not np.isfinite(values).all():
        raise ModelError(f"the tensor {name} holds a number that is not finite.")
    return values


def within(values: NDArray[Any], low: int, end: int, name: str) -> None:
    """Raises an error unless low <= value < end for all."""
    if len(values) and not (low <= int(values.min()) and int(values.max()) < end):
        raise ModelError(f"the tensor {name} holds a number out of range.")


def increasing(values: NDArray[Any], name: str) -> None:
    """Raises an error unless every number is larger than the one before."""
    if (np.diff(values.astype(np.int64)) <= 0).any():
        raise ModelError(f"the tensor {name} must increase.")


def check_ends(ends: NDArray[Any], size: int, name: str) -> None:
    """Raises an error unless these are ends of parts of a vector of this size."""
    whole = ends.astype(np.int64)
    last = int(whole[-1]) if len(whole) else 0
    if last != size or (len(whole) and whole[0] < 0) or (np.diff(whole) < 0).any():
        raise ModelError(f"the tensor {name} does not divide {size} entries.")


def names_in(settings: Mapping[str, Any], key: str) -> list[str]:
    """A list of different texts that a column can hold."""
    found = settings.get(key)
    good = isinstance(found, list) and all(
        isinstance(one, str) and one and one == one.strip(" ") and not set(one) & set("\t\r\n")
        for one in found
    )
    if not good or len(set(found or ())) != len(found or ()):
        raise ModelError(f"{key} must be a list of different names.")
    return list(found or ())


def flag(settings: Mapping[str, Any], key: str) -> bool:
    """A setting that is true or false."""
    found = settings.get(key)
    if not isinstance(found, bool):
        raise ModelError(f"{key} must be true or false.")
    return found


def whole_number(settings: Mapping[str, Any], key: str, low: int, high: int) -> int:
    """A setting that is a whole number in a range."""
    found = settings.get(key)
    if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
        raise ModelError(f"{key} must be a whole number between {low} and {high}.")
    return found
