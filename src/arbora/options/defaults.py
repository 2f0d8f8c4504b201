"""Defaults that depend on other options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from arbora.options.declare import Component, alternatives, options_of
from arbora.options.inference import (
    BeliefPropagationOptions,
    DualDecompositionOptions,
)
from arbora.options.learners import (
    BeliefLearnerOptions,
    LogLinearOptions,
    MaxMarginOptions,
    RiskOptions,
)
from arbora.options.optimizers import (
    AdaGradOptions,
    AdamOptions,
    ConjugateGradientOptions,
    ExponentiatedGradientOptions,
    LbfgsOptions,
    OnlineOptions,
)
from arbora.options.orders import FirstOrderOptions, HigherOrderOptions

if TYPE_CHECKING:
    from arbora.options.parser import ParserOptions

__all__ = ["default_choices", "default_values", "fill"]

Some = TypeVar("Some", bound=Component)

_OWN_STEPS = ("perceptron", "mira")  # learners without an optimiser


def _tag(value: Any) -> str | None:
    """The tag of a choice; invalid values are refused later, when they are checked."""
    if isinstance(value, Component):
        return value.tag
    return value if isinstance(value, str) or value is None else repr(type(value))


def default_choices(keywords: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords, with defaults for learner, inference and training inference."""
    order = keywords.get("order")
    if isinstance(order, HigherOrderOptions):
        return _with_engines(order, keywords, kept)
    known: dict[str, Any] = {name: _tag(value) for name, value in {**kept, **keywords}.items()}
    chosen = dict(keywords)

    def settle(name: str, value: str) -> None:
        if known.get(name) is None:
            known[name] = chosen[name] = value

    if known.get("scorer", "linear") != "linear":
        settle("learner", "loglinear")
        if known["learner"] not in _OWN_STEPS:
            settle("optimizer", "adam")
    if known.get("order", "first") == "first":
        settle("learner", "loglinear")
        return chosen
    inference, training = known.get("inference"), known.get("training_inference")
    settle("learner", "loglinear" if inference in ("exact", "bp") or training == "bp" else "mira")
    # Belief learners are trained through the inference that will be used.
    if known["learner"] in list(alternatives((BeliefLearnerOptions,))):
        settle("inference", "exact" if training == "exact" else "bp")
        # For inference without gradients, the error should name `inference`.
        engine = known["inference"]
        settle("training_inference", engine if engine in ("exact", "bp") else "bp")
        return chosen
    settle("inference", "dual")
    # Decoded trees are better rivals for siblings; with grandparents they cost much more and gain
    # less. Trees found by hill climbing are not certified and make poor rivals.
    by_trees = known["learner"] == "mira" and known["order"] == "sibling"
    by_trees = by_trees or keywords.get("head_bigrams", kept.get("head_bigrams", False))
    walks = known["inference"] == "hill-climbing" or (known["inference"] == "dual" and not by_trees)
    settle("training_inference", "automata" if walks else known["inference"])
    return chosen


_ENGINES = ("inference", "training_inference")


def _with_engines(
    order: HigherOrderOptions, keywords: Mapping[str, Any], kept: Mapping[str, Any]
) -> dict[str, Any]:
    """The keywords with default engines inside `order`, which was given as an object."""
    given = {name: getattr(order, name) for name in _ENGINES if getattr(order, name) is not None}
    others, flat = (
        {name: value for name, value in some.items() if name not in _ENGINES}
        for some in (keywords, kept)
    )
    chosen = default_choices(
        {**others, "order": order.tag, "head_bigrams": order.head_bigrams, **given}, flat
    )
    del chosen["head_bigrams"]  # it is inside the object
    engines: dict[str, Any] = {}
    for one in options_of(type(order)):
        if one.name in _ENGINES:
            value = chosen.pop(one.name)
            known = alternatives(one.spec.components)
            engines[one.field] = known[value]() if isinstance(value, str) else value
    # Engines among the keywords have no effect beside those of the object: `build` refuses them.
    return {**keywords, **chosen, "order": replace(order, **engines)}


