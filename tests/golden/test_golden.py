"""Model files of every format that was ever written load and parse for ever as they once did.

`format1.arbora` and its parse `format1.conllu` were made, on the treebank of that time, by

    fit = {"word_clusters": WordClusters(CLUSTERS), "licence": "Apache-2.0"}
    parser = arbora.Parser(bits=12, label_bits=8, passes=8, threads=1)
    parser.fit("examples/treebank/train.conllu", "examples/treebank/dev.conllu", **fit)
    parser.save("tests/golden/format1.arbora")
    sentences = list(arbora.read_conllu("examples/treebank/test.conllu"))[:30]
    arbora.write_conllu("tests/golden/format1.conllu", parser.parse(sentences))

They are never made again: a new format gets files of its own beside them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import arbora

HERE = Path(__file__).parent
CLUSTERS = (("the", "0010110", 1.0), ("of", "0110", 0.25), ("of", "1011010", 0.75))


@pytest.mark.parametrize("name", ["format1"])
def test_old_models_parse_as_they_did(name):
    parser = arbora.load(HERE / f"{name}.arbora")
    before = list(arbora.read_conllu(HERE / f"{name}.conllu"))
    after = parser.parse(before)
    assert len(after) == 30
    for old, new in zip(before, after, strict=True):
        assert new.heads.tolist() == old.heads.tolist()
        assert list(new.labels) == list(old.labels)


def test_what_the_first_format_holds():
    model = arbora.load(HERE / "format1.arbora").model
    assert (model.settings.bits, model.settings.label_bits, model.root) == (12, 8, "single")
    assert model.word_clusters.rows == CLUSTERS
    assert model.temperature == pytest.approx(0.887674959670593, abs=1e-12)
    assert model.card["licence"] == "Apache-2.0"
    assert model.card["trained_on"] == {"sentences": 400, "words": 4676}
