"""Hidden clusters of edges, from training to decoding, and their posteriors as features."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import arbora
from arbora import Parser
from arbora.data.treebank import read_treebank
from arbora.errors import ArgumentError, ModelError
from arbora.features import EdgeClusterFunction, register_edge_clusters
from arbora.fitting import learners
from arbora.models.hidden_clusters import HiddenClusters
from tests.small_parsers import arc_scores, sentences, trained

CLUSTERED = {"clusters": 3, "cluster_bits": 10, "labels": "none"}
UNLABELLED = {"bits": 12, "labels": "none", "passes": 2, "threads": 1}


def spread(parser):
    """How much the clusters of an edge differ: 0 if all are equally probable everywhere."""
    posteriors = [parser.cluster_posteriors(s) for s in sentences("test", 5)]
    return max(np.ptp(q, axis=2).max() for q in posteriors)


@pytest.mark.parametrize(
    "options",
    [{}, {"cluster_features": "beside"}, {"cluster_of": "token"}, {"trees": "projective"},
     {"optimizer": "lbfgs", "passes": 1}],
    ids=str,
)  # fmt: skip
def test_noise_tells_clusters_apart(options, monkeypatch):
    """Without noise, equal clusters have equal gradients and stay equal."""
    assert spread(trained(**CLUSTERED, **options)) > 0.05
    monkeypatch.setattr(learners, "_NOISE", 0.0)
    how = {"bits": 12, "passes": 1, **CLUSTERED, **options}
    equal = Parser(**how).fit(sentences("train", 20), sentences("dev", 5))
    assert equal.model.scorer.weights.any()
    assert spread(equal) < 1e-6


@pytest.mark.parametrize("options", [{}, {"cluster_features": "beside"}], ids=str)
def test_posteriors(options):
    parser = trained(**CLUSTERED, **options)
    for sentence in sentences("test", 3):
        block, side = read_treebank([sentence]), len(sentence) + 1
        table = arc_scores(parser.model, parser.model.encoder.encode(block), [0])
        table = table.reshape(side, side, 3)
        found = parser.cluster_posteriors(sentence)
        assert found.shape == (side, side, 3)
        for h in range(side):
            for m in range(side):
                if m == 0 or h == m:
                    assert (found[h, m] == 0.0).all()
                elif np.isfinite(table[h, m, 0]):
                    slow = np.exp(table[h, m]) / np.exp(table[h, m]).sum()
                    np.testing.assert_allclose(found[h, m], slow, rtol=1e-9)
                else:  # the filter drops the arc, but its posteriors exist
                    assert found[h, m].sum() == pytest.approx(1.0)
    with pytest.raises(ArgumentError, match=r"no hidden clusters: train it with clusters\.$"):
        trained().cluster_posteriors(sentences("test", 1)[0])


def test_token_clusters_change_the_trees(test_sentences):
    """With direction and distance, a word's cluster prefers some heads to others."""
    parser = trained(**CLUSTERED, cluster_of="token")
    for sentence in test_sentences[:3]:
        shares = parser.cluster_posteriors(sentence)
        column = np.delete(shares[:, 2], 2, axis=0)
        assert np.ptp(column, axis=0).max() > 1e-3


@lru_cache
def thousand():
    parser = Parser(
        clusters=1000, cluster_bits=6, features="squeezed2005", labels="none", passes=1, threads=1
    )
    return parser.fit(sentences("train", 16), sentences("dev", 3))


@pytest.mark.parametrize("decode", ["map", "mbr", "greedy", "greedy-posterior", "max-z"])
@pytest.mark.parametrize("how", [{}, {"kbest": 2}, {"samples": 2}], ids=str)
def test_a_thousand_squeezed_clusters(decode, how, test_sentences):
    parser = thousand()
    assert parser.model.scorer.size == 64_000
    parsed = parser.parse(test_sentences[:4], decode=decode, **how)
    assert all(np.isfinite(s.arc_probabilities).all() for s in parsed)


@pytest.fixture(scope="module")
def outside():
    return trained(**CLUSTERED)


@pytest.fixture(scope="module")
def parser(outside):
    return Parser(**UNLABELLED).fit(
        sentences("train", 60), sentences("dev", 20), edge_clusters=outside
    )


