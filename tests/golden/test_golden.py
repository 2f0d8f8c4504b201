"""Model files of every released format load and give the same parses as before.

`format1.arbora` and its parse `format1.conllu` were made, on the treebank of that time, by

    fit = {"word_clusters": WordClusters(CLUSTERS), "licence": "Apache-2.0"}
    parser = arbora.Parser(bits=12, label_bits=8, passes=8, threads=1)
    parser.fit("examples/treebank/train.conllu", "examples/treebank/dev.conllu", **fit)
    parser.save("tests/golden/format1.arbora")
    sentences = list(arbora.read_conllu("examples/treebank/test.conllu"))[:30]
    arbora.write_conllu("tests/golden/format1.conllu", parser.parse(sentences))

`make_format2.py` made `format2.arbora` and `format2.conllu`. None of them is ever made again: a new
format gets files of its own beside them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import arbora
from arbora import Parser
from arbora.models.model_file import from_bytes, to_bytes
from tests.golden.make_format2 import CLUSTERS

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["format1", "format2"])
def test_old_models_parse_as_they_did(name):
    parser = arbora.load(HERE / f"{name}.arbora")
    sentences = list(arbora.read_conllu(HERE / f"{name}.conllu"))
    assert len(sentences) == 30
    parsed = b"".join(bytes(sentence) for sentence in parser.parse(sentences))
    assert parsed == (HERE / f"{name}.conllu").read_bytes()


@pytest.mark.parametrize("name", ["format1", "format2"])
def test_old_models_can_be_saved_again(name):
    """Saved again in the current format, they give the same trees and probabilities."""
    parser = arbora.load(HERE / f"{name}.arbora", threads=1)
    again = Parser.from_model(from_bytes(to_bytes(parser.model)), threads=1)
    assert again.options == parser.options
    sentences = list(arbora.read_conllu(HERE / f"{name}.conllu"))
    for one, other in zip(parser.parse(sentences), again.parse(sentences), strict=True):
        assert bytes(one) == bytes(other)
        assert one.log_prob == other.log_prob
        assert one.arc_probabilities.tobytes() == other.arc_probabilities.tobytes()


def test_hidden_clusters_mean_what_they_did():
    """Before the option existed, clusters had their features beside those of arcs.

    Then, squeezed features still had words together with tags. The model was made by
    Parser(clusters=2, features="squeezed2005", labels="none", bits=12, label_bits=10, passes=4,
    threads=1, arc_filter=False), on the treebank of that time.
    """
    parser = arbora.load(HERE / "clusters.arbora", threads=1)
    own = parser.options.keywords()
    assert (own["cluster_of"], own["cluster_features"]) == ("edge", "beside")
    assert own["cluster_bits"] == 10
    assert parser.model.encoder.settings.early_squeeze
    sentences = list(arbora.read_conllu(HERE / "clusters.conllu"))
    parsed = b"".join(bytes(sentence) for sentence in parser.parse(sentences))
    assert parsed == (HERE / "clusters.conllu").read_bytes()
    again = Parser.from_model(from_bytes(to_bytes(parser.model)), threads=1)
    assert again.options == parser.options
    assert [bytes(s) for s in again.parse(sentences)] == [bytes(s) for s in parser.parse(sentences)]
    further = Parser(passes=1).fit(sentences, start=parser)
    assert further.model.encoder.settings.early_squeeze


def test_what_the_first_format_holds():
    model = arbora.load(HERE / "format1.arbora").model
    assert (model.options.bits, model.options.label_bits, model.root) == (12, 8, "single")
    own = model.options.keywords()
    assert (own["order"], own["learner"], own["optimizer"]) == ("first", "loglinear", "adagrad")
    assert (own["regularization"], own["passes"], own["decode"]) == (10.0, 8, "mbr")
    assert model.encoder.clusters.rows == CLUSTERS
    assert model.temperature == pytest.approx(0.887674959670593, abs=1e-12)
    assert model.card["licence"] == "Apache-2.0"
    assert model.card["trained_on"] == {"sentences": 400, "words": 4676}


def test_what_the_second_format_holds():
    model = arbora.load(HERE / "format2.arbora").model
    own = model.options.keywords()
    assert (own["order"], own["learner"], own["inference"]) == ("grandsibling", "mira", "dual")
    assert (own["bits"], own["label_bits"], own["passes"]) == (12, 8, 4)
    assert model.scorer.kinds == ("consecutive_siblings", "grandparents", "grandsiblings")
    assert model.companion is not None
    assert (model.companion.engine.trees, model.companion.heads) == ("nonprojective", 10)
    assert len(model.companion.scorer.arc_filter) > 0
    assert model.encoder.clusters.rows == CLUSTERS
    assert model.labeller.scorer.n_labels == len(model.labels)
    assert model.card["licence"] == "Apache-2.0"
    assert model.card["trained_on"] == {"sentences": 400, "words": 4676}
