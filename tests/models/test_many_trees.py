"""k-best lists and samples of many sentences agree with those of single distributions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import arbora

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"


EXACT = {"order": "grandsibling", "trees": "projective", "inference": "exact"}
MODELS = [
    {"labels": "staged"}, {"labels": "joint"}, {"labels": "none"}, EXACT,
    {"labels": "none", **EXACT, "order": "sibling", "learner": "mira"},
]  # fmt: skip


@pytest.fixture(scope="module", params=MODELS, ids=str)
def parser(request):
    made = arbora.Parser(**request.param, bits=14, label_bits=6, passes=1, threads=1)
    return made.fit(TREEBANK / "dev.conllu")


@pytest.fixture(scope="module")
def sentences():
    short = "1\tGo\tgo\tVERB\tVB\t_\t_\t_\t_\t_\n\n"
    import io

    first = list(arbora.read_conllu(io.BytesIO(short.encode())))
    return [*first, *list(arbora.read_conllu(TREEBANK / "test.conllu"))[:8]]


def test_kbest(parser, sentences):
    k = 4
    parsed = parser.parse(sentences, kbest=k)
    at = 0
    for sentence in sentences:
        trees = parser.distribution(sentence)
        expected = trees.kbest(k)
        for tree in expected:
            one = parsed[at]
            assert one.heads.tolist() == tree.heads.tolist()
            assert one.forms == sentence.forms
            labels = () if tree.labels is None else (tree.labels,)
            log_prob = trees.log_prob(tree.heads, *labels)
            if parser.options.labels == "staged":
                log_prob += np.log(one.label_probabilities).sum()
            assert one.log_prob == pytest.approx(log_prob, abs=1e-6)
            at += 1
    assert at == len(parsed)


def test_arc_probabilities_are_marginals(parser, sentences):
    for one, sentence in zip(parser.parse(sentences, samples=1, seed=3), sentences, strict=True):
        marginals = parser.distribution(sentence).marginals
        if marginals.ndim == 3:
            marginals = marginals.sum(axis=2)
        expected = marginals[one.heads, np.arange(1, len(sentence) + 1)]
        assert one.arc_probabilities == pytest.approx(expected, abs=1e-9)


def test_samples_follow_the_distribution(parser, sentences):
    sentence = sentences[1]
    count = 3000
    drawn = parser.parse([sentence], samples=count, seed=1)
    marginals = parser.distribution(sentence).marginals
    if marginals.ndim == 3:
        marginals = marginals.sum(axis=2)
    share = np.zeros_like(marginals)
    for one in drawn:
        share[one.heads, np.arange(1, len(sentence) + 1)] += 1 / count
    assert np.abs(share - marginals).max() < 0.05  # five deviations of a share of one half


def test_labels_are_drawn_too(parser, sentences):
    """Samples are labelled trees: the frequency of each label is its probability given the arc."""
    if parser.options.labels == "none":
        return
    drawn = parser.parse([sentences[1]], samples=4000, seed=5)
    arcs = Counter((int(h), m) for one in drawn for m, h in enumerate(one.heads) if h > 0)
    (head, word), _ = arcs.most_common(1)[0]
    drawn = [one for one in drawn if one.heads[word] == head]
    labels = [one.labels[word] for one in drawn]
    likely = {one.labels[word]: float(one.label_probabilities[word]) for one in drawn}
    assert len(likely) > 1
    for label, probability in likely.items():
        deviation = (probability * (1.0 - probability) / len(drawn)) ** 0.5
        assert labels.count(label) / len(drawn) == pytest.approx(probability, abs=5 * deviation)
    again = parser.parse([sentences[1]], samples=4000, seed=5)
    assert [one.labels[word] for one in again if one.heads[word] == head] == labels
