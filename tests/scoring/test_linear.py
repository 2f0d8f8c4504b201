"""Scores are linear in the weights, and `expand` is exactly the other way round."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.scoring import ArcScorer, Gradient, LabelScorer
from tests.toys import dense, dense_gradient, encode, everything, feature_matrix, toy_sentences

KINDS = {
    "arcs": {},
    "labels": {"outcomes": "label", "row_bits": 5, "width": 3},
    "edge clusters": {"outcomes": "edge", "row_bits": 6, "width": 4},
    "token clusters": {"outcomes": "token", "row_bits": 6, "width": 2},
}
TEMPLATES = ["rich", "mcdonald2005", "squeezed2005", "morphological"]


@pytest.fixture(params=KINDS)
def options(request):
    return KINDS[request.param]


@pytest.fixture
def sentences(rng):
    return toy_sentences(rng, [1, 2, 7, 25, 4])


def random_weights(rng, scorer):
    return rng.normal(size=scorer.size)


@pytest.mark.parametrize("templates", TEMPLATES)
def test_expanding_is_the_adjoint_of_scoring(rng, sentences, options, templates):
    settings, encoded = encode(sentences, templates)
    scorer = ArcScorer(settings, 10, **options)
    weights = random_weights(rng, scorer)
    scores = scorer.scores(weights, encoded, everything(encoded))
    possible = np.isfinite(scores)
    d = np.where(possible, rng.normal(size=len(scores)), 0.0)
    gradient = dense_gradient(scorer, encoded, d)
    assert gradient @ weights == pytest.approx(d[possible] @ scores[possible], rel=1e-10)


def test_scores_are_the_sum_over_features(rng, sentences, options):
    settings, encoded = encode(sentences[:3])
    scorer = ArcScorer(settings, 8, **options)
    weights = random_weights(rng, scorer)
    for i in range(3):
        scores = scorer.scores(weights, encoded, np.array([i]))
        slow = feature_matrix(scorer, encoded, i) @ weights
        possible = np.isfinite(scores)
        np.testing.assert_allclose(scores[possible], slow[possible], rtol=1e-10, atol=1e-10)


def test_only_arcs_are_scored(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = ArcScorer(settings, 8, **options)
    scores = scorer.scores(random_weights(rng, scorer), encoded, np.array([2]))
    table = scores.reshape(8, 8, -1)
    arc = np.ones((8, 8), dtype=bool)
    arc[:, 0] = False
    np.fill_diagonal(arc, False)
    assert np.isfinite(table[arc]).all()
    assert np.isneginf(table[~arc]).all()


def test_scores_are_additive_and_scale(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = ArcScorer(settings, 9, **options)
    one, two = random_weights(rng, scorer), random_weights(rng, scorer)

    def scores(weights, **how):
        answer = scorer.scores(weights, encoded, everything(encoded), **how)
        return answer[np.isfinite(answer)]

    np.testing.assert_allclose(scores(one + two), scores(one) + scores(two), atol=1e-10)
    np.testing.assert_allclose(scores(one, scale=0.3), 0.3 * scores(one), atol=1e-12)


def test_single_and_double_precision_agree(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = ArcScorer(settings, 10, **options)
    weights = random_weights(rng, scorer).astype(np.float32)
    single = scorer.scores(weights, encoded, everything(encoded))
    double = scorer.scores(weights.astype(np.float64), encoded, everything(encoded))
    # Weights are widened before they are added up.
    assert single.tobytes() == double.tobytes()


def test_sentences_do_not_depend_on_their_company(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = ArcScorer(settings, 10, **options)
    weights = random_weights(rng, scorer)
    order = np.array([3, 0, 2, 2])
    together = scorer.scores(weights, encoded, order)
    alone = [scorer.scores(weights, encoded, order[i : i + 1]) for i in range(len(order))]
    assert together.tobytes() == np.concatenate(alone).tobytes()


def test_threads_change_nothing(rng, options):
    settings, encoded = encode(toy_sentences(rng, [20] * 12))
    one = ArcScorer(settings, 12, **options)
    two = ArcScorer(settings, 12, threads=2, **options)
    weights, chosen = random_weights(rng, one), everything(encoded)
    scores = one.scores(weights, encoded, chosen)
    assert scores.tobytes() == two.scores(weights, encoded, chosen).tobytes()
    d = rng.normal(size=len(scores))
    gradients = [dense_gradient(scorer, encoded, d) for scorer in (one, two)]
    assert gradients[0].tobytes() == gradients[1].tobytes()
    products = [scorer.inner_products(encoded, chosen, d) for scorer in (one, two)]
    assert products[0].tobytes() == products[1].tobytes()


def test_inner_products(rng, sentences, options):
    settings, encoded = encode(sentences)
    scorer = ArcScorer(settings, 8, **options)
    chosen, count = np.array([2, 1]), 3
    sizes = [(int(encoded.n_words[i]) + 1) ** 2 * (scorer.n_labels or 1) for i in chosen]
    parts = [rng.normal(size=(count, size)) for size in sizes]
    products = scorer.inner_products(
        encoded, chosen, np.concatenate([part.reshape(-1) for part in parts]), count
    )
    for i, part, product in zip(chosen, parts, products, strict=True):
        vectors = [dense_gradient(scorer, encoded, row, np.array([i])) for row in part]
        np.testing.assert_allclose(product, np.inner(vectors, vectors), rtol=1e-10, atol=1e-8)


def test_clusters_of_words_do_not_know_the_head(rng, sentences):
    settings, encoded = encode(sentences)
    scorer = ArcScorer(settings, 8, **KINDS["token clusters"])
    weights = random_weights(rng, scorer)
    weights[: scorer.arc_weights] = 0.0
    table = scorer.scores(weights, encoded, np.array([2])).reshape(8, 8, -1)
    for word in range(1, 8):
        rows = np.delete(table[:, word], word, axis=0)
        np.testing.assert_array_equal(rows, np.broadcast_to(rows[0], rows.shape))
    assert len(np.unique(table[0, 1:, 0])) > 1


@pytest.mark.parametrize("n_words", [3, 30])
def test_distances_at_the_edges_of_their_bins(n_words):
    """Equal words in a row: arcs of one direction and bin score the same, others do not."""
    from arbora import Sentence  # of this test only

    words = Sentence.from_words(["x"] * n_words, ["NOUN"] * n_words)
    settings, encoded = encode([words], "mcdonald2005")
    scorer = ArcScorer(settings, 16)
    weights = np.random.default_rng(1).normal(size=scorer.size)
    side = n_words + 1
    table = scorer.scores(weights, encoded, np.array([0])).reshape(side, side)
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

    @pytest.mark.parametrize("missing", [0.0, 0.4])
    def test_adjoint(self, rng, missing):
        sentences = toy_sentences(rng, [1, 2, 9, 4], missing=missing)
        settings, encoded = encode(sentences)
        scorer = LabelScorer(settings, 7, 5)
        heads, weights = self.heads(sentences), rng.normal(size=scorer.size)
        scores = scorer.scores(weights, encoded, everything(encoded), heads)
        d, gradient = rng.normal(size=scores.shape), Gradient(scorer.size)
        scorer.expand(gradient, encoded, everything(encoded), heads, d)
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
        scores = [scorer.scores(weights, encoded, np.array([0]), heads) for heads in (one, other)]
        assert not np.allclose(scores[0][2], scores[1][2])
        np.testing.assert_array_equal(scores[0][0], scores[1][0])

    def test_threads_and_precision(self, rng):
        sentences = toy_sentences(rng, [20] * 40)
        settings, encoded = encode(sentences)
        scorers = [LabelScorer(settings, 10, 7, threads) for threads in (1, 2)]
        weights = rng.normal(size=scorers[0].size).astype(np.float32)
        heads, chosen = self.heads(sentences), everything(encoded)
        answers = [
            scorers[0].scores(weights, encoded, chosen, heads),
            scorers[1].scores(weights, encoded, chosen, heads),
            scorers[0].scores(weights.astype(np.float64), encoded, chosen, heads),
        ]
        assert len({answer.tobytes() for answer in answers}) == 1
        gradients = []
        for scorer in scorers:
            gradient = Gradient(scorer.size)
            scorer.expand(gradient, encoded, chosen, heads, answers[0])
            gradients.append(dense(gradient, scorer.size, scorer.threads).tobytes())
        assert gradients[0] == gradients[1]
