"""Conversion of gold trees to a class, against all trees of the class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora import Sentence
from arbora.fitting.preparation import (
    choose_root,
    multi_root_share,
    projectivise,
    projectivise_heads,
    single_rooted,
)
from arbora.testing import enumerate_trees
from tests.toys import random_heads, toy_treebank


def treebank(*trees):
    return toy_treebank(
        [Sentence.from_words(["w"] * len(heads), heads=list(heads)) for heads in trees]
    )[1]


def ancestors(heads, word):
    """From the head upwards, as far as heads are known."""
    way = []
    while word > 0 and heads[word - 1] >= 0 and len(way) <= len(heads):
        word = int(heads[word - 1])
        way.append(word)
    return way


def kept(heads, trees):
    """How many of the known heads each tree has."""
    return ((trees == heads) & (heads >= 0)).sum(axis=1)


def is_projective(heads, root):
    return bool((enumerate_trees(len(heads), "projective", root) == heads).all(axis=1).any())


@st.composite
def gold_heads(draw, root):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    heads = random_heads(rng, draw(st.integers(1, 5)), "nonprojective", root)
    heads[rng.random(len(heads)) < draw(st.sampled_from([0.0, 0.0, 0.3, 0.7]))] = -1
    return heads


@pytest.mark.parametrize("root", ["single", "multi"])
@given(data=st.data())
def test_projectivising_keeps_most_arcs(root, data):
    heads = data.draw(gold_heads(root))
    found = projectivise_heads(heads, root)
    every = enumerate_trees(len(heads), "projective", root)
    assert ((found < 0) == (heads < 0)).all()
    agreeing = every[((every == found) | (found < 0)).all(axis=1)]
    assert len(agreeing)  # a projective tree, or part of one
    most = kept(heads, every).max()
    assert (kept(heads, found[None, :]) == most).all()
    # Of those that keep most, none lifts more words, or the same words to nearer ancestors.
    best = max(lifts(heads, tree) for tree in every[kept(heads, every) == most])
    assert lifts(heads, found) == pytest.approx(best, abs=1e-9)


def lifts(heads, tree):
    """The sum over lifted words of 1 / (number of steps up to the new head)."""
    total = 0.0
    for word, head in enumerate(tree, start=1):
        way = ancestors(heads, word)
        if way and head != way[0] and head in way:
            total += 1.0 / (way.index(head) + 1)
    return total


def test_an_arc_is_lifted():
    # 1 <- 3, 4 <- 2, crossing: word 4 hangs on 2, whose head is 3.
    heads = np.array([3, 3, 0, 1, 3], dtype=np.int32)
    assert projectivise_heads(heads, "single").tolist() == [3, 3, 0, 3, 3]


def test_an_arc_is_lifted_to_the_nearest_ancestor():
    # Word 4 hangs on 2, whose ancestors are 3 and 1.
    heads = np.array([0, 3, 1, 2], dtype=np.int32)
    assert projectivise_heads(heads, "single").tolist() == [0, 3, 1, 3]


@pytest.mark.parametrize("root", ["single", "multi"])
@given(data=st.data())
def test_treebanks_are_projectivised(root, data):
    trees = [data.draw(gold_heads(root)) for _ in range(3)]
    before = treebank(*trees)
    after, share = projectivise(before, root)
    same = total = 0
    for i, heads in enumerate(trees):
        new = after.heads_of(i)
        if (heads >= 0).all() and is_projective(heads, root):
            assert new.tolist() == heads.tolist()
        every = enumerate_trees(len(heads), "projective", root)
        assert ((every == new) | (new < 0)).all(axis=1).any()
        same += (new == heads)[heads >= 0].sum()
        total += (heads >= 0).sum()
    assert share == pytest.approx(same / total if total else 1.0)
    assert before.heads.tolist() == np.concatenate(trees).tolist()


def test_known_heads_without_a_projective_completion():
    """Arcs 2 -> 1 and 1 -> 3 do not cross, but no projective tree has both."""
    after, share = projectivise(treebank([2, -1, 1]), "single")
    assert share == 0.5
    every = enumerate_trees(3, "projective", "single")
    assert ((every == after.heads) | (after.heads < 0)).all(axis=1).any()


def test_only_the_first_root_stays():
    after = single_rooted(treebank([0, 0, 2], [2, 0], [0, 0, 0], [-1, 1]))
    assert after.heads.tolist() == [0, -1, 2, 2, 0, 0, -1, -1, -1, 1]


def test_the_root_class_follows_the_treebank():
    single, multi = [0, 1], [0, 0]
    assert choose_root(treebank(single)) == "single"
    assert choose_root(treebank(*[single] * 300, multi)) == "single"  # a slip of annotation
    assert choose_root(treebank(single, multi)) == "multi"
    assert multi_root_share(treebank(single, multi, multi, single)) == 0.5
