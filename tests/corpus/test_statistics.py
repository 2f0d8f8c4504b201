"""Intervals of counts: simulated corpora, whose gold counts are known."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError
from arbora.corpus import Figures, estimate_bias, interval


def simulated(rng, n, bias, matches, extra):
    """Sentences of a parser whose probabilities are too high by a factor, and correlated errors.

    `extra` is the standard deviation of a sentence's own factor.
    """
    sizes = rng.binomial(rng.integers(1, 30, n), matches)
    place = np.repeat(np.arange(n), sizes)
    chances = rng.beta(0.3, 0.3, len(place))
    true = np.clip(chances * bias * np.exp(rng.normal(0.0, extra, n))[place], 0.0, 1.0)
    columns = (rng.random(len(place)) < true, chances, chances * (1.0 - chances))
    return [np.bincount(place, weights=values, minlength=n) for values in columns]


def covered(rng, *, bias, matches, extra, sample, level=0.9, rounds=300, corpus=400):
    """The share of intervals that hold the gold count, with and without the sample."""
    alone = corrected = 0
    for _ in range(rounds):
        gold, expected, variance = simulated(rng, corpus + sample, bias, matches, extra)
        known = estimate_bias(gold[:sample], expected[:sample], variance[:sample])
        figures = Figures(float(expected[sample:].sum()), float(variance[sample:].sum()))
        total = gold[sample:].sum()
        low, high = interval(figures, level)[1]
        alone += low <= total <= high
        low, high = interval(figures, level, known)[1]
        corrected += low <= total <= high
    return alone / rounds, corrected / rounds


def test_intervals_hold_what_they_say_if_probabilities_are_right(rng):
    alone, corrected = covered(rng, bias=1.0, matches=0.2, extra=0.0, sample=100)
    # 300 intervals: three standard errors of a share of 0.9 are 0.052
    assert 0.85 <= alone <= 0.96
    assert 0.85 <= corrected <= 0.97


@pytest.mark.parametrize("matches", [0.01, 0.2])
def test_a_gold_sample_corrects_bias(rng, matches):
    alone, corrected = covered(rng, bias=0.8, matches=matches, extra=0.0, sample=200)
    assert 0.85 <= corrected <= 0.99
    if matches == 0.2:
        assert alone < 0.3  # hundreds of matches, of which a fifth is not there


def test_a_gold_sample_shows_errors_that_are_larger_than_the_doubt(rng):
    alone, corrected = covered(rng, bias=1.0, matches=0.5, extra=0.4, sample=200)
    assert alone < 0.85
    assert 0.83 <= corrected <= 0.97


def test_levels(rng):
    _, half = covered(rng, bias=0.9, matches=0.2, extra=0.0, sample=200, level=0.5)
    assert 0.4 <= half <= 0.62


def test_corrected_counts_are_nearer(rng):
    errors = []
    for _ in range(50):
        gold, expected, variance = simulated(rng, 600, 0.7, 0.2, 0.0)
        known = estimate_bias(gold[:200], expected[:200], variance[:200])
        figures = Figures(float(expected[200:].sum()), float(variance[200:].sum()))
        found, _ = interval(figures, 0.9, known)
        errors.append((abs(found - gold[200:].sum()), abs(figures.expected - gold[200:].sum())))
    ours, plain = np.mean(errors, axis=0)
    assert ours < 0.4 * plain


def test_an_empty_sample_changes_little():
    nothing = np.zeros(10)
    known = estimate_bias(nothing, nothing, nothing)
    assert known.ratio == pytest.approx(1.0)
    count, (low, high) = interval(Figures(10.0, 4.0), 0.9, known)
    assert count == pytest.approx(10.0)
    assert low < 6
    assert high > 14  # the factor is anything


def test_small_and_certain_counts():
    assert interval(Figures(), 0.9) == (0.0, (0, 0))
    assert interval(Figures(7.0), 0.9) == (7.0, (7, 7))
    _, (low, high) = interval(Figures(0.3, 0.25), 0.9)
    assert (low, high) == (0, 1)
    _, (low, high) = interval(Figures(1e6, 1e6), 0.9)  # the normal interval: 1.645 deviations
    assert low == pytest.approx(1e6 - 1645, abs=2)
    assert high == pytest.approx(1e6 + 1645, abs=2)
    _, (low, high) = interval(Figures(1e9, 1.0), 0.9)
    assert (low, high) == (10**9 - 2, 10**9 + 2)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, float("nan")])
def test_wrong_levels(level):
    with pytest.raises(ArgumentError, match="level must be between 0 and 1"):
        interval(Figures(1.0, 1.0), level)
