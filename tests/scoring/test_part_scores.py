"""Scores of second-order parts are linear in the weights, and `expand` is the other way round."""

from __future__ import annotations

import numpy as np
import pytest
from arbora.parsers.settings import PAIRS_OF_ORDER, PARTS_OF_ORDER

from arbora._core import learning
from arbora.scoring import ArcScorer, Gradient, PartScorer
from tests.toys import encode, everything, toy_sentences

ORDERS = {order: PARTS_OF_ORDER[order] for order in ("sibling", "grandparent", "grandsibling")}
ORDERS["pairs"] = PAIRS_OF_ORDER["grandsibling"]
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


def dense(scorer, encoded, sentences, d):
    gradient, answer = Gradient(scorer.size), np.zeros(scorer.size)
    scorer.expand(gradient, encoded, sentences, d)
    learning.add_gradient(gradient, answer, 1)
    return answer


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("templates", ["rich", "mcdonald2005", "morphological"])
def test_expanding_is_the_adjoint_of_scoring(rng, sentences, order, templates):
    settings, encoded = encode(sentences, templates)
    scorer = PartScorer(settings, BITS, ORDERS[order])
    weights, kept = rng.normal(size=scorer.size), random_mask(rng, encoded)
    parts = scorer.scores(weights, encoded, everything(encoded), kept)
    d = random_like(rng, parts)
    gradient = dense(scorer, encoded, everything(encoded), d)
    assert gradient @ weights == pytest.approx(inner(d, parts), rel=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_norms_are_those_of_each_sentence(rng, sentences, order):
    settings, encoded = encode(sentences)
    scorer = PartScorer(settings, BITS, ORDERS[order])
    kept = random_mask(rng, encoded)
    parts = scorer.scores(np.zeros(scorer.size), encoded, everything(encoded), kept)
    d = random_like(rng, parts)
    norms = scorer.norms(encoded, everything(encoded), d)
    for i in range(len(encoded)):
        alone = np.zeros(len(encoded))
        alone[i] = 1.0
        gradient = dense(scorer, encoded, everything(encoded), d.scaled(alone))
        assert norms[i] == pytest.approx(gradient @ gradient, rel=1e-9)


def test_arcs_score_as_in_first_order(rng, sentences):
    settings, encoded = encode(sentences)
    parts_scorer = PartScorer(settings, BITS, PARTS_OF_ORDER["sibling"])
    arc_scorer = ArcScorer(settings, BITS)
    weights, kept = rng.normal(size=parts_scorer.size), random_mask(rng, encoded)
    parts = parts_scorer.scores(weights, encoded, everything(encoded), kept)
    arcs = arc_scorer.scores(weights, encoded, everything(encoded))
    assert np.array_equal(parts.arcs, np.where(kept != 0, arcs, -np.inf))


def test_scores_do_not_depend_on_threads_and_scale(rng, sentences):
    settings, encoded = encode(sentences * 4)
    weights = rng.normal(size=1 << BITS)
    kept = random_mask(rng, encoded)
    answers = [
        PartScorer(settings, BITS, PARTS_OF_ORDER["grandsibling"], threads).scores(
            weights, encoded, everything(encoded), kept, scale
        )
        for threads, scale in ((1, 1.0), (2, 1.0), (2, 0.5))
    ]
    for one, two, half in zip(*(answer.arrays() for answer in answers), strict=True):
        assert np.array_equal(one, two)
        np.testing.assert_allclose(half, 0.5 * one)


def test_any_two_siblings_of_a_side_score_as_if_nothing_were_between_them(rng, sentences):
    settings, encoded = encode(sentences)
    weights, kept = rng.normal(size=1 << BITS), random_mask(rng, encoded)
    both = PartScorer(settings, BITS, ("consecutive_siblings", "siblings")).scores(
        weights, encoded, everything(encoded), kept
    )
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
