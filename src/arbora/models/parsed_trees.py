"""Trees of many sentences with their figures, as a decoder finds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from arbora.types import FloatArray, IntArray

__all__ = ["ParsedTrees"]


@dataclass(frozen=True)
class ParsedTrees:
    """Trees of many sentences as flat arrays; label indices are -1 without labels.

    The probabilities of arcs, of labels given the arc, and the log-probabilities of trees are empty
    unless asked for, and so are the words' likeliest other heads. `certified` marks trees that are
    provably the best, and `gaps` has an upper bound on how much better another tree may be.
    `set_heads` has the heads of all words' head sets, one set after the other, and `set_sizes` the
    numbers of heads.
    `fallbacks`, empty without limits, says why trees are not what they would be without (`limits`).
    """

    heads: IntArray
    labels: IntArray
    arc_probabilities: FloatArray
    label_probabilities: FloatArray
    log_probs: FloatArray
    certified: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    gaps: FloatArray = field(default_factory=lambda: np.empty(0))
    runner_ups: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    runner_up_probabilities: FloatArray = field(default_factory=lambda: np.empty(0))
    set_heads: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    set_sizes: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    fallbacks: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))

    @classmethod
    def joined(cls, parts: Sequence[ParsedTrees]) -> ParsedTrees:
        """The concatenation of several results."""
        if not parts:
            nothing, none = np.empty(0), np.empty(0, dtype=np.int32)
            return cls(none, none, nothing, nothing, nothing)
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def as_fallback(self, reason: int) -> ParsedTrees:
        """The same trees as those of another model: without certificates, marked with a reason."""
        count = len(self.certified)
        return replace(
            self, certified=np.zeros(count, dtype=np.bool_), gaps=np.full(count, np.inf),
            fallbacks=np.full(count, reason, dtype=np.int8),
        )  # fmt: skip
