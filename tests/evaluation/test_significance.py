"""Significance tests against enumeration, by hand, and on data with known results."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from arbora import AlignmentError, ArgumentError
from arbora.evaluation import compare, evaluate
from arbora.evaluation.significance import bootstrap_interval, permutation_test, sign_test
from tests.evaluation.sentences import sentence


def enumerated_p(gain):
    """Enumeration of all ways of swapping A and B."""
    sums = [
        abs(sum(g if keep else -g for g, keep in zip(gain, kept, strict=True)))
        for kept in itertools.product([False, True], repeat=len(gain))
    ]
    return sum(s >= abs(sum(gain)) for s in sums) / len(sums)


@pytest.mark.parametrize(
    "gain",
    [[1], [0, 0], [1, 1, 1, 1, 1], [3, -1, 2, 0, 1], [2, 2, -1, -1, 4, 1, -3], [1, -1], [5, 1, 1]],
)
def test_permutations_against_enumeration(gain, rng):
    n = 40_000
    p = permutation_test(np.array(gain), n, rng)
    expected = enumerated_p(gain)
    error = math.sqrt(expected * (1 - expected) / n)
    assert abs(p - expected) <= 5 * error + 1 / n  # five standard errors of a sampled share


def test_the_observed_assignment_is_a_permutation(rng):
    """So p is never 0, however large the difference."""
    assert permutation_test(np.ones(200, dtype=np.int64), 100, rng) == 1 / 101


def sign_p_by_hand(a, b):
    n = a + b
    as_uneven = [k for k in range(n + 1) if math.comb(n, k) <= math.comb(n, a)]
    return sum(math.comb(n, k) for k in as_uneven) / 2**n


@pytest.mark.parametrize(
    ("a", "b"), [(0, 1), (1, 1), (0, 5), (2, 9), (9, 2), (50, 50), (30, 55), (300, 410)]
)
def test_sign_test_against_the_binomial_sum_and_scipy(a, b):
    assert sign_test(a, b) == pytest.approx(sign_p_by_hand(a, b), rel=1e-11)
    assert sign_test(a, b) == pytest.approx(binomtest(a, a + b).pvalue, rel=1e-11)


def test_no_difference_is_no_evidence(rng):
    assert sign_test(0, 0) == 1
    assert permutation_test(np.zeros(9, dtype=np.int64), 100, rng) == 1


def test_bootstrap_interval_of_a_normal_mean(rng):
    """Over many sentences of equal length it is the textbook interval of a mean."""
    gain = rng.integers(-3, 5, size=2_000)
    tokens = np.full(2_000, 10)
    low, high = bootstrap_interval(gain, tokens, 20_000, rng)
    middle, spread = 10 * gain.mean(), 10 * 1.96 * gain.std() / math.sqrt(2_000)
    assert low == pytest.approx(middle - spread, abs=0.03 * spread * 2)
    assert high == pytest.approx(middle + spread, abs=0.03 * spread * 2)


def test_bootstrap_draws_sentences_with_their_words(rng):
    """Two sentences: half of the draws take both, a quarter each the same one twice."""
    low, high = bootstrap_interval(np.array([1, 0]), np.array([2, 8]), 1_000, rng)
    assert (low, high) == (0, 50)


@pytest.fixture
def three():
    """Sentences of 5 words; A has the first k heads right, B the first l."""
    gold, a, b = [], [], []
    text, right, wrong = "a b c d e", [0, 1, 1, 1, 1], [2, 0, 2, 2, 2]
    for k, l in [(5, 5), (3, 5), (2, 4), (5, 4), (0, 3), (1, 2)]:  # noqa: E741  # beside k
        gold.append(sentence(text, right, "r x x x x"))
        a.append(sentence(text, right[:k] + wrong[k:], "r x x x x"))
        b.append(sentence(text, right[:l] + wrong[l:], "r y x x x"))
    return gold, a, b


def test_comparison(three):
    gold, a, b = three
    answer = compare(*three)
    assert answer.uas.a == evaluate(gold, a).uas == pytest.approx(100 * 16 / 30)
    assert answer.uas.b == evaluate(gold, b).uas == pytest.approx(100 * 23 / 30)
    assert answer.las.b == evaluate(gold, b).las
    assert answer.uas.difference == pytest.approx(100 * 7 / 30)
    assert (answer.uas.a_better, answer.uas.b_better, answer.uas.ties) == (1, 4, 1)
    assert answer.uas.sign_p == pytest.approx(12 / 32)
    assert answer.uas.permutation_p == pytest.approx(enumerated_p([0, 2, 2, -1, 3, 1]), abs=0.02)
    low, high = answer.uas.interval
    assert low < answer.uas.difference < high
    assert (answer.rule, answer.sentences, answer.tokens) == ("conllx", 6, 30)


def test_swapping_the_systems_turns_the_signs(three):
    gold, a, b = three
    one, other = compare(gold, a, b), compare(gold, b, a)
    assert one.uas.difference == -other.uas.difference
    assert one.uas.permutation_p == other.uas.permutation_p
    assert one.las.sign_p == other.las.sign_p


def test_the_seed_decides(three):
    assert compare(*three, seed=3) == compare(*three, seed=3)
    assert compare(*three, seed=3).uas != compare(*three, seed=4).uas


def test_many_sentences_fit_in_memory(rng):
    """More sentences than are drawn at a time."""
    low, high = bootstrap_interval(np.ones(3_000_000, int), np.full(3_000_000, 4), 2, rng)
    assert low == high == 25


def test_plain_values_and_text(three):
    answer = compare(*three)
    plain = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert plain["uas"]["interval"] == list(answer.uas.interval)
    assert plain["las"]["b"] == answer.las.b
    assert "rule conllx" in str(answer)
    assert "+23.33" in str(answer)
    assert max(map(len, str(answer).splitlines())) <= 80


def test_refusals(three):
    gold, a, b = three
    with pytest.raises(AlignmentError, match="system B ends after 5 sentences"):
        compare(gold, a, b[:5])
    with pytest.raises(ArgumentError, match="between 1 and"):
        compare(gold, a, b, permutations=0)
    dots = [sentence(".", [0])]
    with pytest.raises(ArgumentError, match="excludes every word"):
        compare(dots, dots, dots)


def test_punctuation_is_left_out():
    """B gains only the full stop, and the second sentence has no counted word."""
    gold = [sentence("go on .", [0, 1, 1]), sentence("?", [0])]
    a = [sentence("go on .", [0, 1, 2]), sentence("?", [0])]
    answer = compare(gold, a, gold)
    assert (answer.tokens, answer.uas.difference, answer.uas.b_better) == (2, 0, 0)
    assert compare(gold, a, gold, "conll2018").uas.b_better == 1


def test_sentences_without_words_are_not_drawn(rng):
    """Drawing only such sentences would divide by 0."""
    assert bootstrap_interval(np.array([1, 0]), np.array([2, 0]), 100, rng) == (50, 50)
