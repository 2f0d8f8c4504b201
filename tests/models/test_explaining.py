"""Contributions sum to scores, for every template set and kind of data."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import arbora
from arbora.data.treebank import read_treebank
from arbora.features import WordClusters
from arbora.models.variants import variant_text
from tests.small_parsers import arc_scores

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
SMALL = {"bits": 14, "label_bits": 6, "passes": 1, "threads": 1}
CLUSTERS = (
    ("the", "0010110", 1.0), ("of", "0110", 0.25), ("of", "1011010", 0.75), ("old", "1", 1.0),
)  # fmt: skip


@pytest.fixture(scope="module")
def sentences():
    return list(arbora.read_conllu(TREEBANK / "test.conllu"))


def trained(**options):
    given = {name: value for name, value in options.items() if name != "word_clusters"}
    clusters = WordClusters(CLUSTERS) if "word_clusters" in options else None
    return arbora.Parser(**(SMALL | given)).fit(TREEBANK / "dev.conllu", word_clusters=clusters)


@pytest.mark.parametrize(
    "options",
    [{}, {"features": "mcdonald2005"}, {"features": "squeezed2005"},
     {"features": "morphological"}, {"arc_filter": False},
     {"word_clusters": True}, {"learner": "perceptron"}, {"trees": "projective"},
     {"labels": "joint", "word_clusters": True}, {"clusters": 3, "cluster_bits": 10},
     {"clusters": 3, "cluster_bits": 10, "cluster_features": "beside"},
     {"clusters": 2, "cluster_of": "token", "cluster_bits": 10}],
    ids=str,
)  # fmt: skip
def test_contributions_sum_to_the_difference(sentences, options):
    parser = trained(**options)
    explained = 0
    for sentence in sentences[:6]:
        model = parser.model
        encoded = model.encoder.encode(read_treebank([sentence]))
        n = len(sentence)
        table = arc_scores(model, encoded, [0]).reshape(n + 1, n + 1, -1).copy()
        if model.root_labels is not None and options.get("labels") == "joint":
            table[0][:, ~model.root_labels] = -np.inf  # labels of the root are for its arcs alone
            table[1:, :, model.root_labels] = -np.inf
        scores = table.max(axis=2)
        for word in range(1, n + 1):
            heads = [h for h in range(n + 1) if h != word and np.isfinite(scores[h, word])]
            for head, against in pairwise(heads):
                answer = parser.explain(sentence, word, head, against)
                total = math.fsum(one.value for one in answer.contributions)
                assert total == pytest.approx(answer.difference, abs=1e-6)
                assert answer.difference == pytest.approx(
                    scores[head, word] - scores[against, word], abs=1e-9
                )
                explained += 1
    assert explained > 100


def test_what_is_explained_by_default(sentences):
    parser = trained(arc_filter=False)
    sentence = sentences[1]
    parsed = parser.parse([sentence])[0]
    answer = parser.explain(sentence, 4)
    assert answer.head == parsed.heads[3]
    rivals = [
        parser.explain(sentence, 4, answer.head, other).against_score
        for other in (0, 1, 2, 3, 5)
        if other not in (answer.head, 4)
    ]
    assert answer.against_score >= max(rivals)
    values = [abs(one.value) for one in answer.contributions]
    assert values == sorted(values, reverse=True)
    assert all(one.value != 0.0 for one in answer.contributions)
    assert {one.template for one in answer.contributions} >= {"hw", "hp mp"}
    of_words = [one for one in answer.contributions if one.template == "hw mw"]
    assert of_words[0].atoms[1] == sentence.forms[3]


def test_a_filtered_arc(sentences):
    parser = trained()
    with pytest.raises(arbora.ArgumentError, match="does not consider head 1 for word 4"):
        parser.explain(sentences[1], 4, 1)


def test_a_label_is_explained_with_its_arc(sentences):
    parser = trained(labels="joint", passes=3)
    parsed = parser.parse(sentences[:6])
    seen = set()
    for sentence, tree in zip(sentences, parsed, strict=False):
        for word in range(1, len(sentence) + 1):
            answer = parser.explain(sentence, word)
            assert (answer.head, answer.outcome) == (tree.heads[word - 1], tree.labels[word - 1])
            assert "label" in answer.explains
            spoken_for = {one.outcome for one in answer.contributions}
            assert "" in spoken_for
            assert spoken_for <= {"", answer.outcome, answer.against_outcome}
            seen |= {one.variant for one in answer.contributions if one.outcome}
    assert seen == {"left", "right", "root"}


def test_clusters_are_explained_by_the_best(sentences):
    parser = trained(clusters=3, cluster_bits=10)
    answer = parser.explain(sentences[0], 4)
    assert "cluster" in answer.explains
    assert {answer.outcome, answer.against_outcome} <= {"cluster 1", "cluster 2", "cluster 3"}
    assert answer.to_dict()["outcome"] == answer.outcome


def test_names_of_variants():
    assert variant_text(0) == ""
    assert variant_text(15) == "root"
    assert variant_text(1) == "left 1"
    assert variant_text(7) == "left 20+"
    assert variant_text(8) == "right 1"
    assert variant_text(14) == "right 20+"
