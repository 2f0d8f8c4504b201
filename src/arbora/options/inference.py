"""Inference in higher-order models."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

from arbora.options.declare import Component, option
from arbora.options.learners import Need

__all__ = [
    "AutomataOptions", "BeliefPropagationOptions", "DecodeName", "DualDecompositionOptions",
    "ExactOptions", "Factors", "HillClimbingOptions", "InferenceOptions", "ScheduleName",
    "SolverName", "TrainingInferenceOptions",
]  # fmt: skip

DecodeName = Literal["map", "mbr", "greedy", "greedy-posterior", "max-z"]
SolverName = Literal["subgradient", "ad3", "branch"]
Factors = Literal["pairs", "automata"]
ScheduleName = Literal["serial", "parallel"]


@dataclass(frozen=True)
class _Inference(Component):
    """`offers` lists what learners can use, `decoders` the supported decoding methods."""

    offers: ClassVar[tuple[Need, ...]]
    decoders: ClassVar[tuple[DecodeName, ...]]


@dataclass(frozen=True)
class ExactOptions(_Inference):
    """Exact sums and best trees, projective only."""

    tag: ClassVar[str] = "exact"
    offers: ClassVar[tuple[Need, ...]] = ("best trees", "sums", "gradients")
    decoders: ClassVar[tuple[DecodeName, ...]] = ("map", "mbr")


@dataclass(frozen=True)
class DualDecompositionOptions(_Inference):
    """Dual decomposition over head automata and trees, with certificates (Koo et al. 2010)."""

    tag: ClassVar[str] = "dual"
    offers: ClassVar[tuple[Need, ...]] = ("best trees",)
    decoders: ClassVar[tuple[DecodeName, ...]] = ("map",)
    max_iterations: int | None = option(
        None,
        "Maximum number of dual decomposition iterations per sentence; at most 1500 in training.",
        "Trees and decoding", low=1, high=10**9, default_text="5000; 500 with ad3",
    )  # fmt: skip
    solver: SolverName | None = option(
        None,
        "Dual decomposition solver: subgradient, ad3, or branch, which adds branch and bound for "
        "sentences that converge slowly.",
        "Trees and decoding", default_text="branch; ad3 with head bigrams",
    )  # fmt: skip
    _: KW_ONLY
    tree_share: float = option(
        0.001,
        "Share of the arc scores that the tree gets in dual decomposition; the automata get the "
        "rest. ad3 does not use it.",
        "Trees and decoding", low=0.0, high=1.0,
    )  # fmt: skip


@dataclass(frozen=True)
class BeliefPropagationOptions(_Inference):
    """Loopy belief propagation with a tree factor (Gormley et al. 2015)."""

    tag: ClassVar[str] = "bp"
    offers: ClassVar[tuple[Need, ...]] = ("sums", "gradients")
    decoders: ClassVar[tuple[DecodeName, ...]] = ("mbr",)
    iterations: int = option(
        4, "Number of BP iterations.", "Trees and decoding", name="bp_iterations", low=1,
        high=10_000,
    )  # fmt: skip
    damping: float = option(
        0.0, "Weight of the previous message in each BP message.", "Trees and decoding", low=0.0,
        high=0.99,
    )  # fmt: skip
    factors: Factors | None = option(
        None,
        "BP factors: pairs of arcs, or the head automata that dual and exact use.",
        "Trees and decoding", default_text="pairs; automata if inference is not bp",
    )  # fmt: skip
    _: KW_ONLY
    schedule: ScheduleName = option(
        "serial",
        "Order of messages in a BP iteration: first those of parts, then those of the tree factor "
        "(serial), or all from the messages of the iteration before (parallel).",
        "Trees and decoding",
    )


@dataclass(frozen=True)
class HillClimbingOptions(_Inference):
    """Approximate best trees: changes one head at a time, from several starting points."""

    tag: ClassVar[str] = "hill-climbing"
    offers: ClassVar[tuple[Need, ...]] = ("best trees",)
    decoders: ClassVar[tuple[DecodeName, ...]] = ("map",)
    restarts: int = option(
        8,
        "Number of random restarts of hill climbing per sentence.",
        "Trees and decoding",
        low=0,
        high=10_000,
    )


@dataclass(frozen=True)
class AutomataOptions(_Inference):
    """Independent head automata, without the tree constraint; for training only."""

    tag: ClassVar[str] = "automata"
    offers: ClassVar[tuple[Need, ...]] = ("best trees", "sums")
    decoders: ClassVar[tuple[DecodeName, ...]] = ()


InferenceOptions = (
    ExactOptions | DualDecompositionOptions | BeliefPropagationOptions | HillClimbingOptions
)
TrainingInferenceOptions = (
    AutomataOptions | DualDecompositionOptions | ExactOptions | BeliefPropagationOptions
)
