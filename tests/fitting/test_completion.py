"""Missing heads are filled in by the best tree that agrees with the annotation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arbora.fitting.completion import completed, has_gaps
from arbora.fitting.preparation import projectivise
from arbora.testing import EnumeratedTrees
from tests.toys import scored, toy_problem, toy_sentences


class Guide:
    """A trainer that learns nothing and records its input."""

    def __init__(self, weights):
        self.weights, self.orders = weights, []

    def run_pass(self, order, tick):  # noqa: ARG002  # as trainers have it
        self.orders.append(sorted(order.tolist()))

    def parameters(self):
        return {"weights": self.weights}


@pytest.mark.parametrize("outcomes", [None, "label"])
def test_the_best_completion(kind, root, outcomes, rng):
    sentences = toy_sentences(rng, [1, 3, 4, 2, 4], kind.trees, root, missing=0.6)
    problem = toy_problem(sentences, trees=kind.trees, root=root, outcomes=outcomes)
    before = problem.treebank
    if kind.trees == "projective":  # what is known may have no projective completion
        before, _ = projectivise(before, root)
    before.labels[before.heads < 0] = -1
    before.labels[::4] = -1
    problem = replace(problem, treebank=before)
    guide = Guide(rng.normal(size=problem.scorer.size))
    assert has_gaps(problem)
    after = completed(problem, guide, seed=3)
    assert guide.orders == [[0, 1, 2, 3, 4]] * 2
    assert not has_gaps(replace(problem, treebank=after))
    known = before.heads >= 0
    assert (after.heads == before.heads)[known].all()
    for i in range(len(before)):
        words = before.words(np.array([i]))
        batch = before.batch(np.array([i]))
        scores = scored(problem.scorer, guide.weights, batch).arcs_of(0)
        depth = problem.scorer.n_labels
        every = EnumeratedTrees(scores, kind.trees, root)
        agrees = _agrees(every.heads, before.heads[words])
        if depth:
            given = np.where(before.heads[words] < 0, -1, before.labels[words])
            agrees &= _agrees(every.labels, given)
        best = np.where(agrees, every.tree_scores, -np.inf).argmax()
        assert after.heads[words].tolist() == every.heads[best].tolist()
        if depth:
            assert after.labels[words].tolist() == every.labels[best].tolist()


def _agrees(rows, given):
    return ((rows == given) | (given < 0)).all(axis=1)


def test_whole_trees_have_no_gaps(rng):
    assert not has_gaps(toy_problem(toy_sentences(rng, [3, 2])))
