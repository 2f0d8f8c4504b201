"""The model file: round trips, and errors for invalid files."""

from __future__ import annotations

import json
import pickle
import re
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import arbora
from arbora import ModelError, Parser
from arbora.features import WordClusters
from arbora.models import model_file
from arbora.models.model_file import from_bytes, to_bytes
from tests.small_parsers import sentences, trained

MODELS = {
    "default": {},
    "joint": {"labels": "joint"},
    "bare": {"labels": "none", "arc_filter": False},
    "clusters": {"clusters": 2, "cluster_bits": 9},
    "clusters beside": {"clusters": 2, "cluster_bits": 9, "cluster_features": "beside"},
    "token clusters": {"clusters": 2, "cluster_bits": 9, "cluster_of": "token"},
    "squeezed": {"features": "squeezed2005", "labels": "none"},
}


@pytest.fixture(params=MODELS)
def parser(request):
    return trained(**MODELS[request.param])


@pytest.fixture(scope="module")
def data():
    return to_bytes(trained().model)


def test_round_trip(parser, tmp_path, test_sentences):
    path = tmp_path / "model"
    parser.save(path)
    again = arbora.load(path)
    again.save(tmp_path / "again")
    assert path.read_bytes() == (tmp_path / "again").read_bytes()
    assert again.options == parser.model.options
    assert again.model.card == parser.model.card
    assert again.model.scorer.weights.dtype == np.float32
    ours, theirs = parser.parse(test_sentences), again.parse(test_sentences)
    assert [bytes(s) for s in ours] == [bytes(s) for s in theirs]
    assert [s.log_prob for s in ours] == [s.log_prob for s in theirs]


def test_word_clusters_go_with_the_model(test_sentences):
    clusters = WordClusters([("the", "0101", 0.5), ("the", "11", 0.5), ("ä\u2028b", "0", 1.0)])
    encoder = replace(trained().model.encoder, clusters=clusters)
    model = replace(trained().model, encoder=encoder)
    again = from_bytes(to_bytes(model))
    assert again.encoder.clusters.rows == clusters.rows
    texts = [[bytes(s) for s in Parser.from_model(m).parse(test_sentences)] for m in (model, again)]
    assert texts[0] == texts[1]


def test_zeros_are_stored_only_if_that_is_smaller():
    model = trained().model
    few = np.zeros_like(model.scorer.weights)
    many = np.arange(1, len(few) + 1, dtype=few.dtype)  # all different: codes would not be smaller
    few[[3, 77]] = 1.5
    sparse, dense = (
        to_bytes(model.with_parameters({"scorer.weights": weights})) for weights in (few, many)
    )
    assert len(sparse) + 4 * len(few) - 100 < len(dense)
    assert from_bytes(sparse).scorer.weights.tobytes() == few.tobytes()
    assert from_bytes(dense).scorer.weights.tobytes() == many.tobytes()


def test_pickling(parser, test_sentences):
    again = pickle.loads(pickle.dumps(parser))
    assert [bytes(s) for s in again.parse(test_sentences)] == [
        bytes(s) for s in parser.parse(test_sentences)
    ]
    unfitted = pickle.loads(pickle.dumps(Parser(learner="mira", threads=1)))
    assert unfitted.options.learner.tag == "mira"
    parsed = parser.parse(test_sentences[:1])[0]
    other = pickle.loads(pickle.dumps(parsed))
    assert (bytes(other), other.log_prob) == (bytes(parsed), parsed.log_prob)


