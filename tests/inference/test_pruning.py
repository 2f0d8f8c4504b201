"""Pruning by first-order marginals: what stays, and that a tree always does."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ProjectiveTrees, SpanningTrees
from arbora.inference.engines import first_order_engine
from arbora.inference.pruning import likely_arcs
from arbora.scores import Scores

CLASSES = {"nonprojective": SpanningTrees, "projective": ProjectiveTrees}


def pruned(arrays, trees, root, **settings):
    masked = [np.where(np.eye(len(one), dtype=bool), -np.inf, one) for one in arrays]
    for one in masked:
        one[:, 0] = -np.inf
    scores = Scores(
        np.concatenate([one.reshape(-1) for one in masked]),
        np.array([len(one) - 1 for one in masked]),
    )
    return likely_arcs(scores, first_order_engine(trees, root), **settings)


@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
@pytest.mark.parametrize("root", ["single", "multi"])
def test_likely_arcs_stay_and_a_tree_is_left(rng, trees, root):
    arrays = [rng.normal(scale=6.0, size=(n + 1, n + 1)) for n in (1, 2, 5, 12, 20)]
    pruning = pruned(arrays, trees, root, threshold=1e-2, heads=3)
    place = 0
    for scores in arrays:
        kept = pruning.kept[place : place + scores.size].reshape(scores.shape)
        place += scores.size
        distribution = CLASSES[trees](scores, root=root)
        for m in range(1, len(scores)):
            order = sorted(range(len(scores)), key=lambda h, m=m: -distribution.marginals[h, m])
            top = distribution.marginals[order[0], m]
            for place_in_order, h in enumerate(order):
                p = distribution.marginals[h, m]
                if p >= 1e-2 * top and place_in_order < 3:
                    assert kept[h, m]
                elif kept[h, m]:
                    assert h == m - 1 or distribution.mbr().heads[m - 1] == h
        assert not kept[:, 0].any()
        assert kept[np.arange(len(scores) - 1), np.arange(1, len(scores))].all()  # right-branching
        left = CLASSES[trees](np.where(kept, scores, -np.inf), root=root)  # there is a tree
        assert left.argmax().score == pytest.approx(distribution.argmax().score) or len(scores) > 3


def test_figures_and_gold_arcs(rng):
    scores = rng.normal(scale=8.0, size=(9, 9))
    pruning = pruned([scores], "nonprojective", "single", heads=2)
    gold = np.array([0, 1, 1, 1, 1, 1, 1, -1], dtype=np.int32)
    before = pruning.oracle(gold)
    assert pruning.with_arcs(gold).oracle(gold) == 1.0
    assert 0.0 <= before <= 1.0
    assert pruning.arcs_per_word <= 4.0


def test_forbidden_arcs_are_never_kept(rng):
    scores = rng.normal(size=(6, 6))
    scores[1, 2] = -np.inf
    pruning = pruned([scores], "nonprojective", "multi")
    assert not pruning.kept.reshape(6, 6)[1, 2]


@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_the_right_branching_tree_stays(rng, trees):
    """Its arcs are never pruned, however unlikely, unless they are forbidden."""
    n = 6
    scores = rng.normal(size=(n + 1, n + 1))
    scores[np.arange(n), np.arange(1, n + 1)] = -50.0
    scores[3, 4] = -np.inf
    pruning = pruned([scores], trees, "multi", threshold=0.5, heads=1)
    kept = pruning.kept.reshape(n + 1, n + 1)
    chain = kept[np.arange(n), np.arange(1, n + 1)]
    assert chain.tolist() == [1, 1, 1, 0, 1, 1]
    assert kept.sum() == n + 5  # and one other head of every word
