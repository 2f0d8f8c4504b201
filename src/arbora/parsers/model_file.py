"""The model file: safetensors, with everything but the arrays as JSON in its metadata.

Loading checks the whole file before it believes any of it, and runs nothing.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as save_tensors

from arbora.data import open_output
from arbora.errors import ArboraError, FileError, ModelError
from arbora.features import FILTER_SIZE, FeatureSettings, WordClusters
from arbora.parsers.card import check_card
from arbora.parsers.model import Model
from arbora.parsers.settings import ParserSettings
from arbora.parsers.tensor_file import (
    MAX_HEADER_BYTES,
    Tensors,
    checksum_of,
    layout_of,
    parse_json,
    parse_tensors,
    read_contents,
    with_zeros,
)
from arbora.types import Root, TreeClass

__all__ = ["FORMAT_VERSION", "from_bytes", "read_model", "to_bytes", "write_model"]

FORMAT_VERSION = 1
_KEY = "arbora"  # of the metadata
_CHECKSUM = "checksum"  # of the tensors, and of the metadata's text
_LAYOUT = "layout"  # the checksum of names, types and shapes, which the first files do not have
_PRUNER = "pruner."  # before the names of a pruner's tensors
_LARGEST_WEIGHT = 1e9  # sums of thousands of them are still scores that inference accepts
_KINDS = {"index": "u4", "value": "f4", "weights": "f4", "label_weights": "f4",
          "arc_filter": "u2", "word_clusters": "u1"}  # fmt: skip


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes the file aside and renames it when it is whole; at the end the disk has it."""
    with open_output(path, durable=True) as write:
        write(to_bytes(model))


def read_model(path: str | os.PathLike[str]) -> Model:
    name = os.fspath(path)
    try:
        return from_bytes(read_contents(path))
    except FileError as problem:
        raise ModelError(str(problem)) from None
    except ModelError as problem:
        raise ModelError(f"{name}: {problem}") from None


def to_bytes(model: Model) -> bytes:
    """The file's contents; the same model gives the same bytes.

    A model that could not be read again is refused.
    """
    _check(model)
    tensors: Tensors = {}
    description = {"version": FORMAT_VERSION} | _describe(model, tensors)
    if model.word_clusters is not None:
        lines = [
            f"{cluster}\t{form}\t{share!r}" for form, cluster, share in model.word_clusters.rows
        ]
        tensors["word_clusters"] = np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)
    text = json.dumps(description, ensure_ascii=False, sort_keys=True)
    text = text.encode(errors="replace").decode()  # names of files need not be Unicode
    if len(text.encode()) > MAX_HEADER_BYTES // 2:
        raise ModelError(
            f"the model's description has {len(text) / 1e6:,.1f} MB, and would not be read again: "
            "its labels, its history or its licence are too long."
        )
    tensors[_LAYOUT] = layout_of(tensors)
    tensors[_CHECKSUM] = checksum_of(text, tensors)
    # One entry only: safetensors writes several in any order.
    return save_tensors(tensors, {_KEY: text})


def _describe(model: Model, tensors: Tensors, prefix: str = "") -> dict[str, Any]:
    """Everything but the arrays, which are put into `tensors`; a pruner's with a prefix."""
    tensors[f"{prefix}arc_filter"] = model.arc_filter
    _put_weights(tensors, f"{prefix}weights", model.weights)
    _put_weights(tensors, f"{prefix}label_weights", model.label_weights)
    description: dict[str, Any] = {
        "settings": model.settings.to_dict(),
        "features": asdict(model.features),
        "labels": list(model.labels),
        "root": model.root,
        "decode_trees": model.decode_trees,
        "temperature": model.temperature,
        "sizes": {"weights": len(model.weights), "label_weights": len(model.label_weights)},
        "card": model.card,
    }
    if model.pruner is not None:
        description["pruner"] = _describe(model.pruner, tensors, _PRUNER)
    return description


def from_bytes(data: bytes) -> Model:
    """The model in a file's contents, or a `ModelError` that says what is wrong with them."""
    metadata, tensors = parse_tensors(data)
    text = metadata.get(_KEY)
    if not isinstance(text, str):
        raise ModelError("this is a safetensors file, but not a model of Arbora.")
    _check_sums(text, tensors)
    try:
        description = parse_json(text)
        version = description["version"]
        if version > FORMAT_VERSION:
            raise ModelError(
                f"the model has format {version} and this Arbora reads up to {FORMAT_VERSION}: "
                "update it."
            )
        return _build(description, tensors)
    except ModelError:
        raise
    except ArboraError as problem:
        raise ModelError(f"the model's settings are not known here: {problem}") from None
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError) as problem:
        raise ModelError(f"the model's description is incomplete ({problem}).") from None
    except MemoryError:
        raise ModelError("the model is too large for the memory of this machine.") from None


def _check_sums(text: str, tensors: Tensors) -> None:
    """Takes both checksums out of the tensors, and lets nothing pass that they do not cover.

    The checksum of the layout came later; what it covers is also fixed by `_KINDS`, for files that
    are older.
    """
    checksum = tensors.pop(_CHECKSUM, np.zeros(0, dtype=np.uint8))
    right = checksum.tobytes() == checksum_of(text, tensors).tobytes()
    if _LAYOUT in tensors:
        layout = tensors.pop(_LAYOUT)
        right &= layout.tobytes() == layout_of(tensors).tobytes()
    if not right:
        raise ModelError("the checksum is wrong: the file was altered or damaged; get it again.")
    for name, values in tensors.items():
        kind = _KINDS.get(name.rpartition(".")[2])
        if kind is None or values.dtype != np.dtype(kind) or values.ndim != 1:
            raise ModelError(f"the model's {name} are {values.ndim}-dimensional {values.dtype}.")


