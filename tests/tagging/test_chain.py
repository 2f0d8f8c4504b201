"""Linear chains against enumeration of all tag sequences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from arbora._core import tagging as kernels
from arbora.testing.slow_chain import SlowChain


def chain(seed, words, tags, scale):
    random = np.random.default_rng(seed)
    emissions = scale * random.normal(size=(words, tags))
    transitions = scale * random.normal(size=(tags + 1, tags + 1))
    return emissions, transitions


def sums(emissions, transitions):
    tags = emissions.shape[1]
    log_z, marginals, pairs = kernels.chain_sums(emissions.ravel(), transitions.ravel(), tags)
    return log_z, marginals.reshape(emissions.shape), pairs.reshape(transitions.shape)


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 300.0, 1500.0])
@pytest.mark.parametrize(("words", "tags"), [(1, 1), (1, 4), (2, 3), (5, 3), (4, 4)])
def test_sums_and_best_sequences(words, tags, scale):
    for seed in range(4):
        emissions, transitions = chain(seed, words, tags, scale)
        slow = SlowChain(emissions, transitions)
        log_z, marginals, pairs = sums(emissions, transitions)
        assert log_z == pytest.approx(slow.log_partition, rel=1e-12, abs=1e-10)
        np.testing.assert_allclose(marginals, slow.marginals(), atol=1e-10)
        expected = slow.pairs()
        expected[tags, tags] = pairs[tags, tags] = 0.0  # no sentence goes from start to end
        np.testing.assert_allclose(pairs, expected, atol=1e-10)
        score, best = kernels.chain_best(emissions.ravel(), transitions.ravel(), tags)
        assert score == pytest.approx(slow.best()[0], rel=1e-12, abs=1e-12)
        assert scale == 0.0 or tuple(best) == slow.best()[1]


@pytest.mark.parametrize("scale", [1.0, 900.0])
def test_forbidden_tags_are_exactly_impossible(scale):
    emissions, transitions = chain(3, 4, 3, scale)
    emissions[1, :2] = emissions[3, 1] = -np.inf
    slow = SlowChain(emissions, transitions)
    log_z, marginals, _ = sums(emissions, transitions)
    assert log_z == pytest.approx(slow.log_partition, rel=1e-12)
    np.testing.assert_allclose(marginals, slow.marginals(), atol=1e-10)
    assert marginals[1, 2] == 1.0
    assert (marginals[1, :2] == 0.0).all()
    assert marginals[3, 1] == 0.0
    _, best = kernels.chain_best(emissions.ravel(), transitions.ravel(), 3)
    assert tuple(best) == slow.best()[1]


def test_a_word_without_tags_has_no_sequence():
    emissions, transitions = chain(0, 3, 2, 1.0)
    emissions[1] = -np.inf
    with pytest.raises(ValueError, match="no sequence"):
        sums(emissions, transitions)


@pytest.mark.parametrize("spread", [1.0, 650.0])  # scaled sums, and sums in logarithms
def test_samples_are_exact(spread):
    emissions, transitions = chain(1, 3, 3, 0.8)
    extra = np.concatenate([emissions, np.full((3, 1), -spread)], axis=1)  # a tag never drawn
    wide = np.zeros((5, 5))
    keep = [0, 1, 2, 4]
    wide[np.ix_(keep, keep)] = transitions
    if spread > 100.0:
        wide[3, 3] = -650.0
    slow = SlowChain(extra, wide)
    count = 20_000
    draws = kernels.chain_samples(extra.ravel(), wide.ravel(), 4, count, 7).reshape(count, 3)
    numbers = draws @ np.array([16, 4, 1])
    expected = count * slow.probabilities
    often = expected > 5
    seen = np.bincount(numbers, minlength=64)
    observed = np.append(seen[often], seen[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    good = wanted > 0
    scaled = wanted[good] * observed[good].sum() / wanted[good].sum()
    assert chisquare(observed[good], scaled).pvalue > 1e-3
    assert observed[~good].sum() == 0
    again = kernels.chain_samples(extra.ravel(), wide.ravel(), 4, 10, 7).reshape(10, 3)
    assert (again == draws[:10]).all()


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs", "Cn"])))
def test_lower_case_is_that_of_python(text):
    known = [c for c in text if len(c.lower()) == 1 and ord(c) != 0x3A3]
    text = "".join(known)
    # Letters of Unicode versions after 14 may differ.
    ours, theirs = kernels.lower_case(text), "".join(c.lower() for c in text)
    assert all(a == b or c in (a, b) for a, b, c in zip(ours, theirs, text, strict=True))
    assert len(kernels.upper_case(text)) == len(text)


def test_case_of_common_letters():
    letters = "".join(map(chr, [*range(0x20, 0x530), *range(0x1E00, 0x2000)]))
    letters = "".join(c for c in letters if len(c.lower()) == 1)
    assert kernels.lower_case(letters) == "".join(c.lower() for c in letters)
    assert kernels.lower_case(kernels.upper_case("straße Ökonom ДЯДЯ")) == "straße ökonom дядя"
    assert kernels.title_case("éCOLE") == "École"
