"""Clusters of edges from outside as features (Smith & Smith 2007, section 5.1)."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.data.treebank import read_treebank
from arbora.errors import ArgumentError
from arbora.features import EdgeClusterFunction
from arbora.scoring import LinearScorer, SoftClusterScorer
from arbora.testing import finite_difference
from tests.toys import batch_of, dense_gradient, encode, random_weights, scored, toy_sentences

N_CLUSTERS = 3


def shares_of(sentence):
    """Some shares that depend on words and places."""
    side = len(sentence) + 1
    seed = sum(map(len, sentence.forms)) + 100 * side
    weights = np.random.default_rng(seed).random((side, side, N_CLUSTERS))
    weights[:, 0] = np.nan  # never read
    return weights / weights.sum(axis=2, keepdims=True)


CLUSTERS = EdgeClusterFunction(shares_of, N_CLUSTERS)


@pytest.fixture
def sentences(rng):
    return toy_sentences(rng, [1, 3, 6, 2])


@pytest.fixture(params=["rich", "mcdonald2005"])
def case(request, sentences):
    settings, encoded = encode(sentences, request.param)
    return SoftClusterScorer(settings, 6, CLUSTERS, row_bits=4), encoded


def test_scores_are_arcs_plus_expected_features(rng, case, sentences):
    """score(h, m) = arcs(h, m) + sum over z of q(z | h, m) times w_z . f(h, m)."""
    scorer, encoded = case
    weights = random_weights(rng, scorer)
    arcs = LinearScorer(scorer.settings, scorer.bits)
    rows = weights[scorer.row_weights].reshape(-1, N_CLUSTERS)
    for i, sentence in enumerate(sentences):
        one = batch_of(encoded, np.array([i]))
        got = scored(scorer, weights, one).arcs_of(0)
        plain = scored(arcs, weights[: 1 << scorer.bits].copy(), one).arcs_of(0)
        expected, n = plain.copy(), len(sentence)
        for z in range(N_CLUSTERS):  # the table of cluster z alone, as one "cluster"
            alone = LinearScorer(scorer.settings, 6, outcomes="soft", row_bits=4, width=1)
            column = np.concatenate([np.zeros(64), rows[:, z]])
            of_z = scored(alone, column, one).arcs.reshape(n + 1, n + 1)
            with np.errstate(invalid="ignore"):
                expected += np.where(np.isfinite(plain), shares_of(sentence)[:, :, z] * of_z, 0.0)
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)


def test_gradient_by_finite_differences(rng, case):
    scorer, encoded = case
    batch = batch_of(encoded, np.array([1, 3]))
    scorer.weights = random_weights(rng, scorer, 0.3)
    scores, _ = scorer.scores(batch)
    possible = np.isfinite(scores.arcs)
    d = np.where(possible, rng.normal(size=len(scores.arcs)), 0.0)

    def total(weights):
        return float(d[possible] @ scored(scorer, weights, batch).arcs[possible])

    slow = finite_difference(total, scorer.weights)
    np.testing.assert_allclose(dense_gradient(scorer, batch, d), slow, atol=1e-6)


def test_inner_products(rng, case):
    scorer, encoded = case
    chosen, count = np.array([2, 1]), 2
    sizes = [(int(encoded.n_words[i]) + 1) ** 2 for i in chosen]
    parts = [rng.normal(size=(count, size)) for size in sizes]
    for part, size in zip(parts, sizes, strict=True):
        table = part.reshape(count, int(np.sqrt(size)), -1)
        table[:, :, 0] = 0.0
        table[:, np.arange(table.shape[1]), np.arange(table.shape[1])] = 0.0
    flat = np.concatenate([part.reshape(-1) for part in parts])
    products = scorer.inner_products(batch_of(encoded, chosen), flat, count)
    for i, part, product in zip(chosen, parts, products, strict=True):
        one = batch_of(encoded, np.array([i]))
        vectors = [dense_gradient(scorer, one, row) for row in part]
        np.testing.assert_allclose(product, np.inner(vectors, vectors), rtol=1e-10, atol=1e-8)


def test_explanations_sum_to_the_score(rng, case, sentences):
    scorer, _ = case
    block = read_treebank([sentences[2]])
    scorer.weights = random_weights(rng, scorer)
    _, encoded = encode([sentences[2]], settings=scorer.settings)
    table = scorer.scores(batch_of(encoded))[0].arcs_of(0)
    for head, modifier in ((0, 1), (3, 2), (1, 6)):
        features = scorer.explain_arc(block, None, head, modifier)
        assert sum(value for *_, value in features) == pytest.approx(table[head, modifier])
        assert any("cluster 2" in atoms for _, atoms, *_ in features)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda s: np.full((len(s) + 1, len(s) + 1, 3), 0.5), "sum to 1, not 1.5: check the edge"),
        (lambda s: np.full((len(s) + 1, len(s) + 1, 3), np.nan), "sum to 1, not nan"),
        (lambda s: shares_of(s) * [-1.0, 1.0, 1.0], "at least 0 and sum to 1"),
        (lambda s: np.ones((len(s), len(s), 3)), r"must have the shape \(2, 2, 3\), not \(1, 1"),
    ],
)  # fmt: skip
def test_wrong_shares(sentences, function, problem):
    settings, encoded = encode(sentences[:1])
    scorer = SoftClusterScorer(settings, 6, EdgeClusterFunction(function, 3), row_bits=4)
    scorer.weights = np.zeros(scorer.size)
    with pytest.raises(ArgumentError, match=problem + r".*\.$"):
        scorer.scores(batch_of(encoded))
