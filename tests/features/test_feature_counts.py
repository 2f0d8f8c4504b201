"""How many features a set of templates has, and what squeezing saves."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from arbora.data.treebank import read_treebank
from arbora.features import Encoder, FeatureSettings, count_features
from arbora.scoring import LinearScorer
from tests.toys import TREEBANK, toy_sentences


def counts(path, templates, heads=False, sample=1):
    block = read_treebank(path)
    settings = FeatureSettings.for_training(templates, block)
    encoded = Encoder(settings).encode(block)
    return count_features(encoded, settings, np.asarray(block.heads) if heads else None, sample)


def total(found):
    """Features, each counted once, whatever its direction and distance."""
    return sum(plain for plain, _ in found.values())


@pytest.mark.parametrize("templates", ["rich", "mcdonald2005", "squeezed2005"])
@pytest.mark.parametrize("gold", [False, True])
def test_counts_are_those_of_the_features_themselves(rng, templates, gold):
    sentences = toy_sentences(rng, [1, 4, 6])
    seen = set()
    for sentence in sentences:
        block = read_treebank([sentence])
        scorer = LinearScorer(FeatureSettings.for_training(templates, read_treebank(sentences)), 6)
        scorer.weights = np.zeros(scorer.size, dtype=np.float32)
        n = len(sentence)
        for m in range(1, n + 1):
            for h in range(n + 1):
                if h != m and (not gold or sentence.heads[m - 1] == h):
                    for name, atoms, variant, _, _ in scorer.explain_arc(block, None, h, m):
                        seen.add((name, tuple(atoms), variant))
    slow = {}
    for name, _, variant in seen:
        plain, twins = slow.get(name, (0, 0))
        slow[name] = (plain + (variant == 0), twins + (variant != 0))
    assert counts(sentences, templates, gold) == slow


def test_samples_estimate_the_counts():
    exact = total(counts(TREEBANK / "dev.conllu", "mcdonald2005"))
    assert total(counts(TREEBANK / "dev.conllu", "mcdonald2005", sample=16)) == pytest.approx(
        exact, rel=0.05
    )


def test_squeezing_leaves_a_small_part():
    """Smith & Smith (2007, section 5.2); with few different words the part is larger than there."""
    whole = counts(TREEBANK / "train.conllu", "mcdonald2005", sample=8)
    squeezed = counts(TREEBANK / "train.conllu", "squeezed2005", sample=8)
    assert squeezed.keys() < whole.keys()
    assert 6 < total(whole) / total(squeezed) < 60
    for name, (_, twins) in squeezed.items():
        lexical = "w" in name or "5" in name
        assert not lexical or (name in ("hw", "mw", "h5", "m5") and twins == 0)
        assert len(name.split()) < 4


@pytest.mark.skipif("ARBORA_TREEBANKS" not in os.environ, reason="needs ARBORA_TREEBANKS")
def test_squeezing_the_danish_of_the_paper():
    path = Path(os.environ["ARBORA_TREEBANKS"]) / "conllx_danish_ddt" / "train.conll"
    whole, squeezed = (counts(path, name, sample=64) for name in ("mcdonald2005", "squeezed2005"))
    assert total(whole) / total(squeezed) > 60
    both = [sum(map(sum, found.values())) for found in (whole, squeezed)]
    assert both[0] / both[1] > 50