def default_values(options: ParserOptions) -> dict[str, Any]:
    """Values for options that were not given, by public name."""
    order, learner = options.order, options.learner
    optimizer = getattr(learner, "optimizer", None)
    training = getattr(order, "training_inference", None)
    values: dict[str, Any] = {
        "decode_trees": options.trees,
        "decode": _decode(options),
        "passes": _passes(options),
        "batch_size": 16,
        "projectivise": False if options.trees == "projective" else None,
        "label_bits": 17,
    }
    if isinstance(order, FirstOrderOptions):
        values |= _of_clusters(order.clusters)
        values["rerank_folds"] = 5 if order.rerank else None
    elif isinstance(learner, OnlineOptions):
        values["batch_size"] = 4
    if isinstance(order, HigherOrderOptions):
        both = isinstance(order.inference, BeliefPropagationOptions) and isinstance(
            training, BeliefPropagationOptions
        )
        values["factors"] = "pairs" if both else "automata"
        values["solver"] = "ad3" if order.head_bigrams else "branch"
        values["max_iterations"] = _iterations(order, values["solver"])
        values["pruner_features"] = options.features
    if isinstance(learner, RiskOptions):
        values["first_temperature"], values["last_temperature"] = learner.temperatures
    if isinstance(optimizer, AdaGradOptions):
        values["rate"] = _adagrad_rate(options, training)
    if isinstance(optimizer, ExponentiatedGradientOptions):
        # Of max-margin: chosen on the dev sets of benchmarks/recipes/max_margin.toml.
        values["regularization"] = 100.0 if isinstance(learner, MaxMarginOptions) else 10.0
    return values


def _of_clusters(clusters: int) -> dict[str, Any]:
    """As many rows as there are weights of arcs, but at most 2^24 weights, 1 GB in training.

    With fewer rows, features collide and the model is worse.
    """
    if not clusters:
        return {}
    bits = min(22, 24 - (clusters - 1).bit_length())
    return {"cluster_of": "edge", "cluster_features": "all", "cluster_bits": bits}


def _iterations(order: HigherOrderOptions, solver: str) -> int:
    """The iterations of AD3 take longer than those of the other solvers."""
    given = getattr(order.inference, "solver", None)
    return 500 if (given or solver) == "ad3" else 5000


def _decode(options: ParserOptions) -> str:
    probable = isinstance(options.learner, LogLinearOptions | BeliefLearnerOptions)
    order = options.order
    if isinstance(order, FirstOrderOptions):
        return "mbr" if probable and not order.rerank else "map"
    assert order.inference is not None
    decoders = order.inference.decoders
    return "mbr" if "mbr" in decoders and (probable or "map" not in decoders) else "map"


def _passes(options: ParserOptions) -> int:
    learner, order = options.learner, options.order
    optimizer = getattr(learner, "optimizer", None)
    if isinstance(optimizer, AdamOptions):
        return 25
    if isinstance(learner, BeliefLearnerOptions):
        return 5
    if isinstance(learner, MaxMarginOptions) or isinstance(optimizer, ExponentiatedGradientOptions):
        return 30
    if isinstance(optimizer, LbfgsOptions | ConjugateGradientOptions):
        return 10
    by_trees = isinstance(getattr(order, "training_inference", None), DualDecompositionOptions)
    return 30 if by_trees and isinstance(learner, OnlineOptions) else 15


def _adagrad_rate(options: ParserOptions, training: Any) -> float:
    """AdaGrad's default learning rate.

    Losses of marginals are flat where marginals are near 0 or 1, and large steps get stuck there.
    AdaGrad's first step changes every weight by the full learning rate, and with parts more
    weights contribute to a marginal.
    """
    first = isinstance(options.order, FirstOrderOptions)
    if isinstance(options.learner, BeliefLearnerOptions):
        return 0.015 if first else 0.01
    propagates = isinstance(training, BeliefPropagationOptions) or isinstance(
        getattr(options.order, "inference", None), BeliefPropagationOptions
    )
    return 0.02 if propagates else 0.05


def fill(component: Some, values: Mapping[str, Any]) -> Some:
    """The component with None replaced by `values`, also in the components of its slots."""
    changed: dict[str, Any] = {}
    for one in options_of(type(component)):
        value = getattr(component, one.field)
        if isinstance(value, Component):
            changed[one.field] = fill(value, values)
        elif value is None and values.get(one.name) is not None:
            changed[one.field] = values[one.name]
    return replace(component, **changed)
