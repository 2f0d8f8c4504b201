"""A trained model: exchangeable components, and the decisions made in training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.features import Encoder, SourceClusters
from arbora.inference.engines import first_order_engine, higher_order_engine
from arbora.models.components import (
    FirstOrderPruner,
    JointLabels,
    Labeller,
    OwnLabels,
    Pruner,
    StagedLabels,
    Unlabelled,
)
from arbora.models.head_sets import HeadSets
from arbora.models.reranker import Reranker
from arbora.models.vocabulary import Vocabulary
from arbora.options import (
    BeliefPropagationOptions,
    FirstOrderOptions,
    NeuralOptions,
    ParserOptions,
    spelled,
)
from arbora.scoring import (
    LabellingScorer,
    LabelScorer,
    LinearScorer,
    Scorer,
    SoftClusterScorer,
    Threaded,
)
from arbora.types import Root, TreeClass

__all__ = ["Model", "StoredStage", "linear_scorer", "make_labeller", "pruner_scorer"]

# Tables of the features of edge clusters have 2^N rows; those of sources are as rich as arcs'.
_CLUSTER_BITS, _SOURCE_BITS = 16, 19


class StoredStage(NamedTuple):
    """A stage that runs before the parser, as its file has it: a description for JSON, arrays."""

    settings: dict[str, Any]
    tensors: dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Model:
    """Everything that parsing needs, and a card that describes its origin.

    Scores are divided by `temperature`, which is fitted on dev, to compute probabilities. With a
    reranker, all else is that of the first-order model, probabilities included. `stages` are
    those that run before the parser, by name.
    """

    options: ParserOptions
    encoder: Encoder
    scorer: Scorer
    pruner: Pruner
    labeller: Labeller
    labels: tuple[str, ...]
    root: Root
    decode_trees: TreeClass
    temperature: float = 1.0
    reranker: Reranker | None = None
    card: dict[str, Any] = field(default_factory=dict)
    stages: dict[str, StoredStage] = field(default_factory=dict)

    @property
    def n_clusters(self) -> int:
        """The number of hidden clusters of arcs; 0 for none."""
        order = self.options.order
        return order.clusters if isinstance(order, FirstOrderOptions) else 0

    def engine(self, threads: int = 1, trees: TreeClass | None = None) -> Any:
        """The model's inference engine, over its class of trees or another.

        Belief propagation always uses the class that was learnt; only the decoded tree may be of
        another class.
        """
        order, chosen = self.options.order, trees or self.decode_trees
        if isinstance(order, FirstOrderOptions):
            return first_order_engine(chosen, self.root, threads)
        assert order.inference is not None
        if isinstance(order.inference, BeliefPropagationOptions):
            chosen = self.options.trees
        return higher_order_engine(order.inference, chosen, self.root, threads)

    def on_threads(self, threads: int) -> Model:
        """The same model on another number of threads."""
        scorer = self.scorer
        if isinstance(scorer, Threaded):
            scorer = scorer.on_threads(threads)
        model = self.with_scorer(scorer)
        return replace(
            model, pruner=self.pruner.on_threads(threads),
            labeller=model.labeller.on_threads(threads),
            reranker=None if self.reranker is None else self.reranker.on_threads(threads),
        )  # fmt: skip

    def with_scorer(self, scorer: Scorer) -> Model:
        """The model with another scorer, also of its labels if the scorer has its own."""
        labeller = self.labeller
        if isinstance(labeller, OwnLabels):
            assert isinstance(scorer, LabellingScorer)
            labeller = replace(labeller, scorer=scorer)
        return replace(self, scorer=scorer, labeller=labeller)

    def with_parameters(self, parameters: dict[str, NDArray[Any]]) -> Model:
        """The model with other parameters, named by component: `scorer.weights`, ..."""
        model = self
        own = _of_component("scorer", parameters)
        if own:
            model = model.with_scorer(model.scorer.with_parameters(own))
        own = _of_component("labeller", parameters)
        if own and isinstance(model.labeller, StagedLabels):
            scorer = model.labeller.scorer.with_parameters(own)
            model = replace(model, labeller=StagedLabels(scorer))
        own = _of_component("reranker", parameters)
        if own and model.reranker is not None:
            model = replace(model, reranker=model.reranker.with_parameters(own))
        return model

    def with_labels(self, names: Iterable[str]) -> Model:
        """The same model with additional labels, whose weights are zero."""
        new = tuple(name for name in names if name not in self.labels)
        if not new:
            return self
        old, labels = len(self.labels), self.labels + new
        scorer, labeller = self.scorer, self.labeller
        if isinstance(labeller, JointLabels) and isinstance(scorer, LinearScorer):
            arcs = 1 << scorer.bits
            rows = _widened(scorer.weights[arcs:], old, len(new))
            wider = linear_scorer(self.options, self.encoder, len(labels))
            weights = np.concatenate([scorer.weights[:arcs], rows])
            scorer = wider.with_filter(scorer.arc_filter).with_parameters({"weights": weights})
        if not isinstance(scorer, LinearScorer) and not isinstance(labeller, StagedLabels):
            raise ArgumentError(
                f"the new sentences have the label {new[0]!r}, which the model to continue from "
                "lacks; neural scorers cannot add labels: train a new model."
            )
        if isinstance(labeller, StagedLabels):
            wide = make_labeller(self.options, self.encoder, len(labels))
            assert isinstance(wide, StagedLabels)
            weights = _widened(labeller.scorer.weights, old, len(new))
            labeller = StagedLabels(wide.scorer.with_parameters({"weights": weights}))
        return replace(self, labels=labels, scorer=scorer, labeller=labeller)

    def with_card(self, **entries: Any) -> Model:
        """The same model with further entries in its card."""
        return replace(self, card=self.card | entries)

    @property
    def root_labels(self) -> NDArray[np.bool_] | None:
        """Marks the labels of arcs from the root, if no other arc had them in the training data."""
        names = self.card.get("root_labels") or ()
        marked = np.array([label in names for label in self.labels], dtype=np.bool_)
        return marked if marked.any() and not marked.all() else None

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of sentences that are features of the model."""
        clusters = self.encoder.edge_clusters
        return clusters.names if isinstance(clusters, SourceClusters) else ()

    def with_source(self, name: str) -> Model:
        """The model for sentences of one of its sources."""
        clusters, scorer = self.encoder.edge_clusters, self.scorer
        if not isinstance(clusters, SourceClusters) or not isinstance(scorer, SoftClusterScorer):
            raise ArgumentError(
                f"this model was not trained with sources as features: leave out "
                f"{spelled('source')}."
            )
        chosen = clusters.choosing(name)
        encoder = replace(self.encoder, edge_clusters=chosen)
        return replace(self, encoder=encoder, scorer=scorer.with_edge_clusters(chosen))

    @property
    def source_of_probabilities(self) -> str | None:
        """Where the probabilities are from, if they are not the model's own exact ones."""
        inference = getattr(self.options.order, "inference", None)
        if isinstance(inference, BeliefPropagationOptions):
            return "beliefs of belief propagation, approximate"
        if inference is not None and "sums" not in inference.offers:
            return "those of the first-order pruner"
        return None

    @property
    def tree_bonus(self) -> float:
        """What is added to the calibrated scores of a decoded tree's arcs, fitted on dev.

        A model without sums reports the probabilities of its first-order pruner. These know
        nothing of the parts that chose the tree, so that its arcs seem less certain than they are.
        """
        return float(self.card.get("tree_bonus", 0.0))

    @property
    def averaging_scale(self) -> float:
        """What the temperature is multiplied by if distributions are averaged over tags.

        The temperature is fitted with the best tags, so it includes doubt about tags, which an
        average would count twice.
        """
        return float(self.card.get("averaging", {}).get("scale", 1.0))

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        """What the training data had, if the card says so."""
        return Vocabulary.from_card(self.card)

    @cached_property
    def head_sets(self) -> HeadSets | None:
        """The thresholds of head sets, if the model was calibrated for them."""
        return HeadSets.from_card(self.card)

    @property
    def companion(self) -> FirstOrderPruner | None:
        """The first-order pruner of a higher-order model."""
        return self.pruner if isinstance(self.pruner, FirstOrderPruner) else None


