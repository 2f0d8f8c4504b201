"""Parts of second order: tables against looking at whole trees; bad input."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import arbora
from arbora import Parts, ScoreError
from arbora.scores import KINDS, Scores
from arbora.testing import (
    all_part_rows,
    enumerate_trees,
    part_rows_of_tree,
    random_parts,
    score_parts_slowly,
)

EVERY_TREE = enumerate_trees(4, "nonprojective", "multi")


@pytest.mark.parametrize("kind", KINDS)
def test_every_part_that_a_tree_can_have_has_one_place(kind):
    packed = Scores.over(np.zeros(25), np.array([4]), [kind])
    listed = [tuple(row) for row in packed.columns(kind, 0).tolist()]
    assert len(set(listed)) == len(listed)
    assert set(all_part_rows(kind, 4)) <= set(listed)
    numbers = packed.index.numbers(KINDS.index(kind), 0, packed.columns(kind, 0).reshape(-1))
    assert numbers.tolist() == list(range(len(listed)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_of_a_tree_are_those_that_looking_finds(kind):
    packed = Scores.over(np.zeros(25), np.array([4]), [kind])
    rows = packed.columns(kind, 0)
    for heads in EVERY_TREE:
        found = rows[packed.of_tree(kind, 0, heads.astype(np.int32))]
        assert {tuple(row) for row in found.tolist()} == part_rows_of_tree(kind, heads.tolist())


@pytest.mark.parametrize("seed", range(8))
def test_scores_of_trees(seed):
    parts = random_parts(np.random.default_rng(seed), 4, KINDS, forbidden=0.3 * (seed % 2))
    for heads in EVERY_TREE:
        assert parts.score(heads) == pytest.approx(score_parts_slowly(parts, heads.tolist()))


def test_many_sentences_keep_their_own_tables():
    rng = np.random.default_rng(0)
    some = [random_parts(rng, n, KINDS[: n - 1]) for n in (2, 4, 3)]
    packed = Scores.joined(some)
    for i, parts in enumerate(some):
        for kind in packed.kinds:
            expected = Scores.from_parts(parts).tables.get(kind)
            piece = packed.piece(kind, i)
            assert np.array_equal(piece, np.zeros(len(piece)) if expected is None else expected)


def test_first_order_parts_are_arc_scores():
    parts = Parts(np.ones((3, 3)))
    assert parts.score([0, 1]) == 2.0
    assert repr(parts) == "Parts(2 words)"
    assert parts.siblings is None


ONE = np.array([1.0])


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        ("grandparents", (3, 2, 9), r"grandparents\[0\].*modifier 9.*out of range"),
        ("grandparents", (0, 0, 1), "out of range"),
        ("grandparents", (0, 1, 2), "forbidden"),
        ("consecutive_siblings", (2, 1, 3, 1), "wrong order"),
        ("consecutive_siblings", (2, 2, -1, -1), "out of range"),
        ("consecutive_siblings", (0, 1, 3, 2), "wrong order"),
        ("siblings", (0, 2, 1), "the smaller modifier comes first"),
        ("grandsiblings", (2, 1, 1, -1, 2), "forbidden"),
    ],
)
def test_wrong_parts_are_refused_with_the_part(kind, row, message):
    arcs = np.zeros((4, 4))
    arcs[1, 2] = -np.inf
    with pytest.raises(arbora.ArgumentError, match=message):
        Parts(arcs, **{kind: ([row], ONE)})


def test_a_part_given_twice_is_refused():
    with pytest.raises(arbora.ArgumentError, match=r"siblings\[2\].*same part as siblings\[0\]"):
        Parts(np.zeros((4, 4)), siblings=([(0, 1, 2), (0, 1, 3), (0, 1, 2)], np.ones(3)))


@pytest.mark.parametrize(
    ("heads", "reason"),
    [([1, 2], "one number per word"), ([9, 9, 9], "head of word 1 is 9"), ("abc", "integers"),
     ([0.5, 0, 1], "integers"), ([[0, 1, 2]], "of one tree"), (None, "integers")],
    ids=str,
)  # fmt: skip
def test_heads_that_are_none(heads, reason):
    with pytest.raises(arbora.ShapeError, match=reason):
        Parts(np.zeros((4, 4))).score(heads)


def test_shapes_and_scores_are_checked():
    arcs = np.zeros((4, 4))
    with pytest.raises(arbora.ShapeError, match=r"\(k, 3\)"):
        Parts(arcs, siblings=(np.zeros((2, 4), dtype=int), np.ones(2)))
    with pytest.raises(arbora.ShapeError, match="one each"):
        Parts(arcs, siblings=([(0, 1, 2)], np.ones(2)))
    with pytest.raises(arbora.ScoreError, match=r"siblings\[0\] is nan"):
        Parts(arcs, siblings=([(0, 1, 2)], [np.nan]))
    with pytest.raises(arbora.ShapeError, match=r"\(n\+1, n\+1\)"):
        Parts(np.zeros((3, 4)))
    arcs[1, 2] = np.inf
    with pytest.raises(arbora.ScoreError, match=r"arcs\[1, 2\]"):
        Parts(arcs)


def test_arcs_without_a_tree_are_refused():
    arcs = np.full((3, 3), -np.inf)
    arcs[0, 1] = 0.0
    with pytest.raises(arbora.NoTreeError, match="word 2 has no possible head"):
        Parts(arcs)
    arcs[2, 1] = arcs[1, 2] = 0.0
    arcs[0, 1] = -np.inf
    with pytest.raises(arbora.NoTreeError, match="cannot be reached"):
        Parts(arcs)


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_parts_can_be_copied(copied):
    rng = np.random.default_rng(4)
    parts = random_parts(rng, 5, ("consecutive_siblings", "grandparents"), forbidden=0.2)
    again = copied(parts)
    assert again.kinds == parts.kinds
    assert np.array_equal(again.arcs, parts.arcs)
    assert np.array_equal(again.grandparents.scores, parts.grandparents.scores)


@pytest.mark.parametrize("score", [1e300, -1e300, 1.1e14])
def test_scores_that_no_sum_can_hold_are_refused(score):
    """Two arcs of 1e300 would score inf."""
    arcs = np.zeros((3, 3))
    arcs[0, 1] = score
    with pytest.raises(ScoreError, match=r"arcs\[0, 1\] is .*: scores are numbers up to 1e\+14"):
        Parts(arcs)
    with pytest.raises(ScoreError, match=r"the score of grandparents\[0\] is .* up to 1e\+14"):
        Parts(np.zeros((3, 3)), grandparents=([[0, 1, 2]], [score]))
