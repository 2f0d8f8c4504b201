"""The arc filter: the longest arc of the training data per tags and direction.

Every sentence keeps a tree: the chain 0 -> 1 -> 2 -> ... is always kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora._core import features as kernels
from arbora.features.encoding import Encoded
from arbora.types import IntArray

__all__ = ["FILTER_SIZE", "learn_arc_filter", "no_arc_filter"]

ArcFilter = NDArray[np.uint16]
FILTER_SIZE: int = kernels.FILTER_SIZE


def no_arc_filter() -> ArcFilter:
    """The filter that keeps every arc."""
    return np.zeros(0, dtype=np.uint16)


def learn_arc_filter(
    encoded: Encoded, heads: IntArray, start: ArcFilter | None = None
) -> ArcFilter:
    """The lengths that the given trees need; widens `start` if there is one."""
    lengths = np.zeros(FILTER_SIZE, np.uint16) if start is None else start.copy()
    kernels.learn_filter(encoded.kernel, np.ascontiguousarray(heads), lengths)
    return lengths