def refused(data):
    with pytest.raises(ModelError) as caught:
        from_bytes(data)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def test_cut_short(data):
    header = 8 + int.from_bytes(data[:8], "little")
    places = [0, 1, 7, 8, 9, 100, header - 1, header, header + 1, len(data) // 2, len(data) - 1]
    for place in [*places, *range(0, len(data), max(1, len(data) // 40))]:
        reason = refused(data[:place])
        assert "cut short" in reason or "damaged" in reason, (place, reason)


def test_one_flipped_bit(data):
    rng = np.random.default_rng(0)
    header = 8 + int.from_bytes(data[:8], "little")
    in_header = rng.integers(0, header, 250)
    for place in [*range(8), *in_header, *rng.integers(header, len(data), 60)]:
        altered = bytearray(data)
        altered[place] ^= 1 << int(rng.integers(8))
        refused(bytes(altered))


def test_more_at_the_end(data):
    refused(data + b"\0")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty or cut short"),
        (pickle.dumps({"weights": list(range(100))}), "not an Arbora model"),
        (b"PK\x03\x04" + bytes(200), "not an Arbora model"),
        (b"1\tThe\t_\tDET\n" * 20, "not an Arbora model"),
        (save_tensors({"weights": np.zeros(3, np.float32)}), "not an Arbora model"),
        (save_tensors({"w": np.zeros(3, np.float32)}, {"format": "pt"}), "not an Arbora model"),
    ],
    ids=["empty", "pickle", "zip", "text", "safetensors", "foreign"],
)
def test_foreign_files(tmp_path, content, reason):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=reason) as caught:
        arbora.load(path)
    assert str(path) in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ModelError, match="cannot be read: no such file or directory"):
        arbora.load(tmp_path / "nothing")
    with pytest.raises(ModelError, match=r"[Ii]s a directory"):
        arbora.load(tmp_path)


def description_of(data):
    """Everything in the file except the arrays."""
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["arbora"])


def with_description(data, tensors=None, **changes):
    """The file with another description or other tensors, and a matching checksum."""
    description = description_of(data) | changes
    for name in [name for name, value in changes.items() if value is ...]:
        del description[name]
    text, tensors = json.dumps(description), load_tensors(data) | (tensors or {})
    tensors = {name: values for name, values in tensors.items() if values is not ...}
    del tensors["checksum"], tensors["layout"]
    tensors["layout"] = model_file.layout_of(tensors)
    tensors["checksum"] = model_file.checksum_of(text, tensors)
    return save_tensors(tensors, {"arbora": text})


def test_the_helper_changes_nothing_by_itself(data):
    assert from_bytes(with_description(data)).labels == from_bytes(data).labels


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 99}, "format 99 and this Arbora reads up to"),
        ({"version": "x"}, "incomplete"),
        ({"labels": ...}, "incomplete"),
        ({"options": {"learner": "oracle"}}, "options are not known here"),
        ({"options": {"colour": "blue"}}, "options are not known here"),
        ({"components": 5}, "incomplete"),
        ({"components": {}}, "incomplete"),
        ({"labels": ["only"]}, "does not fit"),
        ({"root": "many"}, "root"),
        ({"decode_trees": "planar"}, "decode_trees"),
        ({"temperature": 0}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
    ],
    ids=str,
)
def test_descriptions_that_do_not_fit(data, changes, reason):
    assert re.search(reason, refused(with_description(data, **changes)))


@pytest.mark.parametrize(
    ("kind", "fill", "reason"),
    [
        ("f4", np.nan, "not all finite"),
        ("f4", np.inf, "not all finite"),
        ("f8", 0.0, "1-dimensional float64"),
        ("i4", 0, "1-dimensional int32"),
    ],
)
@pytest.mark.parametrize("component", ["scorer", "labeller", "pruner"])
def test_weights_that_are_none(component, kind, fill, reason):
    model = trained(order="sibling").model
    owner = getattr(model, component)
    size = owner.size if component == "scorer" else owner.scorer.size
    weights = {f"{component}.weights": np.full(size, fill, kind)}
    assert re.search(reason, refused(with_description(to_bytes(model), weights)))


