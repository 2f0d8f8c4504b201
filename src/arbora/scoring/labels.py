"""Scores of labels, given a tree: a softmax for each word, with the tree around it as context."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from arbora._core import scoring as kernels
from arbora.features import Encoded, FeatureSettings
from arbora.scoring.linear import Gradient
from arbora.scoring.scorer import Parameters
from arbora.types import FloatArray, IntArray

__all__ = ["LabelScorer", "softmax"]


def softmax(scores: FloatArray) -> FloatArray:
    """Probabilities from the scores of a row."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class LabelScorer:
    """Scores of the labels of given trees' arcs: 2^row_bits rows of one weight per label."""

    def __init__(
        self, settings: FeatureSettings, row_bits: int, n_labels: int, threads: int = 1
    ) -> None:
        self._table = kernels.make_rows(settings.kernel, 0, row_bits, n_labels, False)
        self.row_bits, self.n_labels, self.threads = row_bits, n_labels, threads
        self.weights: NDArray[Any] = np.zeros(0, dtype=np.float32)
        self._gradient: Gradient | None = None

    @property
    def size(self) -> int:
        """Number of weights."""
        return self._table.weights

    def scores(self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray) -> FloatArray:
        """(words, labels) of the chosen sentences."""
        answer = np.empty(len(heads) * self.n_labels)
        kernels.score_labels(
            self._table, self.weights, 1.0, encoded.kernel, sentences, heads, answer, self.threads
        )
        return answer.reshape(-1, self.n_labels)

    def pullback(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        heads: IntArray,
        d_scores: FloatArray,
    ) -> Gradient:
        """The gradient of sum(d_scores * scores) with respect to the weights."""
        gradient = self._gradient = self._gradient or Gradient(self._table)
        kernels.expand_labels(
            self._table, encoded.kernel, sentences, heads, d_scores.reshape(-1), gradient,
            self.threads,
        )  # fmt: skip
        return gradient

    def parameters(self) -> Parameters:
        """The table of weights, which update rules change in place."""
        return {"weights": self.weights}

    def with_parameters(self, parameters: Mapping[str, NDArray[Any]]) -> Self:
        """The same scorer with other weights."""
        other = copy(self)
        other.weights = parameters["weights"]
        return other

    def on_threads(self, threads: int) -> Self:
        """The same scorer on `threads` threads, with its own gradient."""
        other = copy(self)
        other.threads, other._gradient = threads, None  # noqa: SLF001  # of the same class
        return other
