"""Linear scorers, and sums of scorers, as stored in model files."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.features import Encoder
from arbora.models.checks import LARGEST_WEIGHT
from arbora.models.stored import stored_weights
from arbora.models.tensor_file import Tensors
from arbora.options import ParserOptions
from arbora.scoring import SCORERS, Expert, LabelScorer, LinearScorer, SumScorer

__all__ = ["SCORER", "label_weights", "linear_from", "sum_from"]

SCORER = "scorer."  # before the names of the scorer's tensors


def linear_from(
    scorer: LinearScorer, described: dict[str, Any], tensors: Tensors, prefix: str
) -> LinearScorer:
    """The linear scorer for the options, with the weights of the file."""
    own, _ = scorer.state()
    described = {"cluster_features": "beside", **described}  # that of older files
    if any(described[name] != value for name, value in own.items()):
        raise ModelError(f"the model's {prefix} does not fit its options.")
    filtered = scorer.with_filter(tensors[f"{prefix}.arc_filter"])
    return filtered.with_parameters(
        {"weights": stored_weights(tensors, f"{prefix}.weights", scorer.size)}
    )


def label_weights(scorer: SumScorer) -> dict[str, NDArray[Any]]:
    """The weights of the linear expert's labels, if it has any."""
    found = [one.labels for one in scorer.experts if one.labels is not None]
    return found[0].parameters() if found else {}


def sum_from(
    options: ParserOptions,
    linear: LinearScorer,
    encoder: Encoder,
    described: dict[str, Any],
    n_labels: int,
    tensors: Tensors,
) -> SumScorer:
    """A linear and a neural expert, as `linear+neural` has them."""
    first, second = described["experts"]
    for one in (first, second):
        if not isinstance(one["weight"], float) or not 0.0 < one["weight"] <= LARGEST_WEIGHT:
            raise ModelError(f"the model's scorer has an expert of weight {one['weight']!r}.")
    labels = None
    if options.labels == "staged":
        labels = LabelScorer(encoder.settings, options.label_bits or 17, n_labels)
        weights = stored_weights(tensors, "labeller.weights", labels.size)
        labels = labels.with_parameters({"weights": weights})
    prefix = f"{SCORER}1."
    arrays = {
        name.removeprefix(prefix): values
        for name, values in tensors.items()
        if name.startswith(prefix)
    }
    if first["kind"] != linear.kind or second["kind"] != "neural":
        raise ModelError("the model's experts are not a linear and a neural scorer.")
    neural = SCORERS["neural"].from_state(second, arrays, encoder.settings)
    return SumScorer([
        Expert(linear_from(linear, first, tensors, f"{SCORER}0"), first["weight"], labels),
        Expert(neural, second["weight"]),
    ])  # fmt: skip
