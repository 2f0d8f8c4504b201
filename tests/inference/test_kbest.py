"""Long lists of best trees; short ones are compared with enumeration elsewhere (T8)."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.inference.tree_checks import in_class
from tests.helpers import cyclic_scores, random_scores


@pytest.mark.parametrize("make", [random_scores, cyclic_scores], ids=["random", "cyclic"])
def test_a_thousand_trees_of_forty_words(kind, root, make, rng):
    trees = kind(make(rng, 40), root)
    listed = trees.kbest(1000)
    scores = np.array([tree.score for tree in listed])
    heads = np.array([tree.heads for tree in listed])
    assert len(listed) == 1000
    assert (np.diff(scores) <= 0).all()
    assert len(np.unique(heads, axis=0)) == 1000
    assert in_class(heads.astype(np.int64), kind.trees, root).all()
    assert np.allclose(scores, trees.scores[heads, np.arange(1, 41)].sum(axis=1), atol=1e-11)
    assert listed[0] == trees.argmax()


def test_no_tree_outside_the_list_is_better(kind, root, rng):
    """Every draw that is not among the 200 best scores less than they do."""
    trees = kind(random_scores(rng, 12, 4.0), root)
    listed = trees.kbest(200)
    known = {tree.heads.tobytes() for tree in listed}
    for heads in trees.sample(3000, seed=1):
        if heads.tobytes() not in known:
            assert trees.scores[heads, np.arange(1, 13)].sum() <= listed[-1].score + 1e-12


def test_a_shorter_list_is_a_prefix(kind, root, rng):
    for n_labels in (None, 4):
        trees = kind(random_scores(rng, 8, 1.0, 0.2, n_labels), root)
        assert trees.kbest(5) == trees.kbest(60)[:5]
