"""The extra `arrow`."""

from __future__ import annotations

from typing import Any

from arbora.errors import ArgumentError

__all__ = ["pyarrow"]


def pyarrow() -> Any:
    """The package pyarrow; raises an error that says how to install it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise ArgumentError(
            'Parquet requires pyarrow: install it with pip install "arbora[arrow]".'
        ) from None
    return pa
