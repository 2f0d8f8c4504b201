"""Which settings go together; what does not is refused in a sentence that says what would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.parsers.settings import Inference, ParserSettings, TrainingInference

__all__ = ["BELIEF_LEARNERS", "check_combinations", "default_inference", "uses_propagation"]

BELIEF_LEARNERS = ("l2", "risk", "l2+risk")  # which learn through the inference
_OF_PROPAGATION = ("bp_iterations", "damping", "factors")
_OF_ANNEALING = ("first_temperature", "last_temperature")


def default_inference(settings: ParserSettings) -> tuple[Inference, TrainingInference]:
    """How trees of higher order are found, and what they are learnt with, where it is not said."""
    if settings.learner in BELIEF_LEARNERS:  # through the inference that will be used
        known: Inference = "exact" if settings.training_inference == "exact" else "bp"
        inference = settings.inference or known
        return inference, settings.training_inference or inference
    inference = settings.inference or "dual"
    # Trees are better rivals of siblings; with grandparents they cost much more and add less. The
    # perceptron is that of Koo et al. (2010), and likelihoods sum over walks.
    by_trees = settings.learner == "mira" and settings.order == "sibling"
    walks = inference == "dual" and not by_trees
    return inference, settings.training_inference or ("automata" if walks else inference)


def uses_propagation(settings: ParserSettings) -> bool:
    return settings.order != "first" and "bp" in default_inference(settings)


def check_combinations(settings: ParserSettings) -> None:
    if settings.order != "first":  # before any advice on what higher orders do not have at all
        _check_first_order_only(settings)
    _check_learner(settings)
    _check_unused(settings)
    if settings.order == "first":
        for name in ("inference", "training_inference"):
            if getattr(settings, name) is not None:
                raise ArgumentError(
                    f"{name} is a choice of higher orders; first-order inference is exact."
                )
        return
    _check_higher_order(settings)
    _check_sums(settings)


def _check_first_order_only(settings: ParserSettings) -> None:
    if settings.learner == "maxmargin":
        raise ArgumentError("maxmargin is a first-order learner: use mira for higher orders.")
    if settings.learner == "loglinear" and settings.optimizer not in ("adagrad", "sgd"):
        raise ArgumentError("higher orders are learnt by adagrad or sgd.")
    if settings.labels == "joint":
        raise ArgumentError("higher orders label after the tree: labels is staged or none.")
    if settings.clusters:
        raise ArgumentError("hidden clusters are of first order: leave clusters out.")
    if settings.decode == "max-z":
        raise ArgumentError("decode='max-z' is for hidden clusters, which are of first order.")


def _check_learner(settings: ParserSettings) -> None:
    hidden, learner = settings.clusters > 1, settings.learner
    exponentiated = learner == "maxmargin" or settings.optimizer == "eg"
    if settings.clusters == 1:
        raise ArgumentError("clusters is 0 (none) or at least 2, not 1.")
    if learner in ("perceptron", "mira") and settings.optimizer != "adagrad":
        raise ArgumentError(
            f"optimizer belongs to the loglinear learner; {learner} has none to choose."
        )
    if learner == "maxmargin" and settings.optimizer not in ("adagrad", "eg"):
        raise ArgumentError("maxmargin is learnt by exponentiated gradient: optimizer='eg'.")
    if learner in BELIEF_LEARNERS and settings.optimizer not in ("adagrad", "sgd"):
        raise ArgumentError(f"{learner} is learnt by adagrad or sgd, not by {settings.optimizer}.")
    if exponentiated and settings.l2 == 0.0:
        raise ArgumentError("exponentiated gradient needs a regulariser: l2 above 0.")
    if hidden and learner != "loglinear":
        raise ArgumentError(
            f"hidden clusters are summed over, which {learner} cannot: use loglinear."
        )
    if hidden and settings.optimizer == "eg":
        raise ArgumentError("exponentiated gradient needs the whole structure: no clusters.")
    if hidden and settings.labels == "joint":
        raise ArgumentError("hidden clusters take the place of joint labels: use staged.")
    if settings.decode == "max-z" and not hidden:
        raise ArgumentError("decode='max-z' chooses hidden clusters: give clusters as well.")
    if settings.trees == "projective" and settings.decode_trees == "nonprojective":
        raise ArgumentError("a projectively trained model is decoded projectively.")


def _check_unused(settings: ParserSettings) -> None:
    """Options that the learner would ignore are refused."""
    learner, summing = settings.learner, ("loglinear", *BELIEF_LEARNERS)
    stepwise = learner in summing and settings.optimizer in ("adagrad", "sgd")
    online = stepwise or learner in ("perceptron", "mira")
    if settings.rate is not None and not stepwise:
        raise ArgumentError(
            "rate belongs to loglinear, l2, risk and l2+risk by adagrad or sgd; this learner has "
            "none."
        )
    if settings.l2 is not None and learner in ("perceptron", "mira"):
        raise ArgumentError(f"l2 belongs to learners that regularise; {learner} does not.")
    if settings.batch_size not in (None, 1) and not online:
        exponentiated = learner == "maxmargin" or settings.optimizer == "eg"
        kind = "goes sentence by sentence" if exponentiated else "looks at all sentences"
        raise ArgumentError(f"this learner {kind}: leave batch_size out.")
    if settings.word_dropout > 0.0 and not online:
        raise ArgumentError("word_dropout hides words step by step: this learner takes no steps.")
    for name in _OF_PROPAGATION:
        if getattr(settings, name) is not None and not uses_propagation(settings):
            raise ArgumentError(
                f"{name} belongs to belief propagation: a higher order with inference='bp' or "
                "training_inference='bp'."
            )
    for name in _OF_ANNEALING:
        if getattr(settings, name) is not None and learner not in ("risk", "l2+risk"):
            raise ArgumentError(f"{name} belongs to the learners risk and l2+risk.")
    first, last = settings.first_temperature or 0.1, settings.last_temperature or 0.0001
    if learner in ("risk", "l2+risk") and last > first:
        raise ArgumentError(
            f"the temperature falls: last_temperature ({last:g}) is not above first_temperature "
            f"({first:g})."
        )
    if settings.projectivise is not None and settings.trees != "projective":
        raise ArgumentError("projectivise belongs to trees='projective'.")
    if settings.projectivise is False and learner not in BELIEF_LEARNERS:
        raise ArgumentError(
            f"{learner} needs gold trees of the class that it learns: only l2, risk and l2+risk "
            "have projectivise=False."
        )


def _check_higher_order(settings: ParserSettings) -> None:
    """What second-order parts can be learnt with."""
    learner, exact = settings.learner, "exact"
    if settings.inference == exact and settings.trees != "projective":
        raise ArgumentError(
            "second-order inference is exact for projective trees only: use trees='projective', or "
            f"inference={'bp' if learner in BELIEF_LEARNERS else 'dual'!r}."
        )
    if settings.training_inference == exact and settings.trees != "projective":
        raise ArgumentError("training_inference='exact' needs trees='projective'.")
    if learner == "loglinear" and settings.training_inference == "dual":
        raise ArgumentError(
            "loglinear sums, over each head's modifiers (training_inference='automata'), over "
            "projective trees ('exact') or approximately ('bp'); dual decomposition finds "
            "best trees only."
        )
    if learner == "mira" and settings.mira != "1-best":
        raise ArgumentError("higher orders have 1-best MIRA only.")


def _check_sums(settings: ParserSettings) -> None:
    """What beliefs and sums of higher order can be had from, and what can be done with them."""
    learner, (inference, training) = settings.learner, default_inference(settings)
    if learner in ("perceptron", "mira") and "bp" in (inference, training):
        raise ArgumentError(
            f"{learner} compares best trees, which belief propagation does not find: use "
            "loglinear, l2, risk or l2+risk."
        )
    if learner in BELIEF_LEARNERS and inference == "dual":
        raise ArgumentError(
            f"{learner} learns probabilities of arcs, which dual decomposition does not look at: "
            "use inference='bp' or 'exact'."
        )
    if learner in BELIEF_LEARNERS and training not in ("exact", "bp"):
        raise ArgumentError(
            f"{learner} goes back through sums over trees: training_inference is 'exact' or 'bp'."
        )
    if settings.factors == "pairs" and not inference == training == "bp":
        raise ArgumentError(
            "factors='pairs' are of any two siblings, which only belief propagation looks at: use "
            "it for learning and decoding, or factors='automata'."
        )
    if inference == "bp" and settings.decode not in (None, "mbr"):
        raise ArgumentError(
            f"belief propagation finds trees by their expected correct arcs: decode is mbr, not "
            f"{settings.decode}."
        )
    by_sum = inference == "exact" and settings.decode == "mbr"
    if inference != "bp" and settings.decode not in (None, "map") and not by_sum:
        raise ArgumentError(
            f"decode={settings.decode!r} needs sums over trees: inference='exact' or 'bp', or "
            "first order."
        )
