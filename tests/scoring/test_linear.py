"""Scores are linear in the weights, and the pullback is exactly the other way round."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import Sentence
from arbora.scoring import LabelScorer, LinearScorer
from tests.toys import (
    batch_of,
    dense,
    dense_gradient,
    encode,
    everything,
    feature_matrix,
    random_weights,
    scored,
    toy_sentences,
)

EVERY = {"cluster_features": "all"}
KINDS = {
    "arcs": {},
    "labels": {"outcomes": "label", "row_bits": 5, "width": 3},
    "edge clusters": {"outcomes": "edge", "row_bits": 6, "width": 4},
    "token clusters": {"outcomes": "token", "row_bits": 6, "width": 2},
    "edge clusters of all": EVERY | {"outcomes": "edge", "row_bits": 6, "width": 5},
    "token clusters of all": EVERY | {"outcomes": "token", "row_bits": 5, "width": 2},
    "known clusters": {"outcomes": "soft", "row_bits": 5, "width": 2},
}
TEMPLATES = ["rich", "mcdonald2005", "squeezed2005", "morphological", "carreras2007", "basic2005"]


@pytest.fixture(params=KINDS)
def options(request):
    return KINDS[request.param]


@pytest.fixture
def sentences(rng):
    return toy_sentences(rng, [1, 2, 7, 25, 4])


@pytest.mark.parametrize("templates", TEMPLATES)
def test_the_pullback_is_the_adjoint_of_scoring(rng, sentences, options, templates):
    settings, encoded = encode(sentences, templates)
    scorer = LinearScorer(settings, 10, **options)
    weights = random_weights(rng, scorer)
    batch = batch_of(encoded)
    scores = scored(scorer, weights, batch).arcs
    possible = np.isfinite(scores)
    d = np.where(possible, rng.normal(size=len(scores)), 0.0)
    gradient = dense_gradient(scorer, batch, d)
    assert gradient @ weights == pytest.approx(d[possible] @ scores[possible], rel=1e-10)


def test_scores_are_the_sum_over_features(rng, sentences, options):
    settings, encoded = encode(sentences[:3])
    scorer = LinearScorer(settings, 8, **options)
    weights = random_weights(rng, scorer)
    for i in range(3):
        scores = scored(scorer, weights, batch_of(encoded, np.array([i]))).arcs
        slow = feature_matrix(scorer, encoded, i) @ weights
        possible = np.isfinite(scores)
        np.testing.assert_allclose(scores[possible], slow[possible], rtol=1e-10, atol=1e-10)


def test_only_arcs_are_scored(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = LinearScorer(settings, 8, **options)
    scores = scored(scorer, random_weights(rng, scorer), batch_of(encoded, np.array([2])))
    table = scores.arcs.reshape(8, 8, -1)
    arc = np.ones((8, 8), dtype=bool)
    arc[:, 0] = False
    np.fill_diagonal(arc, False)
    assert np.isfinite(table[arc]).all()
    assert np.isneginf(table[~arc]).all()


def test_scores_are_additive_and_scale(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = LinearScorer(settings, 9, **options)
    one, two = random_weights(rng, scorer), random_weights(rng, scorer)

    def scores(weights, **how):
        answer = scored(scorer, weights, batch_of(encoded), **how).arcs
        return answer[np.isfinite(answer)]

    np.testing.assert_allclose(scores(one + two), scores(one) + scores(two), atol=1e-10)
    np.testing.assert_allclose(scores(one, scale=0.3), 0.3 * scores(one), atol=1e-12)


def test_single_and_double_precision_agree(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = LinearScorer(settings, 10, **options)
    weights = random_weights(rng, scorer).astype(np.float32)
    single = scored(scorer, weights, batch_of(encoded)).arcs
    double = scored(scorer, weights.astype(np.float64), batch_of(encoded)).arcs
    # Weights are widened before they are added up.
    assert single.tobytes() == double.tobytes()


def test_sentences_do_not_depend_on_their_company(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = LinearScorer(settings, 10, **options)
    weights = random_weights(rng, scorer)
    order = np.array([3, 0, 2, 2])
    together = scored(scorer, weights, batch_of(encoded, order)).arcs
    alone = [
        scored(scorer, weights, batch_of(encoded, order[i : i + 1])).arcs for i in range(len(order))
    ]
    assert together.tobytes() == np.concatenate(alone).tobytes()


def test_threads_change_nothing(rng, options):
    settings, encoded = encode(toy_sentences(rng, [20] * 12))
    one = LinearScorer(settings, 12, **options)
    two = LinearScorer(settings, 12, threads=2, **options)
    weights, batch = random_weights(rng, one), batch_of(encoded)
    scores = scored(one, weights, batch).arcs
    assert scores.tobytes() == scored(two, weights, batch).arcs.tobytes()
    d = rng.normal(size=len(scores))
    gradients = [dense_gradient(scorer, batch, d) for scorer in (one, two)]
    assert gradients[0].tobytes() == gradients[1].tobytes()
    products = [scorer.inner_products(batch, d) for scorer in (one, two)]
    assert products[0].tobytes() == products[1].tobytes()


def test_inner_products(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = LinearScorer(settings, 8, **options)
    chosen, count = np.array([2, 1]), 3
    sizes = [(int(encoded.n_words[i]) + 1) ** 2 * (scorer.n_labels or 1) for i in chosen]
    parts = [rng.normal(size=(count, size)) for size in sizes]
    products = scorer.inner_products(
        batch_of(encoded, chosen), np.concatenate([part.reshape(-1) for part in parts]), count
    )
    for i, part, product in zip(chosen, parts, products, strict=True):
        one = batch_of(encoded, np.array([i]))
        vectors = [dense_gradient(scorer, one, row) for row in part]
        np.testing.assert_allclose(product, np.inner(vectors, vectors), rtol=1e-10, atol=1e-8)


def test_clusters_of_words_do_not_know_the_head(rng, sentences):
    settings, encoded = encode(sentences)
    scorer = LinearScorer(settings, 8, **KINDS["token clusters"])
    weights = random_weights(rng, scorer)
    weights[: 1 << scorer.bits] = 0.0
    table = scored(scorer, weights, batch_of(encoded, np.array([2]))).arcs_of(0)
    for word in range(1, 8):
        rows = np.delete(table[:, word], word, axis=0)
        np.testing.assert_array_equal(rows, np.broadcast_to(rows[0], rows.shape))
    assert len(np.unique(table[0, 1:, 0])) > 1


@pytest.mark.parametrize("templates", TEMPLATES)
@pytest.mark.parametrize("width", [3, 1000])
def test_every_feature_has_every_cluster(rng, sentences, templates, width):
    """theta . f(x, i, j, z) for each z is a plain model's score with that cluster's weights.

    (Smith & Smith 2007, Eq. 18.) Nothing is left beside the clusters.
    """
    settings, encoded = encode(sentences[:3], templates)
    scorer = LinearScorer(settings, 22, outcomes="edge", row_bits=7, width=width, **EVERY)
    assert scorer.size == width << 7
    weights = random_weights(rng, scorer)
    table = scored(scorer, weights, batch_of(encoded)).arcs.reshape(-1, width)
    plain = LinearScorer(settings, 7)
    for z in range(0, width, 1 + width // 5):
        slow = scored(plain, weights.reshape(-1, width)[:, z].copy(), batch_of(encoded)).arcs
        np.testing.assert_allclose(table[:, z], slow, rtol=1e-11, atol=1e-11)


def test_thousand_clusters(rng, sentences):
    """Gradients of wide rows are those of the plain model, cluster by cluster."""
    settings, encoded = encode(sentences[:3], "squeezed2005")
    scorer = LinearScorer(settings, 22, outcomes="edge", row_bits=7, width=1000, **EVERY)
    plain, batch = LinearScorer(settings, 7), batch_of(encoded)
    possible = np.isfinite(scored(plain, np.zeros(plain.size), batch).arcs)
    d = np.where(possible[:, None], rng.normal(size=(len(possible), 1000)), 0.0)
    d[:, 3:5] = 0.0
    gradient = dense_gradient(scorer, batch, d.reshape(-1)).reshape(-1, 1000)
    for z in (0, 3, 517, 999):
        slow = dense_gradient(plain, batch, d[:, z].copy())
        np.testing.assert_allclose(gradient[:, z], slow, rtol=1e-10, atol=1e-10)


def test_too_many_weights_for_their_numbers_are_refused(sentences):
    """Slots are 32 bits wide."""
    settings, _ = encode(sentences[:1])
    for bits, width in ((24, 256), (22, 1024)):
        with pytest.raises(ValueError, match="the number of weights does not fit"):
            LinearScorer(settings, 22, outcomes="edge", row_bits=bits, width=width, **EVERY)


@pytest.mark.parametrize("n_words", [3, 30])
def test_distances_at_the_edges_of_their_bins(n_words):
    """Equal words in a row: arcs of one direction and bin score the same, others do not."""
    words = Sentence.from_words(["x"] * n_words, ["NOUN"] * n_words)
    settings, encoded = encode([words], "mcdonald2005")
    scorer = LinearScorer(settings, 16)
    weights = np.random.default_rng(1).normal(size=scorer.size)
    table = scored(scorer, weights, batch_of(encoded)).arcs_of(0)
    assert np.isfinite(table[0, 1:]).all()
    if n_words < 30:
        return
    middle = {d: table[3, 3 + d] for d in range(2, 25)}  # neighbours of both ends are inside
    bins = [[2], [3], [4, 5], [6, 7, 8, 9], range(10, 20), range(20, 25)]
    values = []
    for distances in bins:
        scores = [middle[d] for d in distances]
        np.testing.assert_allclose(scores, scores[0], atol=1e-9)
        values.append(scores[0])
    assert len(np.unique(np.round(values, 6))) == len(bins)
    left = {d: table[27, 27 - d] for d in (2, 3, 5, 9, 19, 20)}
    for d, score in left.items():
        assert abs(score - middle[d]) > 1e-6


class TestLabels:
    """Labels of given trees."""

    def heads(self, sentences):
        return np.concatenate([sentence.heads for sentence in sentences])

    def scored(self, scorer, weights, *of_what):
        return scorer.with_parameters({"weights": weights}).scores(*of_what)

    @pytest.mark.parametrize("missing", [0.0, 0.4])
    def test_adjoint(self, rng, missing):
        sentences = toy_sentences(rng, [1, 2, 9, 4], missing=missing)
        settings, encoded = encode(sentences)
        scorer = LabelScorer(settings, 7, 5)
        heads, weights = self.heads(sentences), random_weights(rng, scorer)
        scores = self.scored(scorer, weights, encoded, everything(encoded), heads)
        d = rng.normal(size=scores.shape)
        gradient = scorer.pullback(encoded, everything(encoded), heads, d)
        assert dense(gradient, scorer.size) @ weights == pytest.approx(
            (d * scores).sum(), rel=1e-10
        )
        assert (scores[heads < 0] == 0.0).all()

    def test_the_tree_around_an_arc_matters(self, rng):
        sentences = toy_sentences(rng, [5])
        settings, encoded = encode(sentences)
        scorer = LabelScorer(settings, 12, 2)
        weights = rng.normal(size=scorer.size)
        one = np.array([2, 0, 2, 3, 3], dtype=np.int32)
        other = np.array([2, 0, 2, 3, 4], dtype=np.int32)  # another grandchild of word 2
        scores = [
            self.scored(scorer, weights, encoded, np.array([0]), heads) for heads in (one, other)
        ]
        assert not np.allclose(scores[0][2], scores[1][2])
        np.testing.assert_array_equal(scores[0][0], scores[1][0])

    def test_threads_and_precision(self, rng):
        sentences = toy_sentences(rng, [20] * 40)
        settings, encoded = encode(sentences)
        scorers = [LabelScorer(settings, 10, 7, threads) for threads in (1, 2)]
        weights = rng.normal(size=scorers[0].size).astype(np.float32)
        heads, chosen = self.heads(sentences), everything(encoded)
        answers = [
            self.scored(scorers[0], weights, encoded, chosen, heads),
            self.scored(scorers[1], weights, encoded, chosen, heads),
            self.scored(scorers[0], weights.astype(np.float64), encoded, chosen, heads),
        ]
        assert len({answer.tobytes() for answer in answers}) == 1
        gradients = []
        for scorer in scorers:
            gradient = scorer.pullback(encoded, chosen, heads, answers[0])
            gradients.append(dense(gradient, scorer.size, scorer.threads).tobytes())
        assert gradients[0] == gradients[1]
