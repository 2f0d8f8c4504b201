"""The choices that make a parser; checked when the parser is made, so that nothing fails later."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from arbora.errors import ArgumentError
from arbora.features import TemplateSet
from arbora.inference.part_inference import Factors
from arbora.parsers.combinations import (
    BELIEF_LEARNERS,
    check_combinations,
    default_inference,
    uses_propagation,
)
from arbora.scores import PartKind
from arbora.training.mira import MiraVariant
from arbora.types import TreeClass

__all__ = ["PARTS_OF_ORDER", "Decoder", "ParserSettings", "is_whole", "parts_of"]

Learner = Literal["perceptron", "mira", "loglinear", "maxmargin", "l2", "risk", "l2+risk"]
Optimizer = Literal["adagrad", "sgd", "lbfgs", "cg", "eg"]
Labels = Literal["staged", "joint", "none"]
Decoder = Literal["map", "mbr", "greedy", "greedy-posterior", "max-z"]
RootChoice = Literal["auto", "single", "multi"]
ClusterOf = Literal["edge", "token"]
Order = Literal["first", "sibling", "grandparent", "grandsibling"]
Inference = Literal["exact", "dual", "bp"]
TrainingInference = Literal["automata", "dual", "exact", "bp"]
Solver = Literal["subgradient", "ad3", "branch"]

# The parts that each order scores besides arcs.
PARTS_OF_ORDER: dict[Order, tuple[PartKind, ...]] = {
    "first": (),
    "sibling": ("consecutive_siblings",),
    "grandparent": ("grandparents",),
    "grandsibling": ("consecutive_siblings", "grandparents", "grandsiblings"),
}
# The same where parts are pairs of arcs only (Gormley et al. 2015, section 7.1).
PAIRS_OF_ORDER: dict[Order, tuple[PartKind, ...]] = {
    "first": (),
    "sibling": ("siblings",),
    "grandparent": ("grandparents",),
    "grandsibling": ("siblings", "grandparents"),
}


@dataclass(frozen=True)
class ParserSettings:
    """All options of `arbora.Parser` and of `arbora train`, with their defaults.

    None means "what suits the order and the learner": see `resolved`. The learner itself is
    settled at once: loglinear where trees can be summed over, mira elsewhere. Options that the
    others leave without effect are refused.
    """

    learner: Learner | None = None
    optimizer: Optimizer = "adagrad"
    trees: TreeClass = "nonprojective"
    root: RootChoice = "auto"
    order: Order = "first"
    inference: Inference | None = None
    training_inference: TrainingInference | None = None
    max_iterations: int = 5000
    solver: Solver = "branch"
    bp_iterations: int | None = None
    damping: float | None = None
    factors: Factors | None = None
    prune_threshold: float = 1e-3
    prune_heads: int = 10
    features: TemplateSet = "rich"
    labels: Labels = "staged"
    decode: Decoder | None = None
    decode_trees: TreeClass | Literal["auto"] | None = None
    clusters: int = 0
    cluster_of: ClusterOf = "edge"
    passes: int | None = None
    patience: int = 4
    batch_size: int | None = None
    rate: float | Literal["auto"] | None = None
    l2: float | None = None
    first_temperature: float | None = None
    last_temperature: float | None = None
    projectivise: bool | None = None
    mira: MiraVariant = "1-best"
    largest_step: float = 0.001
    k: int = 5
    average: bool = True
    word_dropout: float = 0.0
    held_out: float = 0.1
    refit: bool = True
    arc_filter: bool = True
    bits: int = 22
    label_bits: int = 17
    seed: int = 0

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                known = ", ".join(str(choice) for choice in choices if choice is not None)
                raise ArgumentError(f"{name} is one of {known}, not {value!r}.")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if (value is None and name in _OPTIONAL) or (name, value) == ("rate", "auto"):
                continue
            if name in _REAL:
                if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
                    raise ArgumentError(f"{name} is a number, not {value!r}.")
            elif not is_whole(value):
                raise ArgumentError(f"{name} is a whole number, not {value!r}.")
            if not low <= value <= high:
                raise ArgumentError(f"{name} is between {low:g} and {high:g}, not {value!r}.")
        if self.learner is None:
            summed = self.order == "first" or self.inference in ("exact", "bp")
            summed = summed or self.training_inference == "bp"
            object.__setattr__(self, "learner", "loglinear" if summed else "mira")
        check_combinations(self)

    def resolved(self) -> ParserSettings:
        """The same with the learner's own defaults in place of None."""
        defaults = _learner_defaults(self)
        given = {name: getattr(self, name) for name in defaults if getattr(self, name) is not None}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return ParserSettings(**(values | defaults | given))

    def phases(self) -> list[ParserSettings]:
        """What is learnt one after the other, each going on where the one before was best."""
        if self.learner != "l2+risk":
            return [self]
        first = replace(self, learner="l2", first_temperature=None, last_temperature=None)
        rate = self.rate
        if isinstance(rate, int | float):
            rate = max(rate * _RISK_SHARE, _RANGES["rate"][0])
        return [first, replace(self, learner="risk", rate=rate)]

    def to_dict(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


_RISK_SHARE = 0.1  # of the rate, where the risk goes on from L2: whole steps undo what is there


def is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def parts_of(settings: ParserSettings) -> tuple[PartKind, ...]:
    """The kinds of parts that a model scores besides arcs."""
    by_order = PAIRS_OF_ORDER if settings.factors == "pairs" else PARTS_OF_ORDER
    return by_order[settings.order]


def _learner_defaults(settings: ParserSettings) -> dict[str, Any]:
    """The learner's own defaults; options that it does not have stay None."""
    probable = settings.learner in ("loglinear", *BELIEF_LEARNERS)
    common: dict[str, Any] = {
        "decode": "mbr" if probable else "map",
        "decode_trees": settings.trees,
    }
    if settings.order != "first":
        inference, training = default_inference(settings)
        common |= {"inference": inference, "training_inference": training}
        common["decode"] = "mbr" if probable and inference != "dual" else "map"
        if uses_propagation(settings):
            pairs = inference == training == "bp"
            common |= {"bp_iterations": 4, "damping": 0.0}
            common["factors"] = "pairs" if pairs else "automata"
    return common | _learning_defaults(settings)


def _learning_defaults(settings: ParserSettings) -> dict[str, Any]:
    if settings.learner == "maxmargin" or settings.optimizer == "eg":
        return {"passes": 30, "l2": 10.0}
    if settings.learner in ("perceptron", "mira"):
        if settings.order == "first":
            return {"passes": 15, "batch_size": 16}
        return {"passes": 30 if default_inference(settings)[1] == "dual" else 15, "batch_size": 4}
    by_optimizer: dict[str, dict[str, Any]] = {
        "adagrad": {"passes": 15, "batch_size": 16, "l2": 10.0},
        "sgd": {"passes": 15, "batch_size": 16, "rate": 0.02, "l2": 1.0},
        "lbfgs": {"passes": 10, "l2": 1.0},
        "cg": {"passes": 10, "l2": 1.0},
    }
    own = by_optimizer[settings.optimizer]
    if settings.optimizer == "adagrad":
        own = own | _adagrad_rate(settings)
    if settings.trees == "projective":
        own = own | {"projectivise": settings.learner not in BELIEF_LEARNERS}
    if settings.learner not in BELIEF_LEARNERS:
        return own
    own = own | {"passes": 5}
    if settings.learner == "l2":
        return own
    return own | {"first_temperature": 0.1, "last_temperature": 0.0001}


def _adagrad_rate(settings: ParserSettings) -> dict[str, float]:
    """Losses of beliefs are flat where beliefs are sure of themselves: large steps get stuck there.

    The first step of AdaGrad moves every weight by the whole rate, and with parts there are more
    weights in a belief.
    """
    first = settings.order == "first"
    if settings.learner in BELIEF_LEARNERS:
        return {"rate": 0.015 if first else 0.01}
    return {"rate": 0.05 if first or not uses_propagation(settings) else 0.02}


_CHOICES: dict[str, tuple[Any, ...]] = {
    "learner": (None, *get_args(Learner)),
    "optimizer": get_args(Optimizer),
    "trees": get_args(TreeClass),
    "root": get_args(RootChoice),
    "order": get_args(Order),
    "inference": (None, *get_args(Inference)),
    "training_inference": (None, *get_args(TrainingInference)),
    "solver": get_args(Solver),
    "features": get_args(TemplateSet),
    "labels": get_args(Labels),
    "decode": (None, *get_args(Decoder)),
    "decode_trees": (None, "auto", *get_args(TreeClass)),
    "cluster_of": get_args(ClusterOf),
    "mira": get_args(MiraVariant),
    "factors": (None, *get_args(Factors)),
    "projectivise": (None, True, False),
    "average": (True, False),
    "refit": (True, False),
    "arc_filter": (True, False),
}
_OPTIONAL = {
    "passes", "batch_size", "rate", "l2", "bp_iterations", "damping", "first_temperature",
    "last_temperature",
}  # fmt: skip
_REAL = {
    "rate", "l2", "largest_step", "prune_threshold", "held_out", "damping", "first_temperature",
    "last_temperature", "word_dropout",
}  # fmt: skip
_RANGES: dict[str, tuple[float, float]] = {
    "clusters": (0, 256),
    "passes": (1, 10_000),
    "patience": (1, 10_000),
    "batch_size": (1, 100_000),
    "rate": (1e-9, 1e6),
    "l2": (0.0, 1e12),
    "largest_step": (1e-12, math.inf),
    "k": (1, 1000),
    "max_iterations": (1, 10**9),
    "bp_iterations": (1, 10_000),
    "damping": (0.0, 0.99),
    "first_temperature": (1e-9, 1e6),
    "last_temperature": (1e-9, 1e6),
    "prune_threshold": (0.0, 1.0),
    "prune_heads": (1, 10**6),
    "held_out": (0.0, 0.9),
    "word_dropout": (0.0, 1e6),
    "bits": (8, 28),
    "label_bits": (4, 24),
    "seed": (0, 2**63 - 1),
}
