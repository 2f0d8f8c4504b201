"""The model file: safetensors, with everything except the arrays as JSON in its metadata.

Every component describes itself and stores its arrays under its own prefix. Loading checks the
whole file first and executes nothing from it. `format1.py` reads files of format 1.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as save_tensors

from arbora.data import open_output
from arbora.errors import ArboraError, FileError, ModelError
from arbora.features import Encoder, FeatureSettings
from arbora.models.checks import check_arrays, check_model
from arbora.models.components import EveryArc, FirstOrderPruner, Labeller, Pruner, StagedLabels
from arbora.models.format1 import build_format1
from arbora.models.model import Model, StoredStage, linear_scorer, make_labeller, pruner_scorer
from arbora.models.quantise import CODES, SIZE, VALUES, decoded, encode
from arbora.models.reranker import Reranker, make_reranker
from arbora.models.stored import (
    EDGES,
    GROUPED_CLUSTERS,
    WORD_CLUSTERS,
    clusters_to_store,
    describe_edge_clusters,
    stored_clusters,
    stored_edge_clusters,
    stored_engine,
    stored_weights,
)
from arbora.models.stored_scorers import SCORER, label_weights, linear_from, sum_from
from arbora.models.tensor_file import (
    MAX_HEADER_BYTES,
    Tensors,
    checksum_of,
    layout_of,
    parse_json,
    parse_tensors,
    read_contents,
)
from arbora.options import HigherOrderOptions, LinearOptions, NeuralOptions, ParserOptions
from arbora.options.renamed import stored_names
from arbora.scoring import (
    SCORERS,
    LinearScorer,
    Scorer,
    SoftClusterScorer,
    SumScorer,
)

__all__ = [
    "FORMAT_VERSION",
    "from_bytes",
    "read_model",
    "stored_version",
    "to_bytes",
    "write_model",
]

FORMAT_VERSION = 4
_WITHOUT_CODES = 3  # the format of files without rounded weights, which is otherwise the same
_WITHOUT_STAGES = 2  # that of files with a parser alone
_NEW = (CODES, GROUPED_CLUSTERS)  # ends of names that files of earlier formats do not have
_SHARED = "shared"  # in the description: tensors of stages that are the parser's word clusters
_KEY = "arbora"  # of the metadata
_STAGE = "stage."  # before the name of a stage and those of its tensors
_LINEAR = (LinearScorer.kind, SoftClusterScorer.kind)  # scorers that the options describe
_NEURAL = ("neural", "sum")
_CHECKSUM = "checksum"  # of the tensors, and of the metadata's text
_LAYOUT = "layout"  # the checksum of names, types and shapes, which the first files do not have


def write_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes a temporary file, syncs it to the disk and renames it."""
    with open_output(path, durable=True) as write:
        write(to_bytes(model))


def read_model(path: str | os.PathLike[str]) -> Model:
    """The model in a file; all contents are checked, and none are executed."""
    name = os.fspath(path)
    try:
        return from_bytes(read_contents(path))
    except FileError as problem:
        raise ModelError(str(problem)) from None
    except ModelError as problem:
        raise ModelError(f"{name}: {problem}") from None


def stored_version(path: str | os.PathLike[str]) -> int:
    """The format of a file that `read_model` reads."""
    metadata, _ = parse_tensors(read_contents(path))
    return int(parse_json(metadata[_KEY])["version"])


def to_bytes(model: Model) -> bytes:
    """The contents of the model file; the same model gives the same bytes.

    A model that could not be read again raises an error.
    """
    check_model(model)
    if isinstance(model.scorer, SumScorer) and any(one.encoder for one in model.scorer.experts):
        raise ModelError("an ensemble has no file of its own: keep the files of its models.")
    tensors: Tensors = {}
    text = json.dumps(_describe(model, tensors), ensure_ascii=False, sort_keys=True)
    text = text.encode(errors="replace").decode()  # names of files need not be Unicode
    if len(text.encode()) > MAX_HEADER_BYTES // 2:
        raise ModelError(
            f"the model's description is too large, {len(text) / 1e6:,.1f} MB: check the labels "
            "and the licence."
        )
    tensors[_LAYOUT] = layout_of(tensors)
    tensors[_CHECKSUM] = checksum_of(text, tensors)
    # A single entry, because the order in which safetensors writes several is undefined.
    return save_tensors(tensors, {_KEY: text})