class TestEdgeClusters:
    """The posteriors of one model as features of another."""

    def test_they_are_learnt_from(self, parser):
        plain = Parser(**UNLABELLED).fit(sentences("train", 60), sentences("dev", 20))
        weights = parser.model.scorer.weights
        assert np.count_nonzero(weights[parser.model.scorer.row_weights]) > 100
        assert parser.history.passes[-1].loss < plain.history.passes[-1].loss
        assert parser.evaluate(sentences("test", 20)).uas > 50

    def test_files(self, parser, tmp_path, test_sentences):
        parser.save(tmp_path / "model")
        again = arbora.load(tmp_path / "model", threads=1)
        assert isinstance(again.model.encoder.edge_clusters, HiddenClusters)
        ours, theirs = parser.parse(test_sentences), again.parse(test_sentences)
        assert [bytes(s) for s in ours] == [bytes(s) for s in theirs]
        assert [s.log_prob for s in ours] == [s.log_prob for s in theirs]
        further = Parser(passes=1, threads=1).fit(sentences("train", 10), start=again)
        assert isinstance(further.model.encoder.edge_clusters, HiddenClusters)

    def test_from_a_file(self, outside, parser, tmp_path):
        outside.save(tmp_path / "outside")
        again = Parser(**UNLABELLED).fit(
            sentences("train", 60), sentences("dev", 20), edge_clusters=tmp_path / "outside"
        )
        assert again.model.scorer.weights.tobytes() == parser.model.scorer.weights.tobytes()

    @pytest.mark.parametrize("options", [{"learner": "mira"}, {"optimizer": "lbfgs"}], ids=str)
    def test_other_learners(self, outside, options):
        parser = Parser(**(UNLABELLED | {"passes": 1} | options)).fit(
            sentences("train", 15), sentences("dev", 5), edge_clusters=outside
        )
        assert parser.model.scorer.weights[parser.model.scorer.row_weights].any()

    def test_functions_cannot_be_saved(self, tmp_path):
        def one_cluster(sentence):
            return np.ones((len(sentence) + 1, len(sentence) + 1, 1))

        parser = Parser(**UNLABELLED).fit(
            sentences("train", 10), sentences("dev", 5),
            edge_clusters=EdgeClusterFunction(one_cluster, 1),
        )  # fmt: skip
        assert len(parser.parse(sentences("test", 2))) == 2
        with pytest.raises(ModelError, match=r"cannot hold these edge clusters: register a class"):
            parser.save(tmp_path / "model")

    def test_registered_clusters_are_saved(self, tmp_path, monkeypatch):
        monkeypatch.setattr("arbora.features.edge_clusters.EDGE_CLUSTERS", known := {})
        monkeypatch.setattr("arbora.models.stored.EDGE_CLUSTERS", known)

        @register_edge_clusters
        class Directions:
            """Two clusters: to the left and to the right."""

            kind, n_clusters = "directions", 2

            def shares(self, block, sentences):
                cells = [np.triu(np.ones((block.words(i) + 1,) * 2)) for i in sentences.tolist()]
                right = np.concatenate([one.reshape(-1) for one in cells])
                return np.stack([1.0 - right, right], axis=1)

            def state(self):
                return {"note": "none"}, {"weights": np.zeros(2)}

            @classmethod
            def from_state(cls, description, arrays):
                assert description["note"] == "none"
                assert arrays["weights"].dtype == np.float64
                return cls()

        parser = Parser(**UNLABELLED).fit(
            sentences("train", 10), sentences("dev", 5), edge_clusters=Directions()
        )
        parser.save(tmp_path / "model")
        again = arbora.load(tmp_path / "model")
        chosen = sentences("test", 4)
        assert [bytes(s) for s in again.parse(chosen)] == [bytes(s) for s in parser.parse(chosen)]
        known.clear()
        with pytest.raises(ModelError, match=r"edge clusters of unknown kind 'directions': import"):
            arbora.load(tmp_path / "model")

    @pytest.mark.parametrize(
        "options", [{"order": "sibling"}, {"clusters": 2}, {"labels": "joint"}], ids=str
    )
    def test_refusals(self, outside, options):
        with pytest.raises(ArgumentError, match=r"^edge clusters require order='first' without"):
            Parser(**options).fit(sentences("train", 5), edge_clusters=outside)

    def test_other_refusals(self, outside, parser):
        with pytest.raises(ArgumentError, match=r"edge_clusters cannot be combined with start"):
            Parser().fit(sentences("train", 5), start=parser, edge_clusters=outside)
        with pytest.raises(ArgumentError, match=r"has no hidden clusters: train it with clusters"):
            Parser().fit(sentences("train", 5), edge_clusters=trained())
