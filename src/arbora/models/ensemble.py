"""Several models as one: their scores add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.models.components import OwnLabels, SoftmaxLabels, StagedLabels
from arbora.models.model import Model
from arbora.scoring import Expert, SumScorer

__all__ = ["ensemble_of"]


def ensemble_of(models: Sequence[Model]) -> Model:
    """The first model with the mean of all models' scores, each at its own temperature.

    The distribution is then the geometric mean of theirs. Everything else is the first model's:
    its stages, its pruner, its engine. Models of other parts or labels are refused.
    """
    first = models[0]
    if len(models) == 1:
        return first
    experts = []
    for number, model in enumerate(models, start=1):
        _check_alike(first, model, number)
        labels = model.labeller.scorer if isinstance(model.labeller, StagedLabels) else None
        experts.append(
            Expert(
                model.scorer, 1.0 / (len(models) * model.temperature), labels,
                None if model is first else model.encoder, _places(first, model),
            )
        )  # fmt: skip
    scorer = SumScorer(experts)
    labeller = first.labeller
    if isinstance(labeller, SoftmaxLabels):
        labeller = OwnLabels(scorer)
    return replace(first, scorer=scorer, labeller=labeller, temperature=1.0)


def _check_alike(first: Model, model: Model, number: int) -> None:
    """Raises for a model whose scores cannot be added to those of the first."""
    if model.reranker is not None or model.n_clusters:
        raise ArgumentError(
            f"model {number} reranks or has hidden clusters, so it cannot be one of several: leave "
            "it out."
        )
    if set(model.scorer.kinds) != set(first.scorer.kinds):
        raise ArgumentError(
            f"model {number} scores other parts than the first: use models of one order and one "
            "kind of inference."
        )
    if model.scorer.n_labels != first.scorer.n_labels or set(model.labels) != set(first.labels):
        raise ArgumentError(
            f"model {number} has other labels than the first: use models of one treebank."
        )
    if isinstance(model.labeller, SoftmaxLabels) != isinstance(first.labeller, SoftmaxLabels):
        raise ArgumentError(
            f"model {number} labels trees in another way than the first: use models with the same "
            "option for labels."
        )


def _places(first: Model, model: Model) -> NDArray[np.int64] | None:
    """Where the labels of the first model are among another's; None for the same places."""
    if model.labels == first.labels:
        return None
    return np.array([model.labels.index(name) for name in first.labels], dtype=np.int64)
