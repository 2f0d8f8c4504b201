"""Scores of many sentences: where things are, sums and multiples, and the way back to one."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.inference.tree_parts import tree_parts
from arbora.scores import KINDS, Layout, Scores
from arbora.testing import enumerate_trees, random_parts, score_parts_slowly

LENGTHS = (3, 1, 4)


@pytest.fixture
def sentences(rng):
    return [random_parts(rng, n, KINDS, forbidden=0.2) for n in LENGTHS]


@pytest.fixture
def scores(sentences):
    return Scores.joined(sentences)


def arrays(scores):
    return [scores.arcs, *(scores.tables[kind] for kind in scores.kinds)]


def listed(parts, kind):
    rows, values = getattr(parts, kind)
    return dict(zip(map(tuple, rows.tolist()), values.tolist(), strict=True))


@pytest.mark.parametrize("threads", [1, 2])
def test_over_allowed_arcs(sentences, threads):
    """All parts score 0, and no part has a forbidden arc."""
    arcs = np.concatenate([parts.arcs.reshape(-1) for parts in sentences])
    scores = Scores.over(arcs, np.array(LENGTHS), KINDS, threads)
    assert np.array_equal(scores.arcs, arcs)
    assert scores.kinds == KINDS
    assert len(scores) == 3
    for table in scores.tables.values():
        assert not table.any()
    for i, parts in enumerate(sentences):
        for grandparent, head, modifier in scores.columns("grandparents", i).tolist():
            assert parts.arcs[head, modifier] > -np.inf
            assert grandparent < 0 or parts.arcs[grandparent, head] > -np.inf


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_go_in_and_come_out(scores, sentences, kind):
    """Joined, and taken apart again: the same arcs, and all parts with the scores that they had."""
    for i, parts in enumerate(sentences):
        again = scores.sentence(i)
        assert np.array_equal(again.arcs, parts.arcs)
        assert np.array_equal(scores.arcs_of(i), parts.arcs)
        before, after = listed(parts, kind), listed(again, kind)
        assert before.items() <= after.items()
        assert not any(after[row] for row in after.keys() - before.keys())


def test_one_sentence_with_parts_is_that_of_from_parts(scores, sentences):
    for i, parts in enumerate(sentences):
        one, again = Scores.from_parts(parts), Scores.from_parts(scores.sentence(i))
        for left, right in zip(arrays(one), arrays(again), strict=True):
            assert np.array_equal(left, right)


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_alone(kind):
    """A kind may have no parts at all in a sentence."""
    scores = Scores.over(np.array([-np.inf, 0.5, -np.inf, -np.inf]), np.array([1]), [kind])
    assert scores.columns(kind, 0).shape[0] == len(scores.piece(kind, 0))
    assert scores.sentence(0).score([0]) == 0.5


def test_sums_score_trees_as_both_models_do(scores, rng):
    other = scores.with_values(
        scores.arcs + 1.0, {kind: rng.normal(size=len(t)) for kind, t in scores.tables.items()}
    )
    trees = [enumerate_trees(n, "projective", "single") for n in LENGTHS]
    heads = np.concatenate([every[-1] for every in trees]).astype(np.int32)
    values = [tree_parts(each, heads)[1] for each in (scores, other, scores + other)]
    possible = np.isfinite(values[0])
    np.testing.assert_allclose((values[0] + values[1])[possible], values[2][possible])
    assert np.isneginf(values[2][~possible]).all()


def test_scores_of_trees_by_looking(scores):
    for i, n in enumerate(LENGTHS):
        parts = scores.sentence(i)
        for heads in enumerate_trees(n, "nonprojective", "multi")[:: n + 1].tolist():
            assert parts.score(heads) == pytest.approx(score_parts_slowly(parts, heads))


def test_multiples(scores):
    for left, right in zip(arrays(scores.scaled(-0.5)), arrays(scores), strict=True):
        assert np.array_equal(left, right * -0.5)
    factors = np.array([2.0, 0.5, -1.0])
    own = scores.scaled(factors)
    for i, factor in enumerate(factors):
        assert np.array_equal(own.arcs_of(i), scores.arcs_of(i) * factor)
        for kind in KINDS:
            assert np.array_equal(own.piece(kind, i), scores.piece(kind, i) * factor)


def test_multiples_with_labels(rng):
    scores = Scores(rng.normal(size=(9 + 4) * 3), np.array([2, 1]), 3)
    own = scores.scaled(np.array([2.0, 3.0]))
    assert scores.arcs_of(1).shape == (2, 2, 3)
    assert np.array_equal(own.arcs_of(0), 2.0 * scores.arcs_of(0))
    assert np.array_equal(own.arcs_of(1), 3.0 * scores.arcs_of(1))


def test_room_and_zeros_have_the_same_shape(scores):
    for other in (scores.empty(), scores.zeros()):
        assert [len(array) for array in arrays(other)] == [len(array) for array in arrays(scores)]
        assert all(a is not b for a, b in zip(arrays(other), arrays(scores), strict=True))
    assert not any(array.any() for array in arrays(scores.zeros()))


def test_first_order_is_the_case_without_tables(scores):
    arcs = scores.arcs_only()
    assert arcs.kinds == ()
    assert arcs.depth == 1
    assert arcs.values("siblings").size == 0
    assert np.array_equal((arcs + arcs).arcs, 2.0 * scores.arcs)
    assert isinstance(arcs.layout, Layout)
    assert arcs.layout.size == len(arcs.arcs)
