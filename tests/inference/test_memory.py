"""What does not fit into memory is refused before it is begun, with the true figure."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import (
    Hypergraph,
    Mixture,
    Parts,
    ProjectiveTrees,
    SecondOrderTrees,
    SpanningTrees,
    TooLargeError,
)
from arbora.inference import hypergraph, packed
from tests.helpers import random_scores

GIGABYTE = 10**9


@pytest.fixture
def small_machine(monkeypatch):
    """Of two gigabytes."""
    monkeypatch.setattr(packed, "physical_memory", lambda: 2 * GIGABYTE)


@pytest.fixture(params=["spanning", "projective", "second order", "labelled", "batch"])
def trees(request, rng):
    """Distributions over very many trees of forty words."""
    scores = random_scores(rng, 40)
    return {
        "spanning": lambda: SpanningTrees(scores),
        "projective": lambda: ProjectiveTrees(scores),
        "second order": lambda: SecondOrderTrees(Parts(scores)),
        "labelled": lambda: SpanningTrees(random_scores(rng, 40, n_labels=3)),
        "batch": lambda: SpanningTrees.batch([scores, scores[:31, :31]]),
    }[request.param]()


@pytest.mark.usefixtures("small_machine")
def test_long_lists_are_refused_at_once(trees):
    with pytest.raises(
        TooLargeError,
        match=r"^the 2147483647 best trees of \d+ words need about \d{4}\.\d GB, and this machine "
        r"has 2\.0 GB: use a smaller k, \d{6,7} at most\.$",
    ):
        trees.kbest(2**31 - 1)
    assert len(trees.kbest(3)) in (2, 3)


@pytest.mark.usefixtures("small_machine")
def test_all_trees_can_be_asked_for_where_there_are_few(kind, root, rng):
    scores = random_scores(rng, 4)
    scores[2, 3] = -np.inf
    trees = kind(scores, root)
    count = round(np.exp(kind(np.where(np.isneginf(scores), -np.inf, 0.0), root).log_partition))
    assert len(trees.kbest(2**31 - 1)) == count
    if kind is ProjectiveTrees:
        assert len(SecondOrderTrees(Parts(scores), root).kbest(2**31 - 1)) == count


def test_the_estimate_is_that_of_the_list(rng, monkeypatch):
    """A list that just fits is made, one that just does not is refused."""
    trees = SpanningTrees(random_scores(rng, 10))
    monkeypatch.setattr(packed, "physical_memory", lambda: 1000 * (10 * 16 + 400))
    assert len(trees.kbest(1000)) == 1000
    with pytest.raises(TooLargeError, match=r"need about 0\.6 MB, .* 1000 at most"):
        trees.kbest(1010)


@pytest.mark.usefixtures("small_machine")
def test_a_search_that_runs_out_of_memory_says_what_it_needs(rng, monkeypatch):
    def fails(*_):
        raise MemoryError

    monkeypatch.setattr(packed.kernels, "kbest", fails)
    with pytest.raises(
        TooLargeError, match=r"the 100000 best trees of 40 words need about 0\.1 GB"
    ):
        SpanningTrees(random_scores(rng, 40)).kbest(100_000)


@pytest.mark.usefixtures("small_machine")
def test_large_samples_are_refused(rng):
    scores = random_scores(rng, 40)
    single = [SpanningTrees(scores), ProjectiveTrees(scores), SecondOrderTrees(Parts(scores))]
    several = [SpanningTrees.batch([scores] * 2), SecondOrderTrees.batch([Parts(scores)] * 2)]
    for trees in (*single, *several, Mixture(single[:2])):
        with pytest.raises(TooLargeError, match=r"2000000000 draws of \d+ words need \d+\.\d GB"):
            trees.sample(2_000_000_000)
        assert len(trees.sample(2, seed=1)) == 2


def test_many_derivations_are_refused(monkeypatch):
    """Of a chain of ten nodes with two edges each: 1024 derivations, as many draws as one likes."""
    monkeypatch.setattr(hypergraph, "physical_memory", lambda: GIGABYTE)
    chain = Hypergraph(np.repeat(np.arange(10), 2), np.repeat(np.arange(-1, 9), 2)[:, None])
    derivations = chain.derivations(np.zeros(20))
    with pytest.raises(TooLargeError, match=r"derivations of about 10 edges need 1718\.0 GB"):
        derivations.sample(2**31 - 1)
    assert len(derivations.kbest(2**31 - 1)) == 1024
    long = Hypergraph(np.repeat(np.arange(40), 2), np.repeat(np.arange(-1, 39), 2)[:, None])
    with pytest.raises(TooLargeError, match=r"derivations of about 40 edges .* 500000 at most"):
        long.derivations(np.zeros(80)).kbest(2**31 - 1)
