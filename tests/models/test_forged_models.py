"""Forged or damaged model files are refused in bounded memory."""

from __future__ import annotations

import gzip
import json
import os
import re
import threading
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import arbora
from arbora import ModelError, Parser
from arbora.features import WordClusters
from arbora.models import model_file, tensor_file
from arbora.models.model_file import from_bytes, to_bytes
from tests.models.test_model_file import description_of, refused, with_description
from tests.small_parsers import trained


@pytest.fixture(scope="module")
def data():
    return to_bytes(trained().model)


def header_of(data):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def with_header(header, rest):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + rest


def weights_of(model):
    return model.scorer.weights


def with_weights(model, **weights):
    """The model with other weights of its scorer or labeller."""
    return model.with_parameters({f"{name}.weights": values for name, values in weights.items()})


def test_a_file_without_a_checksum_of_its_layout_is_refused(data):
    assert "damaged" in refused(without_layout(data))


def without_layout(data):
    """The file without a checksum of the layout, as in early files of format 1."""
    header, _ = header_of(data)
    text, tensors = header["__metadata__"]["arbora"], load_tensors(data)
    del tensors["checksum"], tensors["layout"]
    tensors["checksum"] = model_file.checksum_of(text, tensors)
    return save_tensors(tensors, {"arbora": text})


def test_types_shapes_and_names_are_covered(data):
    assert weights_of(from_bytes(data)).tobytes() == weights_of(trained().model).tobytes()
    other = {"F32": "I32", "U32": "F32", "U16": "I16", "U8": "I8"}
    header, rest = header_of(data)
    for name in set(header) - {"__metadata__", "checksum", "layout"}:
        entry = header[name]
        shapes = [[1, *entry["shape"]], [*entry["shape"], 1]]
        for change in ({"dtype": other[entry["dtype"]]}, *({"shape": shape} for shape in shapes)):
            refused(with_header(header | {name: entry | change}, rest))
        renamed = {new if new != name else "x" + name: header[new] for new in header}
        refused(with_header(renamed, rest))


def test_a_file_of_another_layout_is_refused(data):
    """The checksum of the contents does not detect the change; that of the layout does."""
    text, tensors = header_of(data)[0]["__metadata__"]["arbora"], load_tensors(data)
    tensors["layout"] = np.zeros(32, np.uint8)
    del tensors["checksum"]
    tensors["checksum"] = model_file.checksum_of(text, tensors)
    assert "checksum is wrong" in refused(save_tensors(tensors, {"arbora": text}))


@pytest.mark.parametrize("depth", [60, 5_000, 2_000_000])
def test_deeply_nested_json(data, depth):
    deep = "[" * depth + "]" * depth
    header, rest = header_of(data)
    text = json.dumps(header | {"x": 0}).replace('"x": 0', f'"x": {deep}').encode()
    assert "nested more than 40 levels deep" in refused(
        len(text).to_bytes(8, "little") + text + rest
    )
    description = json.dumps(json.loads(header["__metadata__"]["arbora"]) | {"card": {"x": 0}})
    inner = description.replace('"x": 0', f'"x": {deep}')
    assert "nested more than 40 levels deep" in refused(resealed(data, inner))


def resealed(data, text):
    """The file with any text for its description, and checksums that fit."""
    tensors = load_tensors(data)
    del tensors["checksum"], tensors["layout"]
    tensors["layout"] = model_file.layout_of(tensors)
    tensors["checksum"] = model_file.checksum_of(text, tensors)
    return save_tensors(tensors, {"arbora": text})


@pytest.mark.parametrize(
    "text",
    ["[", "nonsense", '{"version": 1e999}', '{"version": "\\ud800"}', "1",
     '{"version": ' + "1" * 10_000 + "}"],
    ids=range(6),
)  # fmt: skip
def test_descriptions_that_are_none(data, text):
    refused(resealed(data, text))


def test_headers_have_a_limit(tmp_path, data):
    """The error depends only on the stated size: the header is not read."""
    path = tmp_path / "model"
    with path.open("wb") as file:
        file.write((900_000_000).to_bytes(8, "little") + b"{")
        file.truncate(900_000_100)  # which takes no room on the disk
    tracemalloc.start()
    with pytest.raises(ModelError, match=r"claims 900\.0 MB; a model's has at most 10 MB"):
        arbora.load(path)
    assert tracemalloc.get_traced_memory()[1] < 2e6
    tracemalloc.stop()
    refused((1 << 63).to_bytes(8, "little") + data[8:])


def test_packed_models_cannot_unpack_to_anything(tmp_path, data):
    """Files must agree with the size in their header, and weights hardly compress."""
    header = {"weights": {"dtype": "F32", "shape": [10**9], "data_offsets": [0, 4 * 10**9]}}
    path = tmp_path / "model.gz"
    path.write_bytes(gzip.compress(with_header(header, bytes(40_000_000)), 1))
    tracemalloc.start()
    with pytest.raises(ModelError, match=r"has 0\.2 MB and claims 4,000\.0 MB"):
        arbora.load(path)
    path.write_bytes(gzip.compress(data, 1) + gzip.compress(bytes(40_000_000), 1))
    tracemalloc.reset_peak()
    with pytest.raises(ModelError, match="damaged"):
        arbora.load(path)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
    path.write_bytes(gzip.compress(data))
    assert arbora.load(path).model.labels == trained().model.labels


@pytest.mark.skipif(os.name == "nt", reason="has no named pipes of this kind")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_models_from_a_pipe(tmp_path, data, pack):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(pack(data)))
    writer.start()
    assert arbora.load(path).model.labels == trained().model.labels
    writer.join()
    with pytest.raises(ModelError, match="not an Arbora model"):
        arbora.load("/dev/zero")


