"""Hill climbing: every gain against scoring whole trees, every answer against all trees."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import arbora
from arbora import Parts
from arbora.inference.hill_climbing import head_changes, hill_climb
from arbora.inference.tree_checks import in_class
from arbora.scores import PART_KINDS, Scores
from arbora.testing import best_tree_slowly, enumerate_trees, random_parts

KINDS = tuple(kind.name for kind in PART_KINDS if not kind.chained)
CHOICES = [*((kind,) for kind in KINDS), KINDS]
each_choice = pytest.mark.parametrize("kinds", CHOICES, ids="+".join)
each_class = pytest.mark.parametrize("trees", ["nonprojective", "projective"])


def some_parts(kinds, count, n_words=4):
    """A third with ordinary scores, a third with forbidden arcs, a third with ties."""
    rng = np.random.default_rng(2006)
    return [
        random_parts(rng, n_words, kinds, forbidden=0.3 * (i % 3 == 1), ties=i % 3 == 2, scale=3.0)
        for i in range(count)
    ]


@each_choice
@each_class
def test_gains_are_differences_of_whole_scores(kinds, trees, root):
    for parts in some_parts(kinds, 3):
        packed = Scores.from_parts(parts)
        for heads in enumerate_trees(4, trees, root)[::7]:
            before = parts.score(heads)
            if np.isneginf(before):
                continue
            gains = head_changes(packed, 0, heads, trees, root)
            for h, m in np.ndindex(gains.shape):
                if m == 0:
                    continue
                changed = heads.copy()
                changed[m - 1] = h
                is_tree = h != heads[m - 1] and in_class(changed[None], trees, root)[0]
                after = parts.score(changed) if is_tree else -np.inf
                assert gains[h, m] == pytest.approx(after - before, abs=1e-12)


@each_choice
@each_class
def test_answers_are_trees_with_their_scores_and_mostly_the_best(kinds, trees, root):
    some = some_parts(kinds, 30)
    answers = hill_climb(Scores.joined(some), trees, root)
    best = [best_tree_slowly(parts, trees, root)[1] for parts in some]
    for parts, answer, top in zip(some, answers, best, strict=True):
        assert in_class(answer.heads[None].astype(np.int64), trees, root)[0]
        assert answer.score == pytest.approx(parts.score(answer.heads))
        assert answer.score <= top + 1e-9
    found = [answer.score > top - 1e-9 for answer, top in zip(answers, best, strict=True)]
    # Measured on 90 sentences each: 0.94 on average, least (0.86) where parts outweigh the arcs
    # that starts are drawn from; 0.90 with 20 restarts, 0.68 with none.
    assert np.mean(found) >= 0.8


@each_class
def test_no_single_change_is_better_than_the_answer(trees, root):
    some = some_parts(KINDS, 10, n_words=5)
    for parts in some:
        (answer,) = hill_climb(Scores.from_parts(parts), trees, root, restarts=0)
        assert head_changes(Scores.from_parts(parts), 0, answer.heads, trees, root).max() <= 1e-9


@each_class
def test_answers_are_never_worse_than_their_start(trees, root):
    for parts in some_parts(KINDS, 5):
        for heads in enumerate_trees(4, trees, root)[::11]:
            start = parts.score(heads)
            if not np.isneginf(start):
                (answer,) = hill_climb(
                    Scores.from_parts(parts), trees, root, restarts=0, start=[heads]
                )
                assert answer.score >= start - 1e-9


def test_the_start_is_the_best_projective_tree(root):
    """With arc scores alone that tree is what a projective search ends with."""
    parts = random_parts(np.random.default_rng(1), 6, ())
    (answer,) = hill_climb(Scores.from_parts(parts), "projective", root, restarts=0)
    assert answer == arbora.ProjectiveTrees(parts.arcs, root=root).argmax()


def test_without_a_projective_tree_the_start_is_a_spanning_tree():
    arcs = np.full((5, 5), -np.inf)
    for h, m in [(0, 2), (2, 4), (4, 1), (1, 3)]:  # 4 -> 1 crosses 0 -> 2
        arcs[h, m] = 0.0
    packed = Scores.from_parts(Parts(arcs))
    assert hill_climb(packed)[0].heads.tolist() == [4, 0, 1, 2]
    with pytest.raises(arbora.NoTreeError, match="sentence 0: there is no projective tree"):
        hill_climb(packed, "projective")


def test_the_single_root_can_change():
    arcs = np.zeros((4, 4))
    arcs[0] = [0.0, 0.0, 0.0, 5.0]
    (answer,) = hill_climb(Scores.from_parts(Parts(arcs)), restarts=0, start=[[0, 1, 2]])
    assert answer.heads[2] == 0
    assert answer.score == 5.0


def test_more_restarts_are_never_worse():
    some = some_parts(KINDS, 20, n_words=5)
    packed = Scores.joined(some)
    scores = [
        np.array([tree.score for tree in hill_climb(packed, restarts=restarts, seed=3)])
        for restarts in (0, 1, 5, 25)
    ]
    for fewer, more in itertools.pairwise(scores):
        assert (more >= fewer).all()
    impatient = hill_climb(packed, restarts=25, patience=1, seed=3)
    assert ([tree.score for tree in impatient] <= scores[-1]).all()


def test_threads_change_nothing():
    some = [parts for n in (2, 5, 3) for parts in some_parts(KINDS, 4, n_words=n)]
    one, two = (hill_climb(Scores.joined(some), seed=7, threads=threads) for threads in (1, 2))
    assert one == two
    assert [tree.score for tree in one] == [tree.score for tree in two]


def test_bad_starts_are_refused():
    parts = Parts(np.zeros((4, 4)))
    with pytest.raises(arbora.ArgumentError, match="2 trees for 1 sentences"):
        hill_climb(Scores.from_parts(parts), start=[[0, 1, 2], [0, 1, 2]])
    with pytest.raises(arbora.ArgumentError, match=r"sentence 0: \[0, 0, 2\] is no nonprojective"):
        hill_climb(Scores.from_parts(parts), start=[[0, 0, 2]])
    with pytest.raises(arbora.ArgumentError, match="restarts must be"):
        hill_climb(Scores.from_parts(parts), restarts=-1)
    with pytest.raises(arbora.ArgumentError, match="root must be"):
        hill_climb(Scores.from_parts(parts), root="both")