def linear_scorer(
    options: ParserOptions, encoder: Encoder, n_labels: int, threads: int = 1
) -> LinearScorer:
    """The linear scorer for the options: of arcs, labelled or clustered arcs, or parts."""
    order, settings = options.order, encoder.settings
    row_bits = options.label_bits or 17
    if isinstance(order, FirstOrderOptions) and order.clusters:
        return LinearScorer(
            settings, options.bits, outcomes=order.cluster_of, row_bits=order.cluster_bits or 17,
            width=order.clusters, cluster_features=order.cluster_features or "all",
            threads=threads,
        )  # fmt: skip
    if options.labels == "joint":
        return LinearScorer(
            settings, options.bits, outcomes="label", row_bits=row_bits, width=n_labels,
            threads=threads,
        )  # fmt: skip
    if encoder.edge_clusters is not None:
        rows = _SOURCE_BITS if isinstance(encoder.edge_clusters, SourceClusters) else _CLUSTER_BITS
        return SoftClusterScorer(
            settings, options.bits, encoder.edge_clusters, row_bits=rows, threads=threads
        )
    return LinearScorer(settings, options.bits, kinds=order.parts, threads=threads)


def pruner_scorer(options: ParserOptions, encoder: Encoder, threads: int = 1) -> LinearScorer:
    """The scorer of the pruner of a higher-order model, whose templates may differ."""
    templates = getattr(options.order, "pruner_features", None) or options.features
    settings = encoder.settings.with_templates(templates)
    return LinearScorer(settings, options.bits, threads=threads)


def make_labeller(
    options: ParserOptions,
    encoder: Encoder,
    n_labels: int,
    threads: int = 1,
    scorer: Scorer | None = None,
) -> Labeller:
    """The labeller for the options; `scorer` is that of the trees."""
    if options.labels == "staged" and isinstance(options.scorer, NeuralOptions):
        assert isinstance(scorer, LabellingScorer)
        return OwnLabels(scorer)
    if options.labels == "staged":
        return StagedLabels(
            LabelScorer(encoder.settings, options.label_bits or 17, n_labels, threads)
        )
    return JointLabels() if options.labels == "joint" else Unlabelled()


def _of_component(name: str, parameters: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): values
        for key, values in parameters.items()
        if key.startswith(prefix)
    }


def _widened(rows: NDArray[Any], width: int, more: int) -> NDArray[Any]:
    """Consecutive rows of `width` weights, with `more` zeros appended to each row."""
    return np.pad(rows.reshape(-1, width), ((0, 0), (0, more))).reshape(-1)
