"""Linear scores: weights times hashed features, and their gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from arbora._core import scoring as kernels
from arbora.data import Block
from arbora.features import FeatureSettings, WordClusters, no_arc_filter
from arbora.options import ClusterFeatures
from arbora.scores import PartKind, Scores, kind_number
from arbora.scoring.batch import Batch
from arbora.scoring.scorer import Parameters, Pullback, register_scorer
from arbora.types import FloatArray

__all__ = ["Feature", "Gradient", "LinearScorer", "Outcomes"]

Outcomes = Literal["label", "edge", "token", "soft"]
Gradient = kernels.Gradient
# Template, atoms, variant, whether the weight belongs to a label or cluster, weight times value.
Feature = tuple[str, list[str], int, bool, float]


@register_scorer
class LinearScorer:
    """Scores of arcs and, over the arcs that survived pruning, of parts.

    With `width` outcomes per arc (labels or clusters) it scores these. The weights are one vector:
    2^bits that arcs and parts share, then 2^row_bits rows of `width`. They are float32 in use and
    float64 in training; `scale` multiplies all of them.

    With `cluster_features="all"`, rows also have direction and distance. Arcs then have no weights
    of their own, because every feature belongs to a cluster: the score of an edge is the sum over
    z of exp(theta . f(x, i, j, z)) (Smith & Smith 2007, Eq. 18). Clusters of tokens see only the
    features of single words; pairs of words keep weights without a cluster.
    """

    kind: ClassVar[str] = "linear"

    def __init__(
        self,
        settings: FeatureSettings,
        bits: int,
        *,
        kinds: Sequence[PartKind] = (),
        outcomes: Outcomes | None = None,
        row_bits: int = 0,
        width: int = 1,
        cluster_features: ClusterFeatures = "beside",
        arc_filter: NDArray[np.uint16] | None = None,
        threads: int = 1,
    ) -> None:
        rows, every = None, cluster_features == "all"
        if outcomes is not None:
            rows = kernels.make_rows(
                settings.kernel, get_args(Outcomes).index(outcomes), row_bits, width,
                every or outcomes == "soft",
            )  # fmt: skip
        self.settings = settings
        self.bits, self.row_bits, self.width = bits, row_bits, width
        self.outcomes: Outcomes | None = outcomes
        self.cluster_features: ClusterFeatures = cluster_features
        self._kinds = tuple(kinds)
        self.arc_filter = no_arc_filter() if arc_filter is None else arc_filter
        self.threads = threads
        self.scale = 1.0
        beside = not (every and outcomes == "edge")
        self._model = kernels.make_model(settings.kernel, bits, rows, beside)
        self.weights: NDArray[Any] = np.zeros(0, dtype=np.float32)
        self._gradient: Gradient | None = None

    @property
    def kinds(self) -> tuple[PartKind, ...]:
        """The kinds of parts that are scored besides arcs."""
        return self._kinds

    @property
    def n_labels(self) -> int | None:
        """Number of labels or hidden clusters per arc, None for plain arcs."""
        return self.width if self.outcomes is not None else None

    @property
    def size(self) -> int:
        """Number of weights."""
        return self._model.weights

    @property
    def row_weights(self) -> slice:
        """Where the weights of outcomes are: one row after the other."""
        return slice(self._model.arc_weights, self._model.weights)

    def scores(self, batch: Batch) -> tuple[Scores, Pullback]:
        """Scores of a batch; arcs that training may need are never filtered."""
        found = self._part_scores(batch) if self._kinds else self._arc_scores(batch)

        def pullback(d_scores: Scores) -> Gradient:
            if not self._kinds:
                return self._expanded(batch, d_scores.arcs)
            gradient = self._gradient = self._gradient or Gradient(self._model)
            kernels.expand_parts(
                self._model, batch.encoded.kernel, batch.sentences, d_scores.index,
                d_scores.arrays(), gradient, self.threads,
            )  # fmt: skip
            return gradient

        return found, pullback

    def _expanded(self, batch: Batch, d_numbers: FloatArray) -> Gradient:
        """The gradient of sum(d_numbers * numbers) with respect to the weights."""
        gradient = self._gradient = self._gradient or Gradient(self._model)
        kernels.expand(
            self._model, batch.encoded.kernel, batch.sentences, d_numbers, gradient, self.threads
        )
        return gradient

    def _arc_scores(self, batch: Batch) -> Scores:
        return Scores(self._numbers(batch), batch.n_words, self.n_labels)

    def _numbers(self, batch: Batch) -> FloatArray:
        """One number for every arc and outcome of a batch, flat."""
        sides = batch.n_words + 1
        answer = np.empty(int((sides * sides).sum()) * self._model.width)
        kernels.score(
            self._model, self.weights, self.scale, self.arc_filter, batch.encoded.kernel,
            batch.sentences, batch.heads, answer, self.threads,
        )  # fmt: skip
        return answer

    def _part_scores(self, batch: Batch) -> Scores:
        scores = Scores.over_mask(batch.kept, batch.n_words, self._kinds, self.threads)
        kernels.score_parts(
            self._model, self.weights, self.scale, batch.encoded.kernel, batch.sentences,
            scores.index, batch.kept, scores.arrays(), self.threads,
        )  # fmt: skip
        return scores

    def parameters(self) -> Parameters:
        """The table of weights, which update rules change in place."""
        return {"weights": self.weights}

    def with_parameters(self, parameters: Mapping[str, NDArray[Any]]) -> Self:
        """The same scorer with other weights."""
        other = copy(self)
        other.weights, other.scale = parameters["weights"], 1.0
        return other

    def with_filter(self, arc_filter: NDArray[np.uint16]) -> Self:
        """The same scorer with another arc filter."""
        other = copy(self)
        other.arc_filter = arc_filter
        return other

    def on_threads(self, threads: int) -> Self:
        """The same scorer on `threads` threads, with its own gradient."""
        other = copy(self)
        other.threads, other._gradient = threads, None  # noqa: SLF001  # of the same class
        return other

    def state(self) -> tuple[dict[str, Any], Parameters]:
        """What a model file has to hold: a description for JSON, and arrays."""
        description = {
            "bits": self.bits, "kinds": list(self._kinds), "outcomes": self.outcomes,
            "row_bits": self.row_bits, "width": self.width,
        }  # fmt: skip
        if self.outcomes in ("edge", "token"):
            description["cluster_features"] = self.cluster_features
        return description, {"weights": self.weights, "arc_filter": self.arc_filter}

    @classmethod
    def from_state(
        cls,
        description: dict[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        features: FeatureSettings,
    ) -> Self:
        """The scorer that `state` described."""
        scorer = cls(
            features, description["bits"], kinds=description["kinds"],
            outcomes=description["outcomes"], row_bits=description["row_bits"],
            width=description["width"], arc_filter=arrays["arc_filter"],
            cluster_features=description.get("cluster_features", "beside"),
        )  # fmt: skip
        scorer.weights = arrays["weights"]
        return scorer

    def explain_arc(
        self,
        block: Block,
        clusters: WordClusters | None,
        head: int,
        modifier: int,
        outcome: int = 0,
    ) -> list[Feature]:
        """Every feature of the score of an arc of a block's first sentence.

        Variant 0 is a feature alone; others are its conjunctions with direction and distance.
        """
        table = None if clusters is None else clusters.kernel
        return kernels.explain(
            self._model, self.weights, block, 0, self.settings.kernel, table, head, modifier,
            outcome,
        )  # fmt: skip

    def explain_part(
        self,
        block: Block,
        clusters: WordClusters | None,
        scores: Scores,
        kind: PartKind,
        place: int,
    ) -> list[Feature]:
        """Every feature of a part of a block's first sentence, by its position in the table.

        Variants are those of `cpp/include/arbora/features/part_templates.hpp`.
        """
        table = None if clusters is None else clusters.kernel
        features = kernels.explain_part(
            self._model, self.weights, block, 0, self.settings.kernel, table, scores.index, 0,
            kind_number(kind), place,
        )  # fmt: skip
        return [(name, atoms, variant, False, value) for name, atoms, variant, value in features]

    def inner_products(self, batch: Batch, d_scores: FloatArray, count: int = 1) -> FloatArray:
        """Inner products of the gradients of `count` vectors per sentence, (sentences, k, k)."""
        answer = np.empty(len(batch) * count * count)
        kernels.inner_products(
            self._model, batch.encoded.kernel, batch.sentences, d_scores, count, answer,
            self.threads,
        )  # fmt: skip
        return answer.reshape(-1, count, count)

    def squared_norms(self, batch: Batch, d_scores: Scores) -> FloatArray:
        """The squared length of each sentence's gradient."""
        if not self._kinds:
            return self.inner_products(batch, d_scores.arcs)[:, 0, 0]
        answer = np.empty(len(batch))
        kernels.part_norms(
            self._model, batch.encoded.kernel, batch.sentences, d_scores.index,
            d_scores.arrays(), answer, self.threads,
        )  # fmt: skip
        return answer