def _describe(model: Model, tensors: Tensors) -> dict[str, Any]:
    """The description of the model; its arrays are added to `tensors`."""
    described, arrays = model.scorer.state()
    _put(tensors, "scorer", arrays, sparse=isinstance(model.scorer, LinearScorer | SumScorer))
    components: dict[str, Any] = {
        "encoder": model.encoder.settings.to_store(),
        "scorer": {"kind": model.scorer.kind, **described},
    }
    if model.encoder.clusters is not None:
        tensors |= clusters_to_store(model.encoder.clusters)
    if model.encoder.edge_clusters is not None:
        components["edge_clusters"] = describe_edge_clusters(model.encoder.edge_clusters, tensors)
    if isinstance(model.labeller, StagedLabels):
        _put(tensors, "labeller", model.labeller.scorer.parameters())
    elif isinstance(model.scorer, SumScorer):
        _put(tensors, "labeller", label_weights(model.scorer))
    if isinstance(model.pruner, FirstOrderPruner):
        described, arrays = model.pruner.scorer.state()
        _put(tensors, "pruner", arrays)
        components["pruner"] = {"trees": model.pruner.engine.trees, **described}
    if model.reranker is not None:
        described, arrays = model.reranker.scorer.state()
        _put(tensors, "reranker", arrays)
        components["reranker"] = {"base_weight": model.reranker.base_weight, **described}
    plain = _WITHOUT_CODES if model.stages else _WITHOUT_STAGES
    answer: dict[str, Any] = {
        "version": FORMAT_VERSION if any(name.endswith(_NEW) for name in tensors) else plain,
        "options": _options_to_store(model.options),
        "components": components,
        "labels": list(model.labels),
        "root": model.root,
        "decode_trees": model.decode_trees,
        "temperature": model.temperature,
        "card": model.card,
    }
    if model.stages:
        answer["stages"] = {name: stage.settings for name, stage in model.stages.items()}
        own = tensors.get(GROUPED_CLUSTERS)
        for name, stage in model.stages.items():
            shared = [key for key, array in stage.tensors.items() if _is_same(array, own)]
            if shared:  # the tagger's words are the parser's: they are stored once
                answer.setdefault(_SHARED, {})[name] = shared
            others = {key: array for key, array in stage.tensors.items() if key not in shared}
            _put_stage(tensors, f"{_STAGE}{name}", others)
    return answer


def _options_to_store(options: ParserOptions) -> dict[str, Any]:
    """The options by name; earlier versions know linear scorers only, and no name for them."""
    stored = options.keywords()
    if isinstance(options.scorer, LinearOptions):
        del stored["scorer"]
    return stored


def _is_same(array: NDArray[Any], other: NDArray[Any] | None) -> bool:
    return other is not None and array.dtype == other.dtype and np.array_equal(array, other)


