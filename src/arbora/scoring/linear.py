"""Weights times features for many sentences at once, and back: the gradient of the weights.

Flat arrays throughout: the cells of one sentence after the other, as inference takes them.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from arbora._core import scoring as kernels
from arbora.data import Block
from arbora.features import Encoded, FeatureSettings, WordClusters, no_arc_filter
from arbora.types import FloatArray, IntArray

__all__ = ["ArcScorer", "Gradient", "LabelScorer", "Outcomes"]

Outcomes = Literal["label", "edge", "token"]
Gradient = kernels.Gradient
Weights = NDArray[Any]  # float32 in use, float64 in training
Sentences = NDArray[np.int64]

_NO_HEADS = np.zeros(0, dtype=np.int32)


class ArcScorer:
    """Scores of arcs; with `width` outcomes per arc (labels or hidden clusters), scores of those.

    The weights are one vector: 2^bits for arcs, then 2^row_bits rows of `width`.
    """

    def __init__(
        self,
        settings: FeatureSettings,
        bits: int,
        *,
        outcomes: Outcomes | None = None,
        row_bits: int = 0,
        width: int = 1,
        arc_filter: NDArray[np.uint16] | None = None,
        threads: int = 1,
    ) -> None:
        rows = None
        if outcomes is not None:
            kind = get_args(Outcomes).index(outcomes)
            rows = kernels.make_rows(settings.kernel, kind, row_bits, width)
        self._settings = settings
        self._model = kernels.make_model(settings.kernel, bits, rows)
        self.arc_weights = 1 << bits
        self.n_labels = width if outcomes is not None else None
        self.arc_filter = no_arc_filter() if arc_filter is None else arc_filter
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
        *,
        scale: float = 1.0,
        keep: IntArray | None = None,
    ) -> FloatArray:
        """Scores of the chosen sentences.

        Arcs in `keep` (their words' heads) are not filtered, nor are those of words where it is -1.
        """
        sides = encoded.n_words[sentences] + 1
        answer = np.empty(int((sides * sides).sum()) * self._model.width)
        kept = _NO_HEADS if keep is None else keep
        kernels.score(
            self._model, weights, scale, self.arc_filter, encoded.kernel, sentences, kept, answer,
            self.threads,
        )  # fmt: skip
        return answer

    def expand(
        self, gradient: Gradient, encoded: Encoded, sentences: Sentences, d_scores: FloatArray
    ) -> None:
        """Makes `gradient` that of sum(d_scores * scores)."""
        kernels.expand(self._model, encoded.kernel, sentences, d_scores, gradient, self.threads)

    def explain(
        self,
        weights: Weights,
        block: Block,
        clusters: WordClusters | None,
        sentence: int,
        head: int,
        modifier: int,
        outcome: int = 0,
    ) -> list[tuple[str, list[str], int, bool, float]]:
        """Every feature of the score of an arc (with an outcome, if arcs have several).

        Template, atoms, variant, whether the weight is of the outcome, weight times value. Variant
        0 is the feature alone; others are its twins with direction and distance.
        """
        table = None if clusters is None else clusters.kernel
        return kernels.explain(
            self._model, weights, block, sentence, self._settings.kernel, table, head, modifier,
            outcome,
        )  # fmt: skip

    def inner_products(
        self, encoded: Encoded, sentences: Sentences, d_scores: FloatArray, count: int = 1
    ) -> FloatArray:
        """Inner products of the gradients of `count` vectors per sentence, (sentences, k, k)."""
        answer = np.empty(len(sentences) * count * count)
        kernels.inner_products(
            self._model, encoded.kernel, sentences, d_scores, count, answer, self.threads
        )
        return answer.reshape(-1, count, count)


class LabelScorer:
    """Scores of the labels of given trees' arcs, with the trees as context."""

    def __init__(
        self, settings: FeatureSettings, row_bits: int, n_labels: int, threads: int = 1
    ) -> None:
        self._table = kernels.make_rows(settings.kernel, 0, row_bits, n_labels)
        self.n_labels = n_labels
        self.threads = threads

    @property
    def size(self) -> int:
        return self._table.weights

    def scores(
        self, weights: Weights, encoded: Encoded, sentences: Sentences, heads: IntArray
    ) -> FloatArray:
        """(words, labels) of the chosen sentences."""
        answer = np.empty(len(heads) * self.n_labels)
        kernels.score_labels(
            self._table, weights, 1.0, encoded.kernel, sentences, heads, answer, self.threads
        )
        return answer.reshape(-1, self.n_labels)

    def expand(
        self,
        gradient: Gradient,
        encoded: Encoded,
        sentences: Sentences,
        heads: IntArray,
        d_scores: FloatArray,
    ) -> None:
        kernels.expand_labels(
            self._table, encoded.kernel, sentences, heads, d_scores.reshape(-1), gradient,
            self.threads,
        )  # fmt: skip
