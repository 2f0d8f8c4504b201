"""The example of word senses, against enumeration over trees and senses."""

from __future__ import annotations

import itertools
import runpy
from pathlib import Path

import numpy as np
import pytest

from arbora.testing import enumerate_trees

PATH = Path(__file__).parents[2] / "examples" / "08_word_senses.py"


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(PATH))


def random_words(example, rng, n, ambiguous):
    counts = rng.integers(2, 4, size=ambiguous)
    places = rng.permutation(n)[:ambiguous] + 1
    return {
        int(word): example["Senses"](rng.normal(size=k), 2.0 * rng.normal(size=(k, n + 1)))
        for word, k in zip(places, counts, strict=True)
    }


def best_by_enumeration(arcs, words, n):
    """Over all trees and all senses, with the scores of arcs, priors and affinities added up."""
    best = -np.inf
    choices = list(itertools.product(*(range(len(one.prior)) for one in words.values())))
    for heads in enumerate_trees(n, "nonprojective", "single").tolist():
        for senses in choices:
            total = sum(arcs[h, m] for m, h in enumerate(heads, start=1))
            for (word, one), s in zip(words.items(), senses, strict=True):
                total += one.prior[s]
                total += sum(one.affinity[s, m] for m, h in enumerate(heads, start=1) if h == word)
            best = max(best, total)
    return best


def test_against_enumeration(example):
    rng = np.random.default_rng(3)
    certified, rounds = [], []
    for _ in range(20):
        n = int(rng.integers(2, 5))
        words = random_words(example, rng, n, int(rng.integers(1, 3)))
        arcs = rng.normal(size=(n + 1, n + 1))
        answer = example["decode"](arcs, words)
        best = best_by_enumeration(arcs, words, n)
        own = example["joint_score"](arcs, words, answer.heads, answer.senses)
        assert answer.score == pytest.approx(own)
        assert answer.score <= best + 1e-9
        assert answer.bound >= best - 1e-9
        if answer.certified:
            assert answer.score == pytest.approx(best)
        certified.append(answer.certified)
        rounds.append(answer.rounds)
    assert np.mean(certified) > 0.8
    assert max(rounds) > 1  # the two sides disagreed at first


def test_the_sense_decides_about_the_tree(example):
    heads, senses = {}, {}
    for what in ("central", "steep"):
        _, arcs, words = example["photographed"](what)
        answer = example["decode"](arcs, words)
        assert answer.certified
        heads[what], senses[what] = int(answer.heads[6]), answer.senses[example["BANK"]]
    assert heads == {"central": 5, "steep": 2}
    assert senses == {"central": 0, "steep": 1}
