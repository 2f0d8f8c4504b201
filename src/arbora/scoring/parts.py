"""Weights times features for arcs and parts of second order, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arbora._core import scoring as kernels
from arbora.features import Encoded, FeatureSettings
from arbora.parts import PackedParts, PartKind
from arbora.scoring.linear import Gradient, Sentences, Weights
from arbora.types import FloatArray

__all__ = ["PartScorer"]


class PartScorer:
    """Scores of the arcs that are left after pruning, and of the parts over them.

    Arcs and parts share one table of 2^bits weights.
    """

    def __init__(
        self, settings: FeatureSettings, bits: int, kinds: Sequence[PartKind], threads: int = 1
    ) -> None:
        self._model = kernels.make_model(settings.kernel, bits, None)
        self.kinds = tuple(kinds)
        self.threads = threads

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self._model.weights

    def scores(
        self,
        weights: Weights,
        encoded: Encoded,
        sentences: Sentences,
        kept: NDArray[np.uint8],
        scale: float = 1.0,
    ) -> PackedParts:
        """Scores of the chosen sentences over the arcs of a mask (flat, as scores are)."""
        n_words = encoded.n_words[sentences]
        parts = PackedParts.over_mask(kept, n_words, self.kinds, self.threads)
        kernels.score_parts(
            self._model, weights, scale, encoded.kernel, sentences, parts.index, kept,
            *parts.arrays(), self.threads,
        )  # fmt: skip
        return parts

    def expand(
        self, gradient: Gradient, encoded: Encoded, sentences: Sentences, d_scores: PackedParts
    ) -> None:
        """Makes `gradient` that of sum(d_scores * scores)."""
        kernels.expand_parts(
            self._model, encoded.kernel, sentences, d_scores.index, *d_scores.arrays(), gradient,
            self.threads,
        )  # fmt: skip

    def norms(self, encoded: Encoded, sentences: Sentences, d_scores: PackedParts) -> FloatArray:
        """The squared length of each sentence's gradient."""
        answer = np.empty(len(sentences))
        kernels.part_norms(
            self._model, encoded.kernel, sentences, d_scores.index, *d_scores.arrays(), answer,
            self.threads,
        )  # fmt: skip
        return answer
