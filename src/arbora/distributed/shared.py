"""What all workers share, such as a parser: sent once, and unpacked once by every process."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Shared", "worker_memory"]

_KEPT: dict[str, Any] = {}  # the last value of this process
_BASE = 300_000_000  # bytes of a worker without a model: Python, packages, a block of sentences
_PER_BYTE = 12  # of the model file: weights are stored sparsely or as codes


@dataclass(frozen=True)
class Shared:
    """A value in its pickled form, which is fetched from a store or comes along.

    `fetch` gives the bytes. They are unpickled when a process first needs the value, and the value
    is kept until the process needs another one.
    """

    key: str
    size: int
    fetch: Callable[[], bytes]

    @classmethod
    def of(cls, value: Any) -> Shared:
        """A parser in it is pickled as the contents of its model file."""
        data = pickle.dumps(value, protocol=5)
        return cls(hashlib.sha256(data).hexdigest(), len(data), Contents(data))

    def stored(self, ray: Any) -> Shared:
        """The same value with its bytes in Ray's object store, of which every node has a copy."""
        return replace(self, fetch=RayContents([ray.put(self.fetch())]))

    def value(self) -> Any:
        """The value, unpickled once per process."""
        if self.key not in _KEPT:
            _KEPT.clear()
            _KEPT[self.key] = pickle.loads(self.fetch())
        return _KEPT[self.key]


@dataclass(frozen=True)
class Contents:
    """Bytes that come along."""

    data: bytes

    def __call__(self) -> bytes:
        """The bytes."""
        return self.data


@dataclass(frozen=True)
class RayContents:
    """Bytes in Ray's object store; the list keeps Ray from fetching them with every task."""

    reference: list[Any]

    def __call__(self) -> bytes:
        """The bytes."""
        import ray

        data: bytes = ray.get(self.reference[0])
        return data


@dataclass(frozen=True)
class BroadcastContents:
    """Bytes in a broadcast variable of Spark, of which every executor has a copy."""

    variable: Any

    def __call__(self) -> bytes:
        """The bytes."""
        data: bytes = self.variable.value
        return data


def worker_memory(shared_bytes: int) -> int:
    """The bytes that a worker needs with a shared value of this size."""
    return _BASE + _PER_BYTE * shared_bytes
