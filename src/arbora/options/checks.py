"""Invalid combinations of options; each error message names a remedy."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from arbora.errors import ArgumentError
from arbora.options.inference import (
    BeliefPropagationOptions,
    DualDecompositionOptions,
    ExactOptions,
    InferenceOptions,
    TrainingInferenceOptions,
)
from arbora.options.learners import (
    BeliefLearnerOptions,
    HeadSelectionOptions,
    LearnerOptions,
    LogLinearOptions,
    MaxMarginOptions,
    MiraOptions,
)
from arbora.options.optimizers import AdamOptions, ExponentiatedGradientOptions, OnlineOptions
from arbora.options.orders import FirstOrderOptions, HigherOrderOptions
from arbora.options.scorers import NeuralOptions
from arbora.options.spelling import spelled

if TYPE_CHECKING:
    from arbora.options.parser import ParserOptions

__all__ = ["MOST_CLUSTER_WEIGHTS", "check_combinations"]

MOST_CLUSTER_WEIGHTS = 1 << 27  # of one table; training keeps about 50 bytes for each


def check_combinations(options: ParserOptions, given: Collection[str] = ()) -> None:
    """Refuses options that contradict each other; messages name those that were `given`."""
    order = options.order
    _check_trees(options)
    if isinstance(options.scorer, NeuralOptions):
        _check_neural(options, options.scorer)
    if isinstance(order, FirstOrderOptions):
        _check_first_order(options, order)
    else:
        _check_higher_order(options, order, given)


def _check_trees(options: ParserOptions) -> None:
    learner = options.learner
    if options.trees == "projective" and options.decode_trees == "nonprojective":
        raise ArgumentError(
            "a projective model cannot decode nonprojective trees: leave out "
            f"{spelled('decode_trees')}."
        )
    crossing = options.trees != "projective" and isinstance(learner, BeliefLearnerOptions)
    if crossing and getattr(learner, "projectivise", None) is not None:
        raise ArgumentError(f"{spelled('projectivise')} requires {spelled('trees', 'projective')}.")
    if isinstance(learner, MiraOptions) and learner.k != 5 and learner.variant != "k-best":
        raise ArgumentError(f"{spelled('k')} requires {spelled('mira', 'k-best')}.")


# Options of the linear scorer, its pruner and its labels, with their defaults.
_OF_FEATURES = {"features": "rich", "bits": 22, "label_bits": 17, "arc_filter": True}


def _check_neural(options: ParserOptions, scorer: NeuralOptions) -> None:
    """Refuses what only linear scorers have, and options of features that nothing reads."""
    learner, order = options.learner, options.order
    if not isinstance(getattr(learner, "optimizer", None), AdamOptions):
        optimizer = getattr(learner, "optimizer", None)
        name = "learner" if optimizer is None else "optimizer"
        raise ArgumentError(
            f"{spelled(name, (optimizer or learner).tag)} requires a linear scorer: with "
            f"{spelled('scorer', scorer.tag)}, use "
            + (spelled("optimizer", "adam") if optimizer else spelled("learner", "maxmargin"))
            + "."
        )
    if scorer.encoder_rate != NeuralOptions.encoder_rate and not scorer.fine_tune:
        raise ArgumentError(f"{spelled('encoder_rate')} requires {spelled('fine_tune')}.")
    if isinstance(order, FirstOrderOptions):
        for name, value in (("clusters", order.clusters), ("rerank", order.rerank)):
            if value:
                raise ArgumentError(
                    f"{spelled(name)} requires a linear scorer: leave it out, or leave out "
                    f"{spelled('scorer', scorer.tag)}."
                )
        if scorer.tag == NeuralOptions.tag:
            for name, default in _OF_FEATURES.items():
                if getattr(options, name) != default:
                    raise ArgumentError(
                        f"{spelled(name)} has no effect with {spelled('scorer', scorer.tag)}, "
                        "which has no hashed features."
                    )


def _check_first_order(options: ParserOptions, order: FirstOrderOptions) -> None:
    if order.rerank and options.labels == "joint":
        raise ArgumentError(
            f"{spelled('rerank')} cannot be combined with joint labels: use "
            f"{spelled('labels', 'staged')}."
        )
    if order.rerank and options.decode != "map":
        raise ArgumentError(
            f"{spelled('rerank')} cannot be combined with {spelled('decode', options.decode)}: it "
            "has its own way to choose a tree."
        )
    if options.decode == "max-z" and not order.clusters:
        raise ArgumentError(
            f"{spelled('decode', 'max-z')} requires hidden clusters: give {spelled('clusters')}."
        )
    if not order.clusters:
        return
    learner = options.learner
    if not isinstance(learner, LogLinearOptions):
        raise ArgumentError(
            f"hidden clusters require {spelled('learner', 'loglinear')}; {learner.tag} does not "
            "sum over them."
        )
    if isinstance(learner.optimizer, ExponentiatedGradientOptions):
        raise ArgumentError(
            "exponentiated gradient does not support hidden clusters: use another "
            f"{spelled('optimizer')}, or no clusters."
        )
    _check_size(order)
    if options.labels == "joint":
        raise ArgumentError(
            "hidden clusters cannot be combined with joint labels: use "
            f"{spelled('labels', 'staged')}."
        )


def _check_size(order: FirstOrderOptions) -> None:
    assert order.cluster_bits is not None
    count = order.clusters << order.cluster_bits
    if count > MOST_CLUSTER_WEIGHTS:
        fitting = (MOST_CLUSTER_WEIGHTS // order.clusters).bit_length() - 1
        raise ArgumentError(
            f"{order.clusters} clusters with {spelled('cluster_bits', order.cluster_bits)} have "
            f"{count:,} weights, more than {MOST_CLUSTER_WEIGHTS:,} (7 GB in training): use "
            f"{spelled('cluster_bits', fitting)}."
        )


def _check_higher_order(
    options: ParserOptions, order: HigherOrderOptions, given: Collection[str]
) -> None:
    learner, inference, training = options.learner, order.inference, order.training_inference
    assert inference is not None
    assert training is not None
    for name, engine in (("inference", inference), ("training_inference", training)):
        if isinstance(engine, ExactOptions) and options.trees != "projective":
            raise ArgumentError(
                f"{spelled(name, 'exact')} requires {spelled('trees', 'projective')}: no exact sum "
                "over nonprojective second-order trees is known."
            )
    _check_learner(options, order, given)
    if order.head_bigrams:
        _check_head_bigrams(inference, training)
    if learner.need not in training.offers:
        raise _unable(learner, inference, training, given)
    if isinstance(learner, BeliefLearnerOptions) and learner.need not in inference.offers:
        raise ArgumentError(
            f"{spelled('learner', learner.tag)} trains marginals, which "
            f"{spelled('inference', inference.tag)} does not use: use bp or exact."
        )
    if options.decode not in inference.decoders:
        raise ArgumentError(
            f"{spelled('decode', options.decode)} is not available with "
            f"{spelled('inference', inference.tag)}: use {' or '.join(inference.decoders)}."
        )
    for engine in (inference, training):
        both = isinstance(inference, BeliefPropagationOptions) and isinstance(
            training, BeliefPropagationOptions
        )
        if isinstance(engine, BeliefPropagationOptions) and engine.factors == "pairs" and not both:
            raise ArgumentError(
                f"{spelled('factors', 'pairs')} requires bp for training and decoding: use "
                f"{spelled('factors', 'automata')}."
            )


def _check_head_bigrams(inference: InferenceOptions, training: TrainingInferenceOptions) -> None:
    for name, engine in (("inference", inference), ("training_inference", training)):
        if isinstance(engine, BeliefPropagationOptions):
            continue
        if not isinstance(engine, DualDecompositionOptions):
            raise ArgumentError(
                f"{spelled('head_bigrams')} requires bp or dual for training and decoding, not "
                f"{spelled(name, engine.tag)}."
            )
        if engine.solver != "ad3":
            raise ArgumentError(
                f"{spelled('head_bigrams')} requires {spelled('solver', 'ad3')}: "
                f"{engine.solver} cannot score them."
            )


def _unable(
    learner: LearnerOptions,
    inference: InferenceOptions,
    training: TrainingInferenceOptions,
    given: Collection[str],
) -> ArgumentError:
    """The error for training inference that the learner cannot use.

    If it was not given, it follows from `inference`, and the message names that.
    """
    able = [one for one in ("automata", "dual", "exact", "bp") if learner.need in _OFFERS[one]]
    needs = f"{spelled('learner', learner.tag)} needs {_NEEDS[learner.need]}, which "
    if "training_inference" in given or training.tag != inference.tag:
        used = spelled("training_inference", training.tag)
        return ArgumentError(f"{needs}{used} does not give: use {' or '.join(able)}.")
    return ArgumentError(
        f"{needs}{spelled('inference', inference.tag)} does not give: choose another learner, or "
        f"add {spelled('training_inference', able[0])}."
    )


_NEEDS = {
    "best trees": "best trees",
    "sums": "sums over trees",
    "gradients": "gradients through marginals",
}
_OFFERS = {
    "automata": ("best trees", "sums"),
    "dual": ("best trees",),
    "exact": ("best trees", "sums", "gradients"),
    "bp": ("sums", "gradients"),
}


def _check_exact_sums(
    options: ParserOptions, order: HigherOrderOptions, given: Collection[str]
) -> None:
    """Dual variables and line searches need exact sums; the others also accept approximations."""
    learner = options.learner
    optimizer = getattr(learner, "optimizer", learner)
    if isinstance(optimizer, OnlineOptions) or isinstance(order.training_inference, ExactOptions):
        return
    if isinstance(learner, MaxMarginOptions):
        needs, instead = spelled("learner", learner.tag), spelled("learner", "mira")
    else:
        needs, instead = spelled("optimizer", optimizer.tag), "adagrad or sgd"
    name = "training_inference" if "training_inference" in given else "inference"
    raise ArgumentError(
        f"{needs} needs exact sums over trees: with {spelled('order', order.tag)}, use "
        f"{spelled('trees', 'projective')} and {spelled(name, 'exact')}, or {instead}."
    )


def _check_learner(
    options: ParserOptions, order: HigherOrderOptions, given: Collection[str]
) -> None:
    learner = options.learner
    if isinstance(learner, MiraOptions) and learner.variant != "1-best":
        raise ArgumentError(
            f"{spelled('mira', learner.variant)} requires {spelled('order', 'first')}; higher "
            "orders have 1-best only."
        )
    if isinstance(learner, HeadSelectionOptions):
        raise ArgumentError(
            f"{spelled('learner', learner.tag)} requires {spelled('order', 'first')}: words choose "
            "their heads without parts."
        )
    _check_exact_sums(options, order, given)
    if options.labels == "joint":
        raise ArgumentError(
            f"{spelled('labels', 'joint')} requires {spelled('order', 'first')}; higher orders "
            "have staged labels or none."
        )
