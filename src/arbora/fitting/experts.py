"""Training of a linear and a neural scorer, and of the weights with which their scores add."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arbora.data import Block
from arbora.fitting.calibration import calibrated
from arbora.fitting.checkpoint import linear_expert, path_beside
from arbora.fitting.dev import dev_set_of
from arbora.fitting.fit import check_fit, fit_model
from arbora.fitting.loop import History
from arbora.fitting.untrained import Fit
from arbora.models.components import OwnLabels, StagedLabels
from arbora.models.decoding import Decoder
from arbora.models.model import Model
from arbora.options import (
    LearnerOptions,
    LinearNeuralOptions,
    LinearOptions,
    MaxMarginOptions,
    NeuralOptions,
    ParserOptions,
    flatten,
)
from arbora.scoring import Expert, SumScorer

__all__ = ["fit_experts", "fit_parser"]

_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9)  # of the linear scorer; equal ones first


def fit_parser(fit: Fit, train: Block, dev: Block | None) -> tuple[Model, History]:
    """Trains a model with one scorer or two."""
    both = isinstance(fit.options.scorer, LinearNeuralOptions)
    return fit_experts(fit, train, dev) if both else fit_model(fit, train, dev)


def fit_experts(fit: Fit, train: Block, dev: Block | None) -> tuple[Model, History]:
    """Trains both scorers by themselves, and chooses their weights on `dev`.

    Both scores are first divided by the temperatures that calibrate them. Without dev data the
    weights are equal, since the sentences that were held out have been trained on.
    """
    check_fit(fit)
    beside = fit.checkpoint_beside
    linear_fit = replace(
        fit, options=_linear_options(fit.options), vectors=None, pretrained=None,
        checkpoint_beside=None if beside is None else linear_expert(beside),
    )  # fmt: skip
    linear, _ = fit_model(linear_fit, train, dev)
    how = fit.options.scorer
    assert isinstance(how, LinearNeuralOptions)
    alone = NeuralOptions(**{name: getattr(how, name) for name in flatten(how)})
    begun = beside is not None and path_beside(beside).exists()
    neural_fit = replace(
        fit, options=fit.options.with_values(scorer=alone), pruned_by=linear,
        resume=fit.resume and begun,
    )  # fmt: skip
    neural, history = fit_model(neural_fit, train, dev)
    model = _joined(fit.options, linear, neural)
    dev_set = dev_set_of(model, dev, None)
    scores = {}
    if dev_set is not None:
        for share in _SHARES:
            tried = _weighted(model, linear, neural, share)
            scores[share] = dev_set.score(Decoder(tried, fit.threads))
    best = max(scores, key=lambda share: scores[share].deciding, default=_SHARES[0])
    model = _weighted(model, linear, neural, best)
    if dev_set is not None:
        model = calibrated(model, dev_set, fit.threads)
        figures = {"uas": scores[best].uas, "las": scores[best].las, "rule": dev_set.gold.rule}
        model = model.with_card(dev=figures)
    experts = {"linear": linear.card.get("dev"), "neural": neural.card.get("dev")}
    return model.with_card(experts=experts, linear_share=best), history


def _linear_options(options: ParserOptions) -> ParserOptions:
    """The options of the linear scorer: its learner has its own optimiser and passes."""
    learner: LearnerOptions = options.learner
    own: dict[str, Any] = flatten(options)
    for component in (options.learner, options.scorer):
        for name in flatten(component):
            own.pop(name, None)
    # Exponentiated gradient would need exact sums in higher orders, and many passes.
    own["learner"] = "mira" if isinstance(learner, MaxMarginOptions) else learner.tag
    for name in ("passes", "scorer", "decode"):
        own.pop(name, None)
    given = {name: value for name, value in own.items() if value is not None}
    learnt_by = {name: given.pop(name) for name in ("training_inference",) if name in given}
    return ParserOptions.from_keywords(given, learnt_by).with_values(scorer=LinearOptions())


def _joined(options: ParserOptions, linear: Model, neural: Model) -> Model:
    labels = linear.labeller.scorer if isinstance(linear.labeller, StagedLabels) else None
    scorer = SumScorer([Expert(linear.scorer, 0.5, labels), Expert(neural.scorer, 0.5)])
    labeller = OwnLabels(scorer) if labels is not None else neural.labeller
    return replace(
        neural, options=options, scorer=scorer, labeller=labeller, pruner=linear.pruner,
        temperature=1.0,
    )  # fmt: skip


def _weighted(model: Model, linear: Model, neural: Model, share: float) -> Model:
    assert isinstance(model.scorer, SumScorer)
    weights = np.array([share / linear.temperature, (1.0 - share) / neural.temperature])
    return model.with_scorer(model.scorer.with_weights(weights.tolist()))
