"""Losses against their definitions over all trees, and against differences."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.inference.engines import first_order_engine
from arbora.losses import (
    Gold,
    completed_gold,
    cost_augmented,
    decoded_rival,
    minus_gold,
    negative_log_likelihood,
    perceptron_loss,
)
from arbora.scores import Layout, Scores
from arbora.testing import EnumeratedTrees, finite_difference
from tests.helpers import random_scores
from tests.toys import random_heads

LENGTHS = np.array([3, 1, 4])


class Case:
    """A batch of random scores and gold trees with gaps."""

    def __init__(self, rng, trees, root, *, depth=None, missing=0.0, hidden=False, labels=0.0):
        self.trees, self.root, self.depth = trees, root, depth
        self.engine = first_order_engine(trees, root)
        self.tables = [
            random_scores(rng, n, n_labels=None if depth is None else depth) for n in LENGTHS
        ]
        for table, n in zip(self.tables, LENGTHS, strict=True):
            table[:, 0] = -np.inf
            table[np.arange(n + 1), np.arange(n + 1)] = -np.inf
        self.flat = np.concatenate([table.reshape(-1) for table in self.tables])
        heads = np.concatenate([random_heads(rng, n, trees, root) for n in LENGTHS])
        heads[rng.random(len(heads)) < missing] = -1
        tags = None
        if depth is not None:
            tags = rng.integers(depth, size=len(heads)).astype(np.int32)
            tags[rng.random(len(heads)) < (1.0 if hidden else labels)] = -1
        self.gold = Gold(Layout(LENGTHS), heads, tags, depth or 1)

    def scores(self, flat=None):
        return Scores(np.array(self.flat if flat is None else flat), LENGTHS, self.depth)

    def enumerated(self, flat=None):
        """For each sentence all trees, their scores, and which agree with the annotation."""
        flat, at, word = self.flat if flat is None else flat, 0, 0
        for table, n in zip(self.tables, LENGTHS, strict=True):
            scores = flat[at : at + table.size].reshape(table.shape)
            every = EnumeratedTrees(scores, self.trees, self.root)
            heads = self.gold.heads[word : word + n]
            agrees = ((every.heads == heads) | (heads < 0)).all(axis=1)
            if self.depth is not None:
                labels = self.gold.labels[word : word + n]
                free = (heads < 0) | (labels < 0)
                agrees &= ((every.labels == labels) | free).all(axis=1)
            yield every, agrees
            at, word = at + table.size, word + n


@pytest.fixture(
    params=[
        {},
        {"missing": 0.5},
        {"missing": 1.0},
        {"depth": 2},
        {"depth": 2, "missing": 0.4, "labels": 0.4},
        {"depth": 2, "labels": 0.5},
        {"depth": 3, "hidden": True},
        {"depth": 2, "hidden": True, "missing": 0.5},
    ],
    ids=lambda options: " ".join(f"{k}={v}" for k, v in options.items()) or "plain",
)
def case(request, rng, kind, root):
    return Case(rng, kind.trees, root, **request.param)


def test_likelihood_by_enumeration(case):
    loss = negative_log_likelihood(case.scores(), case.gold, case.engine)
    expected, marginals = [], []
    for every, agrees in case.enumerated():
        p = every.probabilities
        expected.append(-np.log(p[agrees].sum()))
        given = np.where(agrees, p, 0.0) / p[agrees].sum()
        marginals.append((every.weighted_arcs(p) - every.weighted_arcs(given)).reshape(-1))
    np.testing.assert_allclose(loss.values, expected, atol=1e-10)
    np.testing.assert_allclose(loss.d_scores.arcs, np.concatenate(marginals), atol=1e-10)


def test_likelihood_gradient_by_differences(case):
    def value(flat):
        return float(
            negative_log_likelihood(case.scores(flat), case.gold, case.engine).values.sum()
        )

    loss = negative_log_likelihood(case.scores(), case.gold, case.engine)
    # Fourth-order differences of step 1e-3 of functions of size 10.
    np.testing.assert_allclose(loss.d_scores.arcs, finite_difference(value, case.flat), atol=1e-8)


def test_complete_annotation_is_the_ordinary_objective(rng, kind, root):
    """Summing over the one tree that agrees is the same as scoring it."""
    for depth in (None, 3):
        case = Case(rng, kind.trees, root, depth=depth)
        assert case.gold.complete
        plain = negative_log_likelihood(case.scores(), case.gold, case.engine)
        agreeing = case.engine.infer(case.scores(case.gold.restrict(case.flat)))
        free = case.engine.infer(case.scores())
        np.testing.assert_allclose(
            plain.values, free.log_partition - agreeing.log_partition, rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(
            plain.d_scores.arcs, free.arcs - agreeing.arcs, rtol=0, atol=1e-12
        )


def test_perceptron_by_enumeration(case):
    scores = case.scores()
    gold = completed_gold(scores, case.gold, case.engine)
    loss = perceptron_loss(scores, gold, decoded_rival(case.engine))
    expected, d_scores = [], []
    for every, agrees in case.enumerated():
        right = np.flatnonzero(agrees)[every.tree_scores[agrees].argmax()]
        best = every.tree_scores.argmax()
        expected.append(every.tree_scores[best] - every.tree_scores[right])
        difference = np.zeros(len(every))
        difference[best] += 1.0
        difference[right] -= 1.0
        d_scores.append(every.weighted_arcs(difference).reshape(-1))
    np.testing.assert_allclose(loss.values, expected, atol=1e-12)
    np.testing.assert_allclose(loss.d_scores.arcs, np.concatenate(d_scores), atol=1e-12)


def test_hinge_by_enumeration(case):
    """The best tree with one more for every wrong arc, minus the right tree."""
    scores = case.scores()
    gold = completed_gold(scores, case.gold, case.engine)
    rival = decoded_rival(case.engine)(cost_augmented(scores, gold))
    loss, right = minus_gold(scores, gold, rival), gold.cells()
    cost = np.ones(len(case.flat))
    cost[right] = 0.0
    finite = np.where(np.isfinite(case.flat), case.flat, 0.0)
    expected, at, word = [], 0, 0
    for (every, _), n in zip(case.enumerated(), LENGTHS, strict=True):
        shape = every.scores.shape
        size = every.scores.size
        costs = every.values_of(cost[at : at + size].reshape(shape))
        expected.append((every.tree_scores + costs).max() - finite[right[word : word + n]].sum())
        at, word = at + size, word + n
    np.testing.assert_allclose(loss.values, expected, atol=1e-10)
    assert (loss.values >= -1e-12).all()
