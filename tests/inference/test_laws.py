"""The laws of a distribution over trees, on every distribution class that there is."""

from __future__ import annotations

import numpy as np
import pytest

import arbora.inference
from arbora import LoopyTrees, Parts, ProjectiveTrees, SecondOrderTrees, SpanningTrees
from arbora.scores import KINDS, Scores
from arbora.testing import check_distribution
from tests.helpers import random_scores
from tests.inference.conftest import MODELS

APPROXIMATE = ("marginals", "part marginals", "least risk", "gradient")
FIRST_ORDER = (
    "marginals", "least risk", "gradient", "best trees", "sums", "samples", "shift invariance",
)  # fmt: skip
EXACT = ("marginals", "part marginals", *FIRST_ORDER[1:])


def some_parts(rng, n_words, kinds, scale=1.0):
    """Random scores of all parts over the arcs that are allowed."""
    arcs = random_scores(rng, n_words, mask=0.2)
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    scores = Scores.over(arcs.reshape(-1), np.array([n_words]), kinds)
    for table in scores.tables.values():
        table[:] = rng.normal(scale=scale, size=len(table))
    return scores.sentence(0)


def with_arcs(parts, arcs):
    """The same parts over other arc scores."""
    return Parts(arcs, **{kind: getattr(parts, kind) for kind in parts.kinds})


@pytest.mark.parametrize("n_words", [1, 2, 5, 9])
@pytest.mark.parametrize("n_labels", [None, 3])
def test_first_order(rng, kind, root, n_words, n_labels):
    scores = random_scores(rng, n_words, 2.0, mask=0.2, n_labels=n_labels)
    assert check_distribution(kind(scores, root)) == FIRST_ORDER


@pytest.mark.parametrize("n_words", [1, 2, 7])
def test_second_order(rng, root, kinds, n_words):
    parts = some_parts(rng, n_words, kinds)

    def make(arcs):
        return SecondOrderTrees(with_arcs(parts, arcs), root)

    assert check_distribution(make(parts.arcs), make=make) == EXACT


LOOPY = [*MODELS.values(), ("siblings",), KINDS]


@pytest.mark.parametrize("model", LOOPY, ids="+".join)
@pytest.mark.parametrize("n_words", [1, 2, 7])
@pytest.mark.parametrize("trees", ["projective", "nonprojective"])
@pytest.mark.parametrize("iterations", [1, 4])
def test_belief_propagation(rng, root, model, n_words, trees, iterations):
    """It claims the laws of what it offers, converged or not."""
    loopy = LoopyTrees(some_parts(rng, n_words, model), trees, root, iterations)
    assert check_distribution(loopy) == APPROXIMATE


@pytest.mark.parametrize("model", LOOPY, ids="+".join)
@pytest.mark.parametrize("trees", ["projective", "nonprojective"])
def test_belief_propagation_that_has_converged(rng, root, model, trees):
    """Then it is also invariant to shifts; messages settle to the last digit in 200 iterations."""
    parts = some_parts(rng, 4, model, scale=0.3)

    def make(arcs):
        return LoopyTrees(with_arcs(parts, arcs), trees, root, 200, 0.1)

    loopy = make(parts.arcs)
    assert loopy.converged
    assert check_distribution(loopy, make=make) == (*APPROXIMATE, "shift invariance")


def test_every_distribution_class_is_here():
    names = {name for name in arbora.inference.__all__ if name.endswith("Trees")}
    classes = (SpanningTrees, ProjectiveTrees, SecondOrderTrees, LoopyTrees)
    assert names == {one.__name__ for one in classes}


class Broken(SpanningTrees):
    """Believes a little too much in its arcs."""

    @property
    def marginals(self):
        wrong = super().marginals * 1.001
        wrong.setflags(write=False)
        return wrong


def test_a_broken_law_is_found(rng):
    with pytest.raises(AssertionError):
        check_distribution(Broken(random_scores(rng, 4)))


@pytest.mark.parametrize("iterations", [1, 3])
def test_laws_without_parts_are_those_of_the_exact_sums(rng, kind, root, iterations):
    scores = random_scores(rng, 5, mask=0.2)
    loopy = LoopyTrees(Parts(scores), kind.trees, root, iterations)
    np.testing.assert_allclose(loopy.marginals, kind(scores, root).marginals, atol=1e-10)
