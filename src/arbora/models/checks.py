"""Checks of a model that was read from a file."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.features import FILTER_SIZE, WordClusters
from arbora.models.card import check_card
from arbora.models.components import FirstOrderPruner, JointLabels, OwnLabels, StagedLabels
from arbora.models.model import Model
from arbora.models.reranker import Reranker
from arbora.models.tensor_file import Tensors
from arbora.scoring import LinearScorer, Scorer, SumScorer
from arbora.types import Root, TreeClass

__all__ = ["LARGEST_WEIGHT", "check_arrays", "check_model", "check_shares"]

LARGEST_WEIGHT = 1e9  # inference still accepts sums of thousands of them

# The type of each array of a linear component, by the last part of its name.
_TYPES = {
    "index": "u4", "value": "f4", "weights": "f4", "label_weights": "f4", "arc_filter": "u2",
    "word_clusters": "u1", "grouped_clusters": "u1", "codes": "u1", "values": "f4",
}  # fmt: skip


def check_arrays(tensors: Tensors) -> None:
    """Raises an error for arrays of linear components with the wrong type."""
    for name, values in tensors.items():
        kind = _TYPES.get(name.rpartition(".")[2])
        if kind is not None and (values.dtype != np.dtype(kind) or values.ndim != 1):
            raise ModelError(
                f"the model's {name} have the wrong type, {values.ndim}-dimensional {values.dtype}."
            )


def check_shares(clusters: WordClusters) -> None:
    """Raises an error for word clusters whose shares are not between 0 and 1."""
    for form, _, share in clusters.rows:
        if not 0.0 <= share <= 1.0:
            raise ModelError(f"the model's word clusters have {share} as the share of {form!r}.")


def check_model(model: Model) -> None:
    """Checks against mistakes of programs that write models; checksums do not find these."""
    for name, choices in (("root", get_args(Root)), ("decode_trees", get_args(TreeClass))):
        if getattr(model, name) not in choices:
            raise ModelError(f"the model's {name} is {getattr(model, name)!r}.")
    if not isinstance(model.temperature, float) or not 0.0 < model.temperature < math.inf:
        raise ModelError(f"the model's temperature is {model.temperature!r}.")
    _check_labels(model.labels)
    check_card(model.card)
    if model.encoder.clusters is not None:
        check_shares(model.encoder.clusters)
    scorers = [model.scorer]
    if isinstance(model.scorer, SumScorer):
        scorers = [one.scorer for one in model.scorer.experts]
    for scorer in scorers:
        if isinstance(scorer, LinearScorer):
            _check_linear("scorer", scorer, model.temperature)
        else:
            _check_numbers(scorer.parameters())
        _check_label_count(model, scorer)
    if set(model.scorer.kinds) != set(model.options.order.parts):
        raise ModelError("the model's scorer does not fit its options.")
    if isinstance(model.pruner, FirstOrderPruner):
        _check_linear("pruner", model.pruner.scorer, 1.0)
    if model.reranker is not None:
        _check_reranker(model.reranker)
    if isinstance(model.labeller, StagedLabels):
        of_labels = model.labeller.scorer
        _check_weights("labeller", of_labels.weights, of_labels.size, 1.0)


def _check_label_count(model: Model, scorer: Scorer) -> None:
    """Raises for a scorer that labels with another number of labels than the model has."""
    count = getattr(scorer, "label_count", 0)
    if isinstance(model.labeller, OwnLabels | JointLabels) and count not in (0, len(model.labels)):
        raise ModelError(f"the model has {len(model.labels)} labels, and its scorer {count}.")


def _check_labels(labels: tuple[str, ...]) -> None:
    """Raises an error for labels that cannot be written to a DEPREL column."""
    if not all(isinstance(name, str) for name in labels):
        raise ModelError("the model's labels are not all strings.")
    for name in labels:
        if not name or name != name.strip(" ") or any(c in name for c in "\t\r\n"):
            raise ModelError(
                f"the model has the invalid label {name!r}: train it again on files with valid "
                "labels."
            )
    if len(set(labels)) < len(labels):
        raise ModelError("the model has duplicate labels.")


def _check_reranker(reranker: Reranker) -> None:
    _check_linear("reranker", reranker.scorer, 1.0)
    weight = reranker.base_weight
    if not isinstance(weight, float) or not abs(weight) <= LARGEST_WEIGHT:
        raise ModelError(f"the model's reranker has the base weight {weight!r}.")


def _check_linear(name: str, scorer: LinearScorer, temperature: float) -> None:
    if len(scorer.arc_filter) not in (0, FILTER_SIZE):
        raise ModelError("the model's arc filter has the wrong size.")
    _check_weights(name, scorer.weights, scorer.size, temperature)


def _check_weights(name: str, values: NDArray[Any], size: int, temperature: float) -> None:
    if values.dtype != np.float32 or values.shape != (size,):
        raise ModelError(f"the weights of the model's {name} do not fit its options.")
    largest = float(np.abs(values).max(initial=0.0))
    if not math.isfinite(largest):
        raise ModelError(f"the weights of the model's {name} are not all finite numbers.")
    if largest > LARGEST_WEIGHT * min(1.0, temperature):
        raise ModelError(
            f"the weights of the model's {name} reach {largest:.3g} at temperature "
            f"{temperature:.3g}; scores are inexact beyond {LARGEST_WEIGHT:.0e}, so the "
            "training has diverged."
        )


def _check_numbers(parameters: dict[str, NDArray[Any]]) -> None:
    for name, values in parameters.items():
        if not np.isfinite(values).all():
            raise ModelError(f"the scorer's {name} are not all finite numbers.")
