"""The choices that make a parser; checked when the parser is made, so that nothing fails later."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from arbora.errors import ArgumentError
from arbora.features import TemplateSet
from arbora.parts import PartKind
from arbora.training.mira import MiraVariant
from arbora.types import TreeClass

__all__ = ["PARTS_OF_ORDER", "Decoder", "ParserSettings", "is_whole"]

Learner = Literal["perceptron", "mira", "loglinear", "maxmargin"]
Optimizer = Literal["adagrad", "sgd", "lbfgs", "cg", "eg"]
Labels = Literal["staged", "joint", "none"]
Decoder = Literal["map", "mbr", "greedy", "greedy-posterior", "max-z"]
RootChoice = Literal["auto", "single", "multi"]
ClusterOf = Literal["edge", "token"]
Order = Literal["first", "sibling", "grandparent", "grandsibling"]
Inference = Literal["exact", "dual"]
TrainingInference = Literal["automata", "dual", "exact"]
Solver = Literal["subgradient", "ad3", "branch"]

# The parts that each order scores besides arcs.
PARTS_OF_ORDER: dict[Order, tuple[PartKind, ...]] = {
    "first": (),
    "sibling": ("consecutive_siblings",),
    "grandparent": ("grandparents",),
    "grandsibling": ("consecutive_siblings", "grandparents", "grandsiblings"),
}


@dataclass(frozen=True)
class ParserSettings:
    """All options of `arbora.Parser` and of `arbora train`, with their defaults.

    None means "what suits the order and the learner": see `resolved`. The learner itself is
    settled at once: loglinear where trees can be summed over, mira elsewhere.
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
    rate: float | None = None
    l2: float | None = None
    mira: MiraVariant = "1-best"
    largest_step: float = 0.001
    k: int = 5
    average: bool = True
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
            if value is None and name in _OPTIONAL:
                continue
            if name in _REAL:
                if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
                    raise ArgumentError(f"{name} is a number, not {value!r}.")
            elif not is_whole(value):
                raise ArgumentError(f"{name} is a whole number, not {value!r}.")
            if not low <= value <= high:
                raise ArgumentError(f"{name} is between {low:g} and {high:g}, not {value!r}.")
        if self.learner is None:
            summed = self.order == "first" or self.inference == "exact"
            object.__setattr__(self, "learner", "loglinear" if summed else "mira")
        self._check_combinations()
        if self.order == "first":
            self._check_first_order()
        else:
            self._check_higher_order()

    def _check_combinations(self) -> None:
        hidden = self.clusters > 1
        exponentiated = self.learner == "maxmargin" or self.optimizer == "eg"
        self._check_unused(exponentiated)
        if self.clusters == 1:
            raise ArgumentError("clusters is 0 (none) or at least 2, not 1.")
        if self.learner in ("perceptron", "mira") and self.optimizer != "adagrad":
            raise ArgumentError(
                f"optimizer belongs to the loglinear learner; {self.learner} has none to choose."
            )
        if self.learner == "maxmargin" and self.optimizer not in ("adagrad", "eg"):
            raise ArgumentError("maxmargin is learnt by exponentiated gradient: optimizer='eg'.")
        if exponentiated and self.l2 == 0.0:
            raise ArgumentError("exponentiated gradient needs a regulariser: l2 above 0.")
        if hidden and self.learner != "loglinear":
            raise ArgumentError(
                f"hidden clusters are summed over, which {self.learner} cannot: use loglinear."
            )
        if hidden and self.optimizer == "eg":
            raise ArgumentError("exponentiated gradient needs the whole structure: no clusters.")
        if hidden and self.labels == "joint":
            raise ArgumentError("hidden clusters take the place of joint labels: use staged.")
        if self.decode == "max-z" and not hidden:
            raise ArgumentError("decode='max-z' chooses hidden clusters: give clusters as well.")
        if self.trees == "projective" and self.decode_trees == "nonprojective":
            raise ArgumentError("a projectively trained model is decoded projectively.")

    def _check_first_order(self) -> None:
        for name in ("inference", "training_inference"):
            if getattr(self, name) is not None:
                raise ArgumentError(
                    f"{name} is a choice of higher orders; first-order inference is exact."
                )

    def _check_higher_order(self) -> None:
        """What second-order parts can be learnt and decoded with."""
        exact = self.inference == "exact"
        if exact and self.trees != "projective":
            raise ArgumentError(
                "second-order inference is exact for projective trees only: use trees='projective' "
                "or inference='dual'."
            )
        if self.training_inference == "exact" and self.trees != "projective":
            raise ArgumentError("training_inference='exact' needs trees='projective'.")
        if self.learner == "maxmargin":
            raise ArgumentError("maxmargin is a first-order learner: use mira for higher orders.")
        if self.learner == "loglinear":
            if self.training_inference == "dual":
                raise ArgumentError(
                    "loglinear sums, over each head's modifiers (training_inference='automata') or "
                    "over projective trees ('exact'); dual decomposition finds best trees only."
                )
            if self.optimizer not in ("adagrad", "sgd"):
                raise ArgumentError("higher orders are learnt by adagrad or sgd.")
        if self.learner == "mira" and self.mira != "1-best":
            raise ArgumentError("higher orders have 1-best MIRA only.")
        if self.labels == "joint":
            raise ArgumentError("higher orders label after the tree: labels is staged or none.")
        if self.clusters:
            raise ArgumentError("hidden clusters are of first order: leave clusters out.")
        if self.decode not in (None, "map") and not (exact and self.decode == "mbr"):
            raise ArgumentError(
                f"decode={self.decode!r} needs sums over trees: inference='exact', or first order."
            )

    def _check_unused(self, exponentiated: bool) -> None:
        """Options that the learner would ignore are refused."""
        stepwise = self.learner == "loglinear" and self.optimizer in ("adagrad", "sgd")
        online = stepwise or self.learner in ("perceptron", "mira")
        if self.rate is not None and not stepwise:
            raise ArgumentError("rate belongs to the loglinear learner by adagrad or sgd.")
        if self.l2 is not None and self.learner in ("perceptron", "mira"):
            raise ArgumentError(f"l2 belongs to loglinear and maxmargin; {self.learner} has none.")
        if self.batch_size not in (None, 1) and not online:
            kind = "goes sentence by sentence" if exponentiated else "looks at all sentences"
            raise ArgumentError(f"this learner {kind}: leave batch_size out.")

    def resolved(self) -> ParserSettings:
        """The same with the learner's own defaults in place of None."""
        defaults = _learner_defaults(self)
        given = {name: getattr(self, name) for name in defaults if getattr(self, name) is not None}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return ParserSettings(**(values | defaults | given))

    def to_dict(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _learner_defaults(settings: ParserSettings) -> dict[str, Any]:
    """The learner's own defaults; options that it does not have stay None."""
    common: dict[str, Any] = {
        "decode": "mbr" if settings.learner == "loglinear" else "map",
        "decode_trees": settings.trees,
    }
    if settings.order != "first":
        exact = settings.inference == "exact"
        common["decode"] = "mbr" if settings.learner == "loglinear" and exact else "map"
        common["inference"] = settings.inference or "dual"
        common["training_inference"] = "exact" if exact else "automata"
    if settings.learner == "maxmargin" or settings.optimizer == "eg":
        return common | {"passes": 30, "l2": 10.0}
    if settings.learner != "loglinear":
        return common | {"passes": 15, "batch_size": 16}
    by_optimizer: dict[str, dict[str, Any]] = {
        "adagrad": {"passes": 15, "batch_size": 16, "rate": 0.05, "l2": 10.0},
        "sgd": {"passes": 15, "batch_size": 16, "rate": 0.02, "l2": 1.0},
        "lbfgs": {"passes": 10, "l2": 1.0},
        "cg": {"passes": 10, "l2": 1.0},
    }
    return common | by_optimizer[settings.optimizer]


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
    "average": (True, False),
    "refit": (True, False),
    "arc_filter": (True, False),
}
_OPTIONAL = {"passes", "batch_size", "rate", "l2"}
_REAL = {"rate", "l2", "largest_step", "prune_threshold", "held_out"}
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
    "prune_threshold": (0.0, 1.0),
    "prune_heads": (1, 10**6),
    "held_out": (0.0, 0.9),
    "bits": (8, 28),
    "label_bits": (4, 24),
    "seed": (0, 2**63 - 1),
}
