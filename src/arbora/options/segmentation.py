"""Options of learning a segmenter."""

from __future__ import annotations

from dataclasses import dataclass

from arbora.options.declare import Component, option

__all__ = ["SegmenterOptions"]


@dataclass(frozen=True)
class SegmenterOptions(Component):
    """Options of `arbora.segmentation.train_segmenter`."""

    passes: int = option(
        100, "Maximum number of passes over the training text.", "Learning", low=1, high=100_000
    )
    regularization: float = option(
        0.3, "Strength of the L2 regulariser: X / 2 times the sum of squared weights.",
        "Learning", low=0.0, high=1e12,
    )  # fmt: skip
    bits: int = option(
        18, "The largest table has 2 to the power of N weights, of two bytes each.", "Model",
        low=8, high=28,
    )  # fmt: skip
