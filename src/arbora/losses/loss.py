"""What a loss gives."""

from __future__ import annotations

from typing import NamedTuple

from arbora.types import FloatArray

__all__ = ["Loss"]


class Loss(NamedTuple):
    """One number per sentence, and the derivative of their sum with respect to every score."""

    values: FloatArray
    d_scores: FloatArray