def _build(description: dict[str, Any], tensors: Tensors) -> Model:
    clusters = None
    if "word_clusters" in tensors:
        rows = [
            line.split("\t") for line in tensors["word_clusters"].tobytes().decode().split("\n")
        ]
        clusters = WordClusters((form, cluster, float(share)) for cluster, form, share in rows)
        _check_shares(clusters)
    return _build_model(description, tensors, clusters)


def _build_model(
    description: dict[str, Any], tensors: Tensors, clusters: WordClusters | None, prefix: str = ""
) -> Model:
    pruner = None
    if "pruner" in description:
        if prefix:
            raise ModelError("the model's pruner has a pruner itself.")
        pruner = _build_model(description["pruner"], tensors, clusters, _PRUNER)
    nothing = np.zeros(0, dtype=np.float32)
    model = Model(
        settings=ParserSettings(**description["settings"]),
        features=FeatureSettings(**description["features"]),
        labels=tuple(description["labels"]),
        root=description["root"],
        decode_trees=description["decode_trees"],
        weights=nothing,
        label_weights=nothing,
        arc_filter=tensors[f"{prefix}arc_filter"],
        word_clusters=clusters,
        temperature=description["temperature"],
        card=description["card"],
        pruner=pruner,
    )
    _check_description(model)
    # What the settings ask for, and not what the file says, is how much memory is taken.
    arcs, labels = _sizes(model)
    if description["sizes"] != {"weights": arcs, "label_weights": labels}:
        raise ModelError("the number of weights does not fit the settings.")
    return replace(
        model,
        weights=_get_weights(tensors, f"{prefix}weights", arcs, model.temperature),
        label_weights=_get_weights(tensors, f"{prefix}label_weights", labels, 1.0),
    )


def _check_shares(clusters: WordClusters) -> None:
    for form, _, share in clusters.rows:
        if not 0.0 <= share <= 1.0:
            raise ModelError(f"the model's word clusters have {share} as the share of {form!r}.")


def _check(model: Model) -> None:
    """What no damage can bring about, but a careless program that writes models can."""
    if model.word_clusters is not None:
        _check_shares(model.word_clusters)
    if model.pruner is not None:
        _check(model.pruner)
    _check_description(model)
    _check_weights("weights", model.weights, model.temperature)
    _check_weights("label_weights", model.label_weights, 1.0)
    if (len(model.weights), len(model.label_weights)) != _sizes(model):
        raise ModelError("the number of weights does not fit the settings.")


def _check_description(model: Model) -> None:
    """Everything but the weights."""
    for name, choices in (("root", get_args(Root)), ("decode_trees", get_args(TreeClass))):
        if getattr(model, name) not in choices:
            raise ModelError(f"the model's {name} is {getattr(model, name)!r}.")
    if not isinstance(model.temperature, float) or not 0.0 < model.temperature < math.inf:
        raise ModelError(f"the model's temperature is {model.temperature!r}.")
    _check_labels(model.labels)
    if len(model.arc_filter) not in (0, FILTER_SIZE):
        raise ModelError("the model's arc filter has the wrong size.")
    if (model.pruner is None) != (model.settings.order == "first"):
        raise ModelError(
            "the model has a pruner where its order needs none, or none where it does."
        )
    check_card(model.card)


def _sizes(model: Model) -> tuple[int, int]:
    """How many weights of trees and of labels the settings ask for."""
    return model.n_weights, model.label_scorer(1).size if model.staged else 0


def _check_weights(name: str, values: NDArray[np.float32], temperature: float) -> None:
    if values.dtype != np.float32 or values.ndim != 1:
        raise ModelError(f"the model's {name} are {values.ndim}-dimensional {values.dtype}.")
    largest = float(np.abs(values).max(initial=0.0))
    if not math.isfinite(largest):
        raise ModelError(f"the model's {name} are not all finite numbers.")
    if largest > _LARGEST_WEIGHT * min(1.0, temperature):
        raise ModelError(
            f"the model's {name} go up to {largest:.3g} at temperature {temperature:.3g}, and "
            f"beyond {_LARGEST_WEIGHT:.0e} scores are not exact; the training has diverged."
        )


def _check_labels(labels: tuple[str, ...]) -> None:
    """Only what a DEPREL column can hold can be written by `parse`."""
    if not all(isinstance(name, str) for name in labels):
        raise ModelError("the model's labels are not all texts.")
    for name in labels:
        if not name or name != name.strip(" ") or any(c in name for c in "\t\r\n"):
            raise ModelError(
                f"the model has a label {name!r} that no file can hold: train it again on files "
                "with valid labels."
            )
    if len(set(labels)) < len(labels):
        raise ModelError("the model has a label twice.")


def _put_weights(tensors: Tensors, name: str, weights: NDArray[np.float32]) -> None:
    """Stores weights whole, or only those that are not zero if that is smaller."""
    used = np.flatnonzero(weights)
    if 8 * len(used) < 4 * len(weights):
        tensors[f"{name}.index"] = used.astype(np.uint32)
        tensors[f"{name}.value"] = weights[used]
    else:
        tensors[name] = weights


def _get_weights(tensors: Tensors, name: str, size: int, temperature: float) -> NDArray[np.float32]:
    values: NDArray[np.float32] = tensors[name if name in tensors else f"{name}.value"]
    _check_weights(name.removeprefix(_PRUNER), values, temperature)
    if name in tensors:
        if len(values) != size:
            raise ModelError("the number of weights does not fit the settings.")
        return values
    return with_zeros(tensors[f"{name}.index"], values, size)
