"""Bootstrap samples of sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from arbora.types import FloatArray

__all__ = ["CELLS", "resampled_counts"]

CELLS = 1 << 21  # sentences that are drawn at a time; limits the memory to about 50 MB


def resampled_counts(n: int, samples: int, seed: int) -> Iterator[FloatArray]:
    """How often each of n sentences is drawn in each sample: rows of n counts, many at a time."""
    rng = np.random.default_rng(seed)
    at_a_time = max(1, CELLS // n)
    for start in range(0, samples, at_a_time):
        rows = min(at_a_time, samples - start)
        drawn = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
