"""One thread for NumPy's matrix products, while the scorer has threads of its own.

Sums in OpenBLAS depend on its number of threads, and threads that wait for each other on too few
cores make a product several times slower.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np

__all__ = ["one_blas_thread"]

# NumPy's wheels rename the functions of OpenBLAS.
_NAMES = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")

_lock = threading.Lock()
_state = {"users": 0, "before": 1}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limits OpenBLAS to one thread inside; other libraries are left alone."""
    found = _functions()
    if found is None:
        yield
        return
    get, put = found
    with _lock:
        if _state["users"] == 0:
            _state["before"] = get()
            put(1)
        _state["users"] += 1
    try:
        yield
    finally:
        with _lock:
            _state["users"] -= 1
            if _state["users"] == 0:
                put(_state["before"])


@cache
def _functions() -> tuple[Callable[[], int], Callable[[int], object]] | None:
    """The functions of the OpenBLAS that NumPy uses, if it does."""
    try:
        library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]  # noqa: SLF001  # it is linked with OpenBLAS
    except (AttributeError, OSError, TypeError):
        return None
    for name in _NAMES:
        try:
            get = getattr(library, name.format("get_num_threads"))
            put = getattr(library, name.format("set_num_threads"))
        except AttributeError:
            continue
        put.argtypes, put.restype = [ctypes.c_int], None
        return get, put
    return None