def test_unpacked_sizes_are_checked_before_reading(tmp_path, data):
    header, rest = header_of(data)
    name = next(name for name in header if name != "__metadata__")
    header[name] = header[name] | {"data_offsets": [0, 1 << 60]}
    path = tmp_path / "model"
    path.write_bytes(with_header(header, rest))
    with pytest.raises(ModelError, match="cut short"):
        arbora.load(path)


@pytest.mark.parametrize("bits", [1 << 62, 60, 15, 0, -1, 0.5, "many", None])
def test_forged_sizes(data, bits):
    """Sizes in the description of the scorer that do not agree with the options."""
    components = description_of(data)["components"]
    forged = components | {"scorer": components["scorer"] | {"bits": bits}}
    assert "does not fit" in refused(with_description(data, components=forged))


@pytest.fixture(scope="module")
def sparse():
    """A model with few non-zero weights, which are stored sparsely."""
    model = trained().model
    arcs = np.zeros_like(model.scorer.weights)
    labels = np.zeros_like(model.labeller.scorer.weights)
    arcs[[3, 5, 77]] = labels[[1, 2, 4]] = 1.5
    return to_bytes(with_weights(model, scorer=arcs, labeller=labels))


@pytest.mark.parametrize(
    "places", [[3, 5], [5, 3, 77], [3, 3, 77], [3, 5, 1 << 14], [3, 5, (1 << 32) - 1]]
)
def test_places_that_are_none(sparse, places):
    index = {"scorer.weights.index": np.array(places, dtype=np.uint32)}
    assert "damaged" in refused(with_description(sparse, index))


def test_models_larger_than_the_memory(sparse, monkeypatch):
    monkeypatch.setattr(tensor_file, "physical_memory", lambda: 10**9)
    labels = [f"x{i}" for i in range(100)]
    changes = {
        "labels": labels,
        "options": trained().model.options.keywords() | {"label_bits": 24},
    }
    text = refused(with_description(sparse, **changes))
    assert "an array needs 6.7 GB, and this machine has 1.0 GB" in text


@pytest.mark.parametrize("size", [3e38, 1e20, 2e9])
@pytest.mark.parametrize("name", ["scorer", "labeller"])
def test_weights_that_are_too_large(name, size):
    model = trained().model
    weights = (model.scorer if name == "scorer" else model.labeller.scorer).weights.copy()
    weights[7] = -size
    with pytest.raises(ModelError, match=rf"the weights of the model's {name} reach"):
        to_bytes(with_weights(model, **{name: weights}))
    key = f"{name}.weights"
    changed = without(to_bytes(model), key) | {key: weights}
    assert "the training has diverged." in refused(with_description(to_bytes(model), changed))


def without(data, name):
    return {key: ... for key in load_tensors(data) if key.startswith(f"{name}.")}


def test_large_weights_give_finite_answers(test_sentences):
    """With the largest accepted weights, probabilities are still valid."""
    model = trained().model
    weights = model.scorer.weights
    for scale in (1e3, 1e6, 9e8 / np.abs(weights).max()):
        scaled = with_weights(model, scorer=(weights * scale).astype(np.float32))
        large = replace(scaled, temperature=1.0)
        for parsed in Parser.from_model(from_bytes(to_bytes(large))).parse(test_sentences):
            assert np.isfinite(parsed.log_prob)
            assert ((parsed.arc_probabilities >= 0.0) & (parsed.arc_probabilities <= 1.0)).all()


def test_temperatures_count_as_well():
    with pytest.raises(ModelError, match="at temperature 1e-30"):
        to_bytes(replace(trained().model, temperature=1e-30))


def test_shares_of_clusters_are_shares():
    for share in (float("nan"), float("inf"), -1.0, 1e30):
        model = trained().model
        clusters = WordClusters([("the", "0", share)])
        model = replace(model, encoder=replace(model.encoder, clusters=clusters))
        with pytest.raises(ModelError, match="share of 'the'"):
            to_bytes(model)


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        ({"trained_on": {}}, "has no trained_on.words"),
        ({"trained_on": {"words": "many", "sentences": 3}}, "'many' as trained_on.words"),
        ({"trained_on": 5}, "5 as trained_on"),
        ({"dev": {"uas": 90.0}}, "has no dev.las"),
        ({"dev": {"uas": [], "las": 1.0, "rule": "x"}}, "dev.uas"),
        ({"files": {"train": 7}}, "7 as files.train"),
        ({"licence": ["MIT"]}, "licence"),
        ({"best_pass": 1}, "best_pass without passes"),
        ({"phases": [3]}, "3 as phases"),
        ({"phases": [{"passes": 3}]}, "has no phases.rate"),
        ({"phases": [{"passes": 3, "rate": "fast"}]}, "'fast' as phases.rate"),
        ({"multi_root_sentences": "few"}, "multi_root_sentences"),
        ({"pruning": {}}, "has no pruning.arcs_per_word"),
        ({"date": 20260101}, "date"),
    ],
    ids=str,
)
def test_odd_cards(data, card, reason):
    assert re.search(reason, refused(with_description(data, card=card)))


def test_cards_may_say_less_and_more(data):
    for card in ({}, {"dev": None, "licence": None}, {"remark": [1, {"a": None}]}):
        assert from_bytes(with_description(data, card=card)).card == card


def test_names_of_files_need_not_be_unicode(data):
    model = from_bytes(data).with_card(files={"train": "caf\udce9.conllu", "dev": None})
    assert from_bytes(to_bytes(model)).card["files"]["train"] == "caf?.conllu"
