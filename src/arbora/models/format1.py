"""Model files of format 1: flat options, and the pruner as a nested model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.features import Encoder, FeatureSettings
from arbora.models.checks import check_arrays
from arbora.models.components import EveryArc, FirstOrderPruner, Pruner, StagedLabels
from arbora.models.model import Model, linear_scorer, make_labeller
from arbora.models.stored import stored_clusters, stored_engine, stored_weights
from arbora.models.tensor_file import Tensors
from arbora.options import HigherOrderOptions, ParserOptions, current_names
from arbora.options.renamed import stored_names
from arbora.scoring import LinearScorer

__all__ = ["build_format1"]

_PRUNER = "pruner."  # before the names of a pruner's tensors


def build_format1(description: dict[str, Any], tensors: Tensors) -> Model:
    """The model in a file of format 1."""
    check_arrays(tensors)
    options = _options(description["settings"])
    settings = FeatureSettings.from_stored(description["features"])
    encoder = Encoder(settings, stored_clusters(tensors.get("word_clusters"), settings))
    labels = tuple(description["labels"])
    scorer = linear_scorer(options, encoder, len(labels))
    labeller = make_labeller(options, encoder, len(labels))
    expected = {"weights": scorer.size, "label_weights": 0}
    if isinstance(labeller, StagedLabels):
        size = expected["label_weights"] = labeller.scorer.size
        weights = stored_weights(tensors, "label_weights", size)
        labeller = StagedLabels(labeller.scorer.with_parameters({"weights": weights}))
    if description["sizes"] != expected:
        raise ModelError("the number of weights does not fit the options.")
    weights = stored_weights(tensors, "weights", scorer.size)
    scorer = scorer.with_filter(_own_filter(options, tensors)).with_parameters({"weights": weights})
    return Model(
        options=options,
        encoder=encoder,
        scorer=scorer,
        pruner=_pruner(options, encoder, description, tensors),
        labeller=labeller,
        labels=labels,
        root=description["root"],
        decode_trees=description["decode_trees"],
        temperature=description["temperature"],
        card=description["card"],
    )


def _options(settings: dict[str, Any]) -> ParserOptions:
    """The options that had an effect, by their current names."""
    flat, _ = current_names(settings)
    flat = stored_names(flat)
    if not flat.get("clusters"):
        flat.pop("cluster_of", None)  # had a default even without effect
    choices: dict[str, Any] = {name: flat[name] for name in ("learner", "order") if name in flat}
    if flat.get("learner") == "maxmargin":
        flat["optimizer"] = "eg"
    return ParserOptions.from_keywords(choices, flat)


def _own_filter(options: ParserOptions, tensors: Tensors) -> NDArray[np.uint16]:
    """The arc filter of a first-order model; in other models it belongs to the pruner."""
    if isinstance(options.order, HigherOrderOptions):
        return np.zeros(0, dtype=np.uint16)
    found: NDArray[np.uint16] = tensors["arc_filter"]
    return found


def _pruner(
    options: ParserOptions, encoder: Encoder, description: dict[str, Any], tensors: Tensors
) -> Pruner:
    order, described = options.order, description.get("pruner")
    if (described is not None) != isinstance(order, HigherOrderOptions):
        raise ModelError("the model's pruner does not fit its order.")
    if described is None or not isinstance(order, HigherOrderOptions):
        return EveryArc()
    if "pruner" in described:
        raise ModelError("the model's pruner has a pruner itself.")
    scorer = LinearScorer(encoder.settings, described["settings"]["bits"])
    weights = stored_weights(tensors, f"{_PRUNER}weights", scorer.size)
    scorer = scorer.with_filter(tensors[f"{_PRUNER}arc_filter"])
    engine = stored_engine(described["decode_trees"], described["root"])
    return FirstOrderPruner(
        scorer.with_parameters({"weights": weights}), engine, order.prune_threshold,
        order.prune_heads,
    )  # fmt: skip
