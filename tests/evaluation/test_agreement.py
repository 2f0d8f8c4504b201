"""Agreement of annotators against definitions in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import Sentence
from arbora.errors import AlignmentError, ArgumentError
from arbora.evaluation import agreement
from arbora.evaluation.resampling import resampled_counts

LABELS, TAGS = ("nsubj", "obj", "det"), ("NOUN", "VERB")


@st.composite
def annotations(draw):
    """Two annotations of the same random words."""
    pairs = []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 6))
        both = []
        for _ in range(2):
            heads = [
                draw(st.sampled_from([h for h in range(-1, n + 1) if h != w]))
                for w in range(1, n + 1)
            ]
            labels = [draw(st.sampled_from(LABELS)) for _ in range(n)]
            tags = [draw(st.sampled_from(TAGS)) for _ in range(n)]
            both.append(
                Sentence.from_words([f"w{i}" for i in range(n)], tags, heads=heads, labels=labels)
            )
        pairs.append(both)
    return pairs


def slow_kappa(observed, expected):
    return None if expected > 1 - 1e-12 else (observed - expected) / (1 - expected)


def slow_head_kappa(pairs):
    """Offsets of each annotator, and for every word the chance that two draws are equal."""
    words = [
        (len(a), w, int(a.heads[w - 1]), int(b.heads[w - 1]))
        for a, b in pairs
        for w in range(1, len(a) + 1)
        if a.heads[w - 1] >= 0 and b.heads[w - 1] >= 0
    ]

    def offset(head, word):
        return "root" if head == 0 else head - word

    counts = [Counter(offset(row[2 + k], row[1]) for row in words) for k in (0, 1)]
    chance = 0.0
    for n, word, *_ in words:
        possible = [h for h in range(n + 1) if h != word]
        drawn = []
        for count in counts:
            weights = [count[offset(h, word)] for h in possible]
            drawn.append([weight / sum(weights) for weight in weights])
        chance += sum(p * q for p, q in zip(*drawn, strict=True))
    equal = sum(row[2] == row[3] for row in words)
    return slow_kappa(equal / len(words), chance / len(words))


def slow_label_kappa(pairs):
    words = [
        (a.labels[w], b.labels[w])
        for a, b in pairs
        for w in range(len(a))
        if a.heads[w] >= 0 and b.heads[w] >= 0
    ]
    first, second = (Counter(row[k] for row in words) for k in (0, 1))
    expected = sum(first[x] * second[x] for x in first) / len(words) ** 2
    return slow_kappa(sum(x == y for x, y in words) / len(words), expected)


@settings(max_examples=80)
@given(pairs=annotations())
def test_kappas_by_their_definitions(pairs):
    known = any(x >= 0 and y >= 0 for a, b in pairs for x, y in zip(a.heads, b.heads, strict=True))
    if not known:
        with pytest.raises(ArgumentError, match="no word has a head in both"):
            agreement([a for a, _ in pairs], [b for _, b in pairs], samples=5)
        return
    found = agreement([a for a, _ in pairs], [b for _, b in pairs], samples=20)
    assert found.kappas["head"].kappa == pytest.approx(slow_head_kappa(pairs), abs=1e-9)
    assert found.kappas["label"].kappa == pytest.approx(slow_label_kappa(pairs), abs=1e-9)
    other = agreement([b for _, b in pairs], [a for a, _ in pairs], samples=20)
    assert other.kappas["head"].kappa == pytest.approx(found.kappas["head"].kappa)
    assert other.uas == found.uas
    differing = {(one.sentence, one.word) for one in found.disagreements}
    for number, (a, b) in enumerate(pairs, 1):
        for w in range(len(a)):
            both = a.heads[w] >= 0 and b.heads[w] >= 0
            differs = both and (a.heads[w] != b.heads[w] or a.labels[w] != b.labels[w])
            assert ((number, w + 1) in differing) == (differs or a.upos[w] != b.upos[w])


def test_the_same_file_agrees():
    rng = np.random.default_rng(0)
    one = [
        Sentence.from_words(
            ["a", "b", "c"], rng.choice(TAGS, 3).tolist(), heads=[2, 0, 2],
            labels=rng.choice(LABELS, 3).tolist(),
        )
        for _ in range(20)
    ]  # fmt: skip
    found = agreement(one, one, samples=50)
    assert found.uas.value == found.las.value == 100
    assert all(kappa.kappa == pytest.approx(1) for kappa in found.kappas.values())
    assert not found.disagreements
    assert found.to_dict()["differing_words"] == 0
    assert "kappa head" in str(found)


def test_intervals_surround_the_figures_and_depend_on_the_seed_only():
    rng = np.random.default_rng(4)
    a, b = [], []
    for _ in range(60):
        heads = [[0, 1, 1], [2, 0, 2]]
        picked = [heads[k] for k in (rng.random(2) < [0.3, 0.5]).astype(int)]
        for side, chosen in zip((a, b), picked, strict=True):
            labels = rng.choice(LABELS, 3).tolist()
            side.append(Sentence.from_words(["x", "y", "z"], heads=chosen, labels=labels))
    found = agreement(a, b, samples=400, seed=3)
    assert found == agreement(a, b, samples=400, seed=3)
    assert found != agreement(a, b, samples=400, seed=4)
    low, high = found.uas.interval
    assert low < found.uas.value < high
    low, high = found.kappas["label"].interval
    assert low < found.kappas["label"].kappa < high
    # The standard error of the mean over sentences, about which the bootstrap should agree.
    shares = [np.mean(x.heads == y.heads) * 100 for x, y in zip(a, b, strict=True)]
    error = np.std(shares) / len(shares) ** 0.5
    assert (found.uas.interval[1] - found.uas.interval[0]) / 3.92 == pytest.approx(error, rel=0.15)


def test_one_label_only_has_no_kappa():
    one = [Sentence.from_words(["x", "y"], heads=[0, 1], labels=["dep", "dep"])]
    found = agreement(one, one, samples=10)
    assert found.kappas["label"].kappa is None
    assert found.kappas["label"].interval is None


def test_missing_tags_are_left_out():
    one = [Sentence.from_words(["x", "y"], heads=[0, 1], labels=["root", "dep"])]
    assert set(agreement(one, one, samples=5).kappas) == {"head", "label"}


def test_other_words_and_wrong_numbers():
    a = [Sentence.from_words(["x", "y"], heads=[0, 1], labels=["root", "dep"])]
    b = [Sentence.from_words(["x", "z"], heads=[0, 1], labels=["root", "dep"])]
    with pytest.raises(AlignmentError, match=r"in annotator A .* but “z” in annotator B"):
        agreement(a, b)
    with pytest.raises(ArgumentError, match="samples"):
        agreement(a, a, samples=0)


def test_samples_of_sentences():
    drawn = np.concatenate(list(resampled_counts(5, 300, 1)))
    assert drawn.shape == (300, 5)
    assert (drawn.sum(axis=1) == 5).all()
    assert abs(drawn.mean(axis=0) - 1).max() < 0.25
