"""Orders: which parts of a tree are scored, and how higher-order models are decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from arbora.errors import ArgumentError
from arbora.names import PartKind
from arbora.options.declare import Component, option, slot
from arbora.options.inference import (
    AutomataOptions,
    BeliefPropagationOptions,
    DecodeName,
    DualDecompositionOptions,
    ExactOptions,
    HillClimbingOptions,
    InferenceOptions,
    TrainingInferenceOptions,
)
from arbora.options.spelling import spelled
from arbora.options.templates import Templates

__all__ = [
    "ClusterFeatures", "FirstOrderOptions", "GrandparentOptions", "GrandsiblingOptions",
    "HigherOrderOptions", "OrderOptions", "SiblingOptions",
]  # fmt: skip

ClusterFeatures = Literal["all", "beside"]


@dataclass(frozen=True)
class FirstOrderOptions(Component):
    """Single arcs; sums and best trees are exact."""

    tag: ClassVar[str] = "first"
    decoders: ClassVar[tuple[DecodeName, ...]] = (
        "map", "mbr", "greedy", "greedy-posterior", "max-z",
    )  # fmt: skip
    clusters: int = option(0, "Hidden clusters of arcs; 0 for none.", "Model", low=0, high=4096)
    cluster_of: Literal["edge", "token"] | None = option(
        None, "Whether hidden clusters belong to edges or tokens.", "Model",
        default_text="edge",
    )  # fmt: skip
    cluster_features: ClusterFeatures | None = option(
        None,
        "Which features have hidden clusters: every one (all), or copies without direction and "
        "distance, beside features without clusters (beside).",
        "Model", default_text="all",
    )  # fmt: skip
    cluster_bits: int | None = option(
        None, "Size of the table of hidden clusters: 2^N rows of one weight per cluster.", "Model",
        low=4, high=24, default_text="22; less with more than 4 clusters, for 2^24 weights",
    )  # fmt: skip
    rerank: int = option(
        0,
        "Rerank the N best trees of each sentence with higher-order parts; 0 for no reranking.",
        "Trees and decoding", low=0, high=10_000,
    )  # fmt: skip
    rerank_folds: int | None = option(
        None,
        "Folds of the cross-validation that gives the reranker its training lists.",
        "Learning", low=2, high=1000, default_text="5",
    )  # fmt: skip

    @property
    def parts(self) -> tuple[PartKind, ...]:
        """The kinds of parts that are scored besides arcs."""
        return ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.clusters == 1:
            raise ArgumentError(f"{spelled('clusters')} must be 0 (none) or at least 2, not 1.")
        for name in ("cluster_of", "cluster_features", "cluster_bits"):
            if getattr(self, name) is not None and not self.clusters:
                raise ArgumentError(
                    f"{spelled(name)} has no effect here: give {spelled('clusters')} as well."
                )
        if self.rerank == 1:
            raise ArgumentError(f"{spelled('rerank')} must be 0 (none) or at least 2, not 1.")
        if self.rerank_folds is not None and not self.rerank:
            raise ArgumentError(
                f"{spelled('rerank_folds')} has no effect here: give {spelled('rerank')} as well."
            )


@dataclass(frozen=True)
class HigherOrderOptions(Component):
    """Arcs and parts of two or three arcs, over the arcs that a first-order pruner keeps.

    The siblings of `pairs`, which only belief propagation uses, are any two modifiers of a head
    (Gormley et al. 2015, section 7.1). The siblings of `automata` are consecutive modifiers.
    """

    automata: ClassVar[tuple[PartKind, ...]]
    pairs: ClassVar[tuple[PartKind, ...]]
    inference: InferenceOptions | None = slot(
        (DualDecompositionOptions, ExactOptions, BeliefPropagationOptions, HillClimbingOptions),
        None,
        "Higher-order inference: dual decomposition, exact (projective trees only), bp (belief "
        "propagation) or hill-climbing.",
        "Trees and decoding", common=True, default_text="dual; bp with l2, risk and l2+risk",
    )  # fmt: skip
    training_inference: TrainingInferenceOptions | None = slot(
        (AutomataOptions, DualDecompositionOptions, ExactOptions, BeliefPropagationOptions),
        None,
        "Inference during training: the source of rivals for perceptron and mira, or of sums for "
        "the likelihood.",
        "Learning", default_text="automata with dual, except siblings by mira; else as inference",
    )  # fmt: skip
    prune_threshold: float = option(
        1e-3,
        "Prune arcs whose probability is below X times that of the word's most likely head.",
        "Trees and decoding", low=0.0, high=1.0,
    )  # fmt: skip
    prune_heads: int = option(
        10,
        "Maximum number of heads per word after pruning.",
        "Trees and decoding",
        low=1,
        high=10**6,
    )
    pruner_features: Templates | None = option(
        None,
        "Feature templates of the pruner; basic2005 is a small set for it.",
        "Model", default_text="as features",
    )  # fmt: skip
    pruner_passes: int = option(
        4,
        "Number of passes that train the pruner. It is trained by likelihood with AdaGrad, and its "
        "weights are always averaged.",
        "Learning", low=1, high=10_000,
    )  # fmt: skip
    head_bigrams: bool = option(
        False,
        "Also score the heads of neighbouring words together; for bp, or dual with solver ad3.",
        "Model",
    )

    @property
    def parts(self) -> tuple[PartKind, ...]:
        """The kinds of parts that are scored besides arcs."""
        engine = self.inference
        is_pairs = isinstance(engine, BeliefPropagationOptions) and engine.factors == "pairs"
        own = self.pairs if is_pairs else self.automata
        return (*own, "head_bigrams") if self.head_bigrams else own


@dataclass(frozen=True)
class SiblingOptions(HigherOrderOptions):
    """Modifiers of a head, two at a time."""

    tag: ClassVar[str] = "sibling"
    automata: ClassVar[tuple[PartKind, ...]] = ("consecutive_siblings",)
    pairs: ClassVar[tuple[PartKind, ...]] = ("siblings",)


@dataclass(frozen=True)
class GrandparentOptions(HigherOrderOptions):
    """An arc and the head of its head."""

    tag: ClassVar[str] = "grandparent"
    automata: ClassVar[tuple[PartKind, ...]] = ("grandparents",)
    pairs: ClassVar[tuple[PartKind, ...]] = ("grandparents",)


@dataclass(frozen=True)
class GrandsiblingOptions(HigherOrderOptions):
    """Siblings, grandparents, and both together."""

    tag: ClassVar[str] = "grandsibling"
    automata: ClassVar[tuple[PartKind, ...]] = (
        "consecutive_siblings",
        "grandparents",
        "grandsiblings",
    )
    pairs: ClassVar[tuple[PartKind, ...]] = ("siblings", "grandparents")


OrderOptions = FirstOrderOptions | SiblingOptions | GrandparentOptions | GrandsiblingOptions
