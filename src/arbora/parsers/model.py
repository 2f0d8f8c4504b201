"""A trained model: everything that parsing needs, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from arbora.features import FeatureSettings, WordClusters
from arbora.inference.part_inference import Infer, exact_inference, loopy_inference
from arbora.parsers.settings import ParserSettings, parts_of
from arbora.scoring import ArcScorer, LabelScorer, PartScorer
from arbora.types import Root, TreeClass

__all__ = ["Model"]


@dataclass(frozen=True)
class Model:
    """Settings as resolved by training, vocabulary, weights, and a card that says where from.

    `temperature` divides the scores where probabilities are asked for; it is fitted on dev. A model
    of higher order holds a `pruner`, a first-order model whose probabilities say which arcs are
    worth looking at.
    """

    settings: ParserSettings
    features: FeatureSettings
    labels: tuple[str, ...]
    root: Root
    decode_trees: TreeClass
    weights: NDArray[np.float32]
    label_weights: NDArray[np.float32]
    arc_filter: NDArray[np.uint16]
    word_clusters: WordClusters | None = None
    temperature: float = 1.0
    card: dict[str, Any] = field(default_factory=dict)
    pruner: Model | None = None

    @property
    def joint(self) -> bool:
        return self.settings.labels == "joint"

    @property
    def staged(self) -> bool:
        return self.settings.labels == "staged"

    @property
    def hidden(self) -> bool:
        """Whether arcs have hidden clusters."""
        return self.settings.clusters > 1

    def arc_scorer(self, threads: int) -> ArcScorer:
        return make_arc_scorer(
            self.settings, self.features, len(self.labels), self.arc_filter, threads
        )

    def part_scorer(self, threads: int) -> PartScorer:
        return PartScorer(self.features, self.settings.bits, parts_of(self.settings), threads)

    def part_inference(self, kind: Literal["exact", "bp"]) -> Infer:
        """How sums over trees of higher order are made, exactly or by belief propagation."""
        settings = self.settings
        if kind == "exact":
            return exact_inference(self.root)
        return loopy_inference(
            settings.trees, self.root, settings.bp_iterations or 4, settings.damping or 0.0,
            settings.factors or "pairs",
        )  # fmt: skip

    @property
    def n_weights(self) -> int:
        """How many weights the settings ask for."""
        return self.arc_scorer(1).size if self.pruner is None else self.part_scorer(1).size

    def label_scorer(self, threads: int) -> LabelScorer:
        return LabelScorer(self.features, self.settings.label_bits, len(self.labels), threads)

    def with_labels(self, names: Iterable[str]) -> Model:
        """The same model, which also knows the given labels, with weights of zero."""
        new = tuple(name for name in names if name not in self.labels)
        if not new:
            return self
        old, arcs = len(self.labels), 1 << self.settings.bits
        weights = self.weights
        if self.joint:
            rows = _widened(weights[arcs:], old, len(new))
            weights = np.concatenate([weights[:arcs], rows])
        return replace(
            self, labels=self.labels + new, weights=weights,
            label_weights=_widened(self.label_weights, old, len(new)),
        )  # fmt: skip

    def with_card(self, **entries: Any) -> Model:
        return replace(self, card=self.card | entries)


def _widened(rows: NDArray[np.float32], width: int, more: int) -> NDArray[np.float32]:
    """Rows of so many weights, one after the other, with so many zeros at the end of each."""
    return np.pad(rows.reshape(-1, width), ((0, 0), (0, more))).reshape(-1)


def make_arc_scorer(
    settings: ParserSettings,
    features: FeatureSettings,
    n_labels: int,
    arc_filter: NDArray[np.uint16],
    threads: int,
) -> ArcScorer:
    """The scorer that the settings ask for: of arcs, of labelled arcs, or of clustered arcs."""
    if settings.clusters > 1:
        return ArcScorer(
            features, settings.bits, outcomes=settings.cluster_of, row_bits=settings.label_bits,
            width=settings.clusters, arc_filter=arc_filter, threads=threads,
        )  # fmt: skip
    if settings.labels == "joint":
        return ArcScorer(
            features, settings.bits, outcomes="label", row_bits=settings.label_bits,
            width=n_labels, arc_filter=arc_filter, threads=threads,
        )  # fmt: skip
    return ArcScorer(features, settings.bits, arc_filter=arc_filter, threads=threads)
