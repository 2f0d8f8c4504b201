"""Checks before training."""

from __future__ import annotations

from collections.abc import Sequence

from arbora.errors import ArgumentError
from arbora.options import (
    AdamOptions,
    ExponentiatedGradientOptions,
    FirstOrderOptions,
    LinearNeuralOptions,
    LinearOptions,
    NeuralOptions,
    ParserOptions,
    spelled,
)
from arbora.scoring import LinearScorer, Scorer

__all__ = [
    "check_edge_clusters",
    "check_encoder",
    "check_optimizer",
    "check_scorer",
    "check_start",
    "is_exponentiated",
]


def is_exponentiated(options: ParserOptions) -> bool:
    """Whether the optimiser is exponentiated gradient, which has dual variables, not weights."""
    return isinstance(getattr(options.learner, "optimizer", None), ExponentiatedGradientOptions)


def check_start(options: ParserOptions) -> None:
    """Raises an error for learners that cannot continue from a model."""
    if is_exponentiated(options):
        raise ArgumentError(
            "exponentiated gradient cannot continue from a model: use another optimizer."
        )
    if isinstance(options.scorer, LinearNeuralOptions):
        raise ArgumentError(
            "training cannot continue from a model with linear+neural scores: train a new one."
        )


def check_edge_clusters(options: ParserOptions) -> None:
    """Raises an error for models that cannot have features of edge clusters."""
    order = options.order
    if not isinstance(order, FirstOrderOptions) or order.clusters or options.labels == "joint":
        raise ArgumentError(
            f"edge clusters require {spelled('order', 'first')} without hidden clusters or joint "
            "labels."
        )


def check_encoder(options: ParserOptions, given: bool) -> None:
    """Raises an error for a pretrained encoder that nothing reads, or for options without one."""
    scorer = options.scorer
    if given and not isinstance(scorer, NeuralOptions):
        raise ArgumentError(f"a pretrained encoder requires {spelled('scorer', 'neural')}.")
    if given or not isinstance(scorer, NeuralOptions):
        return
    for name in ("fine_tune", "encoder_layers"):
        if getattr(scorer, name) != getattr(NeuralOptions, name):
            raise ArgumentError(f"{spelled(name)} requires {spelled('encoder')}.")


def check_optimizer(options: ParserOptions, given: Scorer | None) -> None:
    """Raises an error for Adam with a linear scorer, or a neural one without PyTorch."""
    if isinstance(options.scorer, NeuralOptions):
        from arbora.neural.extra import require_torch

        require_torch("training a neural scorer")
    optimizer = getattr(options.learner, "optimizer", None)
    linear = given is None or isinstance(given, LinearScorer)
    if isinstance(optimizer, AdamOptions) and linear and isinstance(options.scorer, LinearOptions):
        raise ArgumentError(
            f"{spelled('optimizer', 'adam')} requires {spelled('scorer', 'neural')}: use adagrad "
            "or sgd."
        )


def check_scorer(options: ParserOptions, scorer: Scorer) -> None:
    """Raises an error for a scorer that does not fit the options."""
    if not isinstance(options.scorer, LinearOptions):
        raise ArgumentError(f"give either a scorer of your own or {spelled('scorer')} by name.")
    needed = options.order.parts
    if set(scorer.kinds) != set(needed):
        raise ArgumentError(
            f"the scorer scores {_listed(scorer.kinds)}, but {spelled('order', options.order.tag)} "
            f"needs {_listed(needed)}."
        )
    if scorer.n_labels is not None or options.labels == "joint":
        raise ArgumentError(
            f"a custom scorer scores unlabelled arcs: use {spelled('labels', 'staged')} or "
            f"{spelled('labels', 'none')}."
        )


def _listed(kinds: Sequence[str]) -> str:
    return ", ".join(kinds) if kinds else "no parts"
