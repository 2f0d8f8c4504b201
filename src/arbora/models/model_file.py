"""The model file: safetensors, with everything but the arrays as JSON in its metadata.

Loading checks the whole file before it believes any of it, and runs nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import os
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import numpy as np
from arbora.parsers.model import Model
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from arbora.data import open_output
from arbora.errors import ArboraError, ModelError, unreadable
from arbora.features import FILTER_SIZE, FeatureSettings, WordClusters
from arbora.parsers.settings import ParserSettings
from arbora.types import Root, TreeClass

__all__ = ["FORMAT_VERSION", "from_bytes", "read_model", "to_bytes", "write_model"]

FORMAT_VERSION = 1
_GZIP = b"\x1f\x8b"  # what a packed file begins with
_KEY = "arbora"  # of the metadata
_CHECKSUM = "checksum"  # of the tensors
_PRUNER = "pruner."  # before the names of a pruner's tensors
Tensors = dict[str, NDArray[Any]]


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes the file aside and renames it when it is whole."""
    with open_output(path) as write:
        write(to_bytes(model))


def read_model(path: str | os.PathLike[str]) -> Model:
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as problem:
        raise ModelError(str(unreadable(name, problem))) from None
    try:
        return from_bytes(gzip.decompress(data) if data[:2] == _GZIP else data)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ModelError(f"{name}: the file is cut short or damaged; get it again.") from None
    except ModelError as problem:
        raise ModelError(f"{name}: {problem}") from None


def to_bytes(model: Model) -> bytes:
    """The file's contents; the same model gives the same bytes."""
    tensors: Tensors = {}
    description = {"version": FORMAT_VERSION} | _describe(model, tensors)
    if model.word_clusters is not None:
        lines = [
            f"{cluster}\t{form}\t{share!r}" for form, cluster, share in model.word_clusters.rows
        ]
        tensors["word_clusters"] = np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)
    text = json.dumps(description, ensure_ascii=False, sort_keys=True)
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
    metadata, tensors = _parse(data)
    text = metadata.get(_KEY)
    if text is None:
        raise ModelError("this is a safetensors file, but not a model of Arbora.")
    checksum = tensors.pop(_CHECKSUM, np.zeros(0, dtype=np.uint8))
    if checksum.tobytes() != checksum_of(text, tensors).tobytes():
        raise ModelError("the checksum is wrong: the file was altered or damaged; get it again.")
    try:
        description = json.loads(text)
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
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as problem:
        raise ModelError(f"the model's description is incomplete ({problem}).") from None


def _build(description: dict[str, Any], tensors: Tensors) -> Model:
    clusters = None
    if "word_clusters" in tensors:
        rows = [
            line.split("\t") for line in tensors["word_clusters"].tobytes().decode().split("\n")
        ]
        clusters = WordClusters((form, cluster, float(share)) for cluster, form, share in rows)
    return _build_model(description, tensors, clusters)


def _build_model(
    description: dict[str, Any], tensors: Tensors, clusters: WordClusters | None, prefix: str = ""
) -> Model:
    sizes = description["sizes"]
    pruner = None
    if "pruner" in description:
        pruner = _build_model(description["pruner"], tensors, clusters, _PRUNER)
    model = Model(
        settings=ParserSettings(**description["settings"]),
        features=FeatureSettings(**description["features"]),
        labels=tuple(description["labels"]),
        root=description["root"],
        decode_trees=description["decode_trees"],
        weights=_get_weights(tensors, f"{prefix}weights", sizes["weights"]),
        label_weights=_get_weights(tensors, f"{prefix}label_weights", sizes["label_weights"]),
        arc_filter=tensors[f"{prefix}arc_filter"],
        word_clusters=clusters,
        temperature=description["temperature"],
        card=description["card"],
        pruner=pruner,
    )
    _check(model)
    return model


def _check(model: Model) -> None:
    """What no damage can bring about, but a careless program that writes models can."""
    for name, choices in (("root", get_args(Root)), ("decode_trees", get_args(TreeClass))):
        if getattr(model, name) not in choices:
            raise ModelError(f"the model's {name} is {getattr(model, name)!r}.")
    if not isinstance(model.temperature, float) or not 0.0 < model.temperature < math.inf:
        raise ModelError(f"the model's temperature is {model.temperature!r}.")
    for name, kind in (("weights", "f4"), ("label_weights", "f4"), ("arc_filter", "u2")):
        numbers = getattr(model, name)
        if numbers.dtype != np.dtype(kind) or numbers.ndim != 1:
            raise ModelError(f"the model's {name} are {numbers.ndim}-dimensional {numbers.dtype}.")
        if not np.isfinite(numbers).all():
            raise ModelError(f"the model's {name} are not all finite numbers.")
    if not all(isinstance(name, str) for name in model.labels):
        raise ModelError("the model's labels are not all texts.")
    if not isinstance(model.card, dict):
        raise ModelError("the model's card is not a table.")
    if len(model.arc_filter) not in (0, FILTER_SIZE):
        raise ModelError("the model's arc filter has the wrong size.")
    label_weights = model.label_scorer(1).size if model.staged else 0
    if (model.pruner is None) != (model.settings.order == "first"):
        raise ModelError(
            "the model has a pruner where its order needs none, or none where it does."
        )
    if (len(model.weights), len(model.label_weights)) != (model.n_weights, label_weights):
        raise ModelError("the number of weights does not fit the settings.")


def _parse(data: bytes) -> tuple[dict[str, str], Tensors]:
    """Metadata and tensors; safetensors itself checks that sizes fit."""
    if len(data) <= 8:
        raise ModelError("the file is empty or cut short; it is not a model.")
    length = int.from_bytes(data[:8], "little")
    looks_right = data[8:9] == b"{" and length < 1 << 30
    if looks_right and len(data) < 8 + length:
        raise ModelError("the file is cut short; get it again.")
    try:
        header = json.loads(data[8 : 8 + length]) if looks_right else None
        if not isinstance(header, dict):
            raise ModelError("this is not a model of Arbora.")
        return header.get("__metadata__") or {}, load_tensors(data)
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as problem:
        if isinstance(problem, ModelError):
            raise
        kind = "cut short" if "ncomplete" in str(problem) else "damaged"
        raise ModelError(f"the file is {kind}; get it again.") from None


def _put_weights(tensors: Tensors, name: str, weights: NDArray[np.float32]) -> None:
    """Stores weights whole, or only those that are not zero if that is smaller."""
    used = np.flatnonzero(weights)
    if 8 * len(used) < 4 * len(weights):
        tensors[f"{name}.index"] = used.astype(np.uint32)
        tensors[f"{name}.value"] = weights[used]
    else:
        tensors[name] = weights


def _get_weights(tensors: Tensors, name: str, size: int) -> NDArray[np.float32]:
    if name in tensors:
        return tensors[name]
    weights = np.zeros(size, dtype=np.float32)
    weights[tensors[f"{name}.index"]] = tensors[f"{name}.value"]
    return weights


def checksum_of(text: str, tensors: Tensors) -> NDArray[np.uint8]:
    """Of a file's text and arrays: tells whether either was altered."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensors[name]).view(np.uint8).data)
    return np.frombuffer(digest.digest(), dtype=np.uint8)
