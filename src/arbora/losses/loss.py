"""What a loss gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from arbora.parts import PackedParts
from arbora.types import FloatArray

__all__ = ["Loss", "PartLoss"]


class Loss(NamedTuple):
    """One number per sentence, and the derivative of their sum with respect to every score."""

    values: FloatArray
    d_scores: FloatArray


@dataclass(frozen=True)
class PartLoss:
    """The same of scores of arcs and parts."""

    values: FloatArray
    d_scores: PackedParts