def from_bytes(data: bytes) -> Model:
    """The model from the contents of a file; raises `ModelError` if they are invalid."""
    metadata, tensors = parse_tensors(data)
    text = metadata.get(_KEY)
    if not isinstance(text, str):
        raise ModelError("this is a safetensors file, but not an Arbora model.")
    has_layout = _check_sums(text, tensors)
    try:
        description = parse_json(text)
        version = description["version"]
        if version > FORMAT_VERSION:
            raise ModelError(
                f"the model has format {version} and this Arbora reads up to {FORMAT_VERSION}: "
                "update it."
            )
        if version == 1:
            model = build_format1(description, tensors)
        elif not has_layout:
            raise ModelError("the file is damaged; get it again.")
        else:
            model = _build(description, tensors)
        check_model(model)
        return model
    except ModelError:
        raise
    except ArboraError as problem:
        raise ModelError(f"the model's options are not known here: {problem}") from None
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError) as problem:
        told = str(problem).partition("\n")[0]
        raise ModelError(f"the model's description is incomplete ({told}).") from None
    except RecursionError:
        raise ModelError("the model has models in models without end.") from None
    except MemoryError:
        raise ModelError("the model is too large for the memory of this machine.") from None


def _check_sums(text: str, tensors: Tensors) -> bool:
    """Verifies and removes both checksums; returns whether there was one of the layout."""
    checksum = tensors.pop(_CHECKSUM, np.zeros(0, dtype=np.uint8))
    right = checksum.tobytes() == checksum_of(text, tensors).tobytes()
    has_layout = _LAYOUT in tensors
    if has_layout:
        layout = tensors.pop(_LAYOUT)
        right &= layout.tobytes() == layout_of(tensors).tobytes()
    if not right:
        raise ModelError("the checksum is wrong: the file was altered or damaged; get it again.")
    return has_layout


def _build(description: dict[str, Any], tensors: Tensors) -> Model:
    components = description["components"]
    own = "" if components["scorer"]["kind"] in _LINEAR else SCORER  # checked by itself
    others = tuple(filter(None, (own, EDGES, _STAGE)))
    check_arrays({name: v for name, v in tensors.items() if not name.startswith(others)})
    options = ParserOptions.from_keywords(stored_names(description["options"]))
    labels = tuple(description["labels"])
    settings = FeatureSettings.from_stored(components["encoder"])
    encoder = Encoder(
        settings,
        stored_clusters(tensors.get(WORD_CLUSTERS), settings, tensors.get(GROUPED_CLUSTERS)),
        stored_edge_clusters(components.get("edge_clusters"), tensors),
    )  # fmt: skip
    described = components["scorer"]
    expected = linear_scorer(options, encoder, len(labels))
    if isinstance(options.scorer, NeuralOptions):
        from arbora.neural import NeuralScorer

        SCORERS.setdefault(NeuralScorer.kind, NeuralScorer)
    if described["kind"] not in {*SCORERS, expected.kind, SumScorer.kind}:
        raise ModelError(
            f"the model has a scorer of unknown kind {described['kind']!r}: import the module that "
            "registers it with arbora.scoring.register_scorer."
        )
    scorer: Any
    if described["kind"] in _LINEAR:
        if described["kind"] != expected.kind:
            raise ModelError("the model's scorer does not fit its edge clusters.")
        scorer = linear_from(expected, described, tensors, "scorer")
    elif described["kind"] == SumScorer.kind:
        scorer = sum_from(options, expected, encoder, described, len(labels), tensors)
    else:
        arrays = {
            name.removeprefix(SCORER): values
            for name, values in tensors.items()
            if name.startswith(SCORER)
        }
        scorer = SCORERS[described["kind"]].from_state(described, arrays, settings)
    if isinstance(options.scorer, NeuralOptions) != (described["kind"] in _NEURAL):
        raise ModelError("the model's scorer does not fit its options.")
    return Model(
        options=options,
        encoder=encoder,
        scorer=scorer,
        pruner=_pruner(options, encoder, description, tensors),
        labeller=_labeller(options, encoder, len(labels), scorer, tensors),
        labels=labels,
        root=description["root"],
        decode_trees=description["decode_trees"],
        temperature=description["temperature"],
        reranker=_reranker(options, encoder, components.get("reranker"), tensors),
        card=description["card"],
        stages={
            name: _stage(
                name,
                settings,
                tensors
                | {
                    f"{_STAGE}{name}.{key}": tensors[GROUPED_CLUSTERS]
                    for key in description.get(_SHARED, {}).get(name, ())
                },
            )
            for name, settings in description.get("stages", {}).items()
        },
    )