@pytest.mark.parametrize(
    ("component", "changes", "reason"),
    [
        ("scorer", {"kind": "oracle"}, "unknown kind 'oracle'"),
        ("scorer", {"kind": ["linear"]}, "incomplete"),
        ("scorer", {"bits": 15}, "scorer does not fit its options"),
        ("scorer", {"kinds": ["grandparents"]}, "scorer does not fit its options"),
        ("scorer", None, "incomplete"),
        ("pruner", {"bits": 15}, "pruner does not fit its options"),
        ("pruner", {"trees": "planar"}, "trees"),
        ("pruner", None, "does not fit its order"),
        ("encoder", {"lemma": "yes"}, "incomplete"),
        ("encoder", {"colour": True}, "incomplete"),
        ("encoder", {"templates": "most"}, "incomplete"),
        ("encoder", None, "incomplete"),
    ],
    ids=str,
)
def test_components_that_do_not_fit(component, changes, reason):
    data = to_bytes(trained(order="sibling").model)
    components = description_of(data)["components"]
    assert components.keys() == {"encoder", "scorer", "pruner"}
    if changes is None:
        del components[component]
    else:
        components[component] |= changes
    assert re.search(reason, refused(with_description(data, components=components)))


def test_a_pruner_where_none_belongs(data):
    components = description_of(data)["components"]
    pruner = description_of(to_bytes(trained(order="sibling").model))["components"]["pruner"]
    more = with_description(data, components=components | {"pruner": pruner})
    assert "pruner does not fit its order" in refused(more)


def test_labels_and_cards_that_are_none(data):
    numbers = list(range(len(from_bytes(data).labels)))
    assert "labels are not all strings" in refused(with_description(data, labels=numbers))
    assert "card is not a table" in refused(with_description(data, card=[]))
    flat = {"scorer.arc_filter": np.zeros((4, 2), np.uint16)}
    assert "arc_filter have the wrong type, 2-dimensional" in refused(with_description(data, flat))


@pytest.mark.parametrize("bad", ["", " ", "obj ", " obj", "o\tbj", "o\rbj", "obj\n", "twice"])
def test_labels_that_could_not_be_written(data, bad):
    names = list(from_bytes(data).labels)
    names[1] = names[0] if bad == "twice" else bad
    reason = "duplicate labels" if bad == "twice" else "invalid label .*: train it"
    assert re.search(reason, refused(with_description(data, labels=names)))


def test_a_kill_while_saving_leaves_the_old_file(tmp_path):
    path = tmp_path / "model"
    trained().save(path)
    before = path.read_bytes()
    program = f"""
import os, signal, arbora
from arbora.data import output
parser = arbora.load({str(path)!r})
real = output._Checked.__call__
def half(self, data):
    real(self, data[: len(data) // 2])
    self._stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
output._Checked.__call__ = half
parser.save({str(path)!r})
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert path.read_bytes() == before


def test_an_error_while_saving_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    trained().save(path)
    before = path.read_bytes()

    def broken(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(model_file, "to_bytes", broken)
    with pytest.raises(RuntimeError):
        trained().save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_the_card_has_the_licences_of_all_data():
    train, some = sentences("train", 10), {"bits": 8, "label_bits": 4, "passes": 1}
    assert Parser(**some).fit(train).model.card["licence"] is None
    first = Parser(**some).fit(train, licence="CC BY 4.0")
    assert from_bytes(to_bytes(first.model)).card["licence"] == "CC BY 4.0"
    for licence, together in (
        (None, "CC BY 4.0"), ("CC BY 4.0", "CC BY 4.0"), ("MIT", "CC BY 4.0; MIT")
    ):  # fmt: skip
        more = Parser(**some).fit(train, start=first, licence=licence)
        assert more.model.card["licence"] == together


def test_the_card_says_where_the_model_is_from():
    card = trained().model.card
    assert card["trained_on"]["sentences"] == 60
    assert card["trained_on"]["words"] == sum(len(s.forms) for s in sentences("train", 60))
    assert card["dev"]["uas"] == trained().history.passes[card["best_pass"] - 1].uas
    assert card["root"] == trained().model.root


def test_a_packed_model_is_read(tmp_path):
    parser = Parser(bits=12, label_bits=6, passes=1).fit(sentences("train", 10))
    parser.save(tmp_path / "model.gz")
    assert to_bytes(arbora.load(tmp_path / "model.gz").model) == to_bytes(parser.model)
    whole = (tmp_path / "model.gz").read_bytes()
    (tmp_path / "model.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="cut short or damaged"):
        arbora.load(tmp_path / "model.gz")
