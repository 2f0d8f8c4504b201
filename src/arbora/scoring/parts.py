"""Weights times features for arcs and parts of second order, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arbora._core import scoring as kernels
from arbora.data import Block
from arbora.features import Encoded, FeatureSettings, WordClusters
from arbora.parts import KINDS, PackedParts, PartKind
from arbora.scoring.linear import Gradient, Sentences, Weights
from arbora.types import FloatArray

__all__ = ["PartScorer"]

Feature = tuple[str, list[str], int, float]  # template, atoms, variant, weight times value


class PartScorer:
    """Scores of the arcs that are left after pruning, and of the parts over them.

    Arcs and parts share one table of 2^bits weights.
    """

    def __init__(
        self, settings: FeatureSettings, bits: int, kinds: Sequence[PartKind], threads: int = 1
    ) -> None:
        self._settings = settings
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

    def explain_arc(
        self,
        weights: Weights,
        block: Block,
        clusters: WordClusters | None,
        head: int,
        modifier: int,
    ) -> list[Feature]:
        """Every feature of an arc of a block's first sentence."""
        table = None if clusters is None else clusters.kernel
        features = kernels.explain(
            self._model, weights, block, 0, self._settings.kernel, table, head, modifier, 0
        )
        return [(name, atoms, variant, value) for name, atoms, variant, _, value in features]

    def explain_part(
        self,
        weights: Weights,
        block: Block,
        clusters: WordClusters | None,
        parts: PackedParts,
        kind: PartKind,
        place: int,
    ) -> list[Feature]:
        """Every feature of a part of a block's first sentence: the one in this place of its table.

        Variants are those of `cpp/include/arbora/features/part_templates.hpp`.
        """
        table = None if clusters is None else clusters.kernel
        return kernels.explain_part(
            self._model, weights, block, 0, self._settings.kernel, table, parts.index, 0,
            KINDS.index(kind), place,
        )  # fmt: skip

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