def _stage(name: str, settings: Any, tensors: Tensors) -> StoredStage:
    """A stage as the file has it; `arbora.pipeline` checks it."""
    if not isinstance(settings, dict):
        raise ModelError(f"the model's {name} has no settings.")
    prefix = f"{_STAGE}{name}."
    own = {key.removeprefix(prefix): v for key, v in tensors.items() if key.startswith(prefix)}
    ending = f".{SIZE}"
    for rounded in [key.removesuffix(ending) for key in own if key.endswith(ending)]:
        codes, values, size = (own.pop(f"{rounded}.{part}") for part in (CODES, VALUES, SIZE))
        own[rounded] = decoded(codes, values, int(size[0]))
    return StoredStage(settings, own)


def _labeller(
    options: ParserOptions, encoder: Encoder, n_labels: int, scorer: Scorer, tensors: Tensors
) -> Labeller:
    labeller = make_labeller(options, encoder, n_labels, scorer=scorer)
    if not isinstance(labeller, StagedLabels):
        return labeller
    weights = stored_weights(tensors, "labeller.weights", labeller.scorer.size)
    return StagedLabels(labeller.scorer.with_parameters({"weights": weights}))


def _pruner(
    options: ParserOptions, encoder: Encoder, description: dict[str, Any], tensors: Tensors
) -> Pruner:
    order = options.order
    described = description["components"].get("pruner")
    if (described is not None) != isinstance(order, HigherOrderOptions):
        raise ModelError("the model's pruner does not fit its order.")
    if described is None or not isinstance(order, HigherOrderOptions):
        return EveryArc()
    scorer = pruner_scorer(options, encoder)
    engine = stored_engine(described["trees"], description["root"])
    found = linear_from(scorer, described, tensors, "pruner")
    return FirstOrderPruner(found, engine, order.prune_threshold, order.prune_heads)


def _reranker(
    options: ParserOptions, encoder: Encoder, described: dict[str, Any] | None, tensors: Tensors
) -> Reranker | None:
    untrained = make_reranker(options, encoder)
    if (described is None) != (untrained is None):
        raise ModelError("the model's reranker does not fit its options.")
    if described is None or untrained is None:
        return None
    scorer = linear_from(untrained.scorer, described, tensors, "reranker")
    return Reranker(scorer, untrained.candidates, described["base_weight"])


def _put(
    tensors: Tensors, prefix: str, arrays: dict[str, NDArray[Any]], *, sparse: bool = True
) -> None:
    """Stores arrays; linear weights densely, sparsely or as codes, whichever is smallest."""
    for name, values in arrays.items():
        forms: list[Tensors] = [{f"{prefix}.{name}": np.ascontiguousarray(values)}]
        if sparse and name.rpartition(".")[2] == "weights":
            used = np.flatnonzero(values)
            placed = {"index": used.astype(np.uint32), "value": values[used]}
            forms += [
                {f"{prefix}.{name}.{part}": array for part, array in form.items()}
                for form in (placed, encode(values))
                if form is not None
            ]
        smallest: Tensors = min(forms, key=_total_bytes)
        tensors.update(smallest)


def _total_bytes(tensors: Tensors) -> int:
    return sum(array.nbytes for array in tensors.values())


def _put_stage(tensors: Tensors, prefix: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Stores arrays of a stage; rounded weights are stored as codes."""
    for name, values in arrays.items():
        coded = encode(values) if values.dtype == np.float16 else None
        if coded is None:
            tensors[f"{prefix}.{name}"] = np.ascontiguousarray(values)
        else:
            coded[SIZE] = np.array([len(values)], dtype=np.uint64)
            tensors |= {f"{prefix}.{name}.{part}": array for part, array in coded.items()}
