"""Scores of second-order parts are linear in the weights; the pullback is their adjoint."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.options import GrandparentOptions, GrandsiblingOptions, SiblingOptions
from arbora.scoring import LinearScorer
from tests.toys import batch_of, dense_gradient, encode, random_weights, scored, toy_sentences

ORDERS = {
    one.tag: one.automata for one in (SiblingOptions, GrandparentOptions, GrandsiblingOptions)
}
ORDERS["pairs"] = GrandsiblingOptions.pairs
ORDERS["head bigrams"] = (*SiblingOptions.automata, "head_bigrams")
BITS = 12


@pytest.fixture
def sentences(rng):
    return toy_sentences(rng, [1, 2, 7, 11, 4])


def random_mask(rng, encoded, share=0.6):
    """Some arcs, among them the chain from left to right."""
    pieces = []
    for n in encoded.n_words.tolist():
        kept = rng.random((n + 1, n + 1)) < share
        kept[np.arange(n), np.arange(1, n + 1)] = True
        kept[:, 0] = False
        np.fill_diagonal(kept, False)
        pieces.append(kept.astype(np.uint8).reshape(-1))
    return np.concatenate(pieces)


def random_like(rng, parts):
    """Random numbers for every arc that is kept and every part."""
    d = parts.zeros()
    kept = np.isfinite(parts.arcs)
    d.arcs[kept] = rng.normal(size=int(kept.sum()))
    for table in d.tables.values():
        table[:] = rng.normal(size=len(table))
    return d


def inner(d, parts):
    kept = np.isfinite(parts.arcs)
    return d.arcs[kept] @ parts.arcs[kept] + sum(
        d.tables[kind] @ parts.tables[kind] for kind in parts.kinds
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("templates", ["rich", "mcdonald2005", "morphological", "carreras2007"])
def test_the_pullback_is_the_adjoint_of_scoring(rng, sentences, order, templates):
    settings, encoded = encode(sentences, templates)
    scorer = LinearScorer(settings, BITS, kinds=ORDERS[order])
    weights, batch = random_weights(rng, scorer), batch_of(encoded, kept=random_mask(rng, encoded))
    parts = scored(scorer, weights, batch)
    d = random_like(rng, parts)
    gradient = dense_gradient(scorer, batch, d)
    assert gradient @ weights == pytest.approx(inner(d, parts), rel=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_norms_are_those_of_each_sentence(rng, sentences, order):
    settings, encoded = encode(sentences)
    scorer = LinearScorer(settings, BITS, kinds=ORDERS[order])
    batch = batch_of(encoded, kept=random_mask(rng, encoded))
    parts = scored(scorer, np.zeros(scorer.size), batch)
    d = random_like(rng, parts)
    norms = scorer.squared_norms(batch, d)
    for i in range(len(encoded)):
        alone = np.zeros(len(encoded))
        alone[i] = 1.0
        gradient = dense_gradient(scorer, batch, d.scaled(alone))
        assert norms[i] == pytest.approx(gradient @ gradient, rel=1e-9)


def test_arcs_score_as_in_first_order(rng, sentences):
    settings, encoded = encode(sentences)
    of_parts = LinearScorer(settings, BITS, kinds=ORDERS["sibling"])
    of_arcs = LinearScorer(settings, BITS)
    weights, kept = random_weights(rng, of_parts), random_mask(rng, encoded)
    parts = scored(of_parts, weights, batch_of(encoded, kept=kept))
    arcs = scored(of_arcs, weights, batch_of(encoded)).arcs
    assert np.array_equal(parts.arcs, np.where(kept != 0, arcs, -np.inf))


def test_scores_do_not_depend_on_threads_and_scale(rng, sentences):
    settings, encoded = encode(sentences * 4)
    weights = rng.normal(size=1 << BITS)
    batch = batch_of(encoded, kept=random_mask(rng, encoded))
    scorers = [
        LinearScorer(settings, BITS, kinds=ORDERS["grandsibling"], threads=threads)
        for threads in (1, 2, 2)
    ]
    answers = [
        scored(scorer, weights, batch, scale)
        for scorer, scale in zip(scorers, (1.0, 1.0, 0.5), strict=True)
    ]
    for one, two, half in zip(*(answer.arrays() for answer in answers), strict=True):
        assert np.array_equal(one, two)
        np.testing.assert_allclose(half, 0.5 * one)


def test_any_two_siblings_of_a_side_score_as_if_nothing_were_between_them(rng, sentences):
    settings, encoded = encode(sentences)
    weights, kept = rng.normal(size=1 << BITS), random_mask(rng, encoded)
    scorer = LinearScorer(settings, BITS, kinds=("consecutive_siblings", "siblings"))
    both = scored(scorer, weights, batch_of(encoded, kept=kept))
    compared = across = 0
    for i in range(len(encoded)):
        listed = both.columns("consecutive_siblings", i).tolist()
        found = both.piece("consecutive_siblings", i)
        consecutive = {tuple(row): score for row, score in zip(listed, found, strict=True)}
        pairs = zip(both.columns("siblings", i).tolist(), both.piece("siblings", i), strict=True)
        for (head, one, other), score in pairs:
            if (one < head) != (other < head):
                across += 1
                assert score != 0.0
                continue
            near, far = (one, other) if one > head else (other, one)
            assert score == consecutive[head, int(one > head), near, far]
            compared += 1
    assert compared > 50
    assert across > 50
