"""Doubt against the distributions themselves."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.annotation import doubt_about
from arbora.annotation.gains import gains_of
from arbora.data.treebank import read_treebank
from arbora.errors import ArgumentError
from tests.helpers import assert_close
from tests.small_parsers import at_temperature, sentences, trained

EXACT = [{}, {"labels": "joint"}, {"order": "sibling", "inference": "exact", "trees": "projective"}]


@pytest.fixture(params=EXACT, ids=["first", "joint", "second"])
def parser(request):
    return at_temperature(trained(**request.param), 2.5)


def cut(values, chosen):
    return np.split(values, np.cumsum([len(one) for one in chosen])[:-1])


def test_entropies_are_those_of_the_distribution(parser):
    chosen = sentences("test", 8)
    doubt = doubt_about(parser, read_treebank(chosen), keep_heads=False)
    heads = cut(doubt.head_entropies, chosen)
    for i, sentence in enumerate(chosen):
        trees = parser.distribution(sentence)
        assert_close(doubt.tree_entropies[i], trees.entropy(), rel=1e-8, abs=1e-9)
        arcs = np.asarray(trees.marginals)
        arcs = arcs.sum(axis=2) if arcs.ndim == 3 else arcs
        terms = np.where(arcs > 0, -arcs * np.log(np.where(arcs > 0, arcs, 1)), 0)
        assert_close(heads[i], terms.sum(axis=0)[1:], rel=1e-8, abs=1e-9)


def test_trees_and_probabilities_are_those_of_the_parser(parser):
    chosen = sentences("test", 8)
    doubt = doubt_about(parser, read_treebank(chosen), keep_heads=False)
    parsed = parser.parse(chosen)
    assert_close(doubt.probabilities, np.concatenate([one.arc_probabilities for one in parsed]))
    assert doubt.heads.tolist() == np.concatenate([one.heads for one in parsed]).tolist()
    names = [label for one in parsed for label in one.labels]
    assert [doubt.label_names[k] for k in doubt.labels] == names


def test_differing_words_are_those_of_map_and_mbr_trees():
    parser, chosen = at_temperature(trained(), 4.0), sentences("test", 20)
    doubt = doubt_about(parser, read_treebank(chosen), keep_heads=False, disagreement=True)
    expected = [
        trees.argmax().heads != trees.mbr().heads for trees in map(parser.distribution, chosen)
    ]
    assert doubt.differs.tolist() == np.concatenate(expected).tolist()
    assert doubt.differs.any()


def test_known_heads_are_kept_and_leave_no_doubt():
    parser, chosen = trained(), sentences("test", 8)
    doubt = doubt_about(parser, read_treebank(chosen))
    assert doubt.heads.tolist() == np.concatenate([one.heads for one in chosen]).tolist()
    assert_close(doubt.tree_entropies, np.zeros(8), abs=1e-6)
    assert_close(doubt.probabilities, np.ones(len(doubt.heads)), abs=1e-9)


def test_probabilities_of_the_heads_of_the_file():
    parser, chosen = trained(), sentences("test", 4)
    doubt = doubt_about(parser, read_treebank(chosen), keep_heads=False)
    for found, sentence in zip(cut(doubt.given, chosen), chosen, strict=True):
        marginals = parser.distribution(sentence).marginals
        assert_close(found, marginals[sentence.heads, np.arange(1, len(sentence) + 1)])


def test_expected_errors_are_those_of_many_samples():
    parser, chosen = at_temperature(trained(), 3.0), sentences("test", 5)
    block = read_treebank(chosen)
    doubt = doubt_about(parser, block, keep_heads=False)
    everything = np.ones(len(doubt.heads), dtype=bool)
    gains = gains_of("errors", doubt, everything, block.n_words)
    for i, (sentence, heads) in enumerate(zip(chosen, cut(doubt.heads, chosen), strict=True)):
        drawn = parser.distribution(sentence).sample(2000, seed=1)
        wrong = (drawn != heads).sum(axis=1)
        assert abs(wrong.mean() - gains.sentences[i]) < 5 * wrong.std() / 2000**0.5 + 1e-3


def test_margins_are_between_the_two_likeliest_heads():
    parser, chosen = at_temperature(trained(), 2.5), sentences("test", 8)
    block = read_treebank(chosen)
    doubt = doubt_about(parser, block, keep_heads=False)
    everything = np.ones(len(doubt.heads), dtype=bool)
    gains = gains_of("margin", doubt, everything, block.n_words)
    for i, sentence in enumerate(chosen):
        two = np.sort(np.asarray(parser.distribution(sentence).marginals)[:, 1:], axis=0)[-2:]
        found = cut(gains.words, chosen)[i]
        agree = cut(doubt.heads, chosen)[i] == parser.distribution(sentence).marginals[
            :, 1:
        ].argmax(0)
        assert_close(found[agree], 1 - (two[1] - two[0])[agree], abs=1e-9)
        assert (found[~agree] > 1).all()  # the tree has the second best head there
        assert_close(gains.sentences[i], found.sum())


def test_belief_propagation_has_no_map_tree():
    parser = trained(order="sibling", inference="bp")
    block = read_treebank(sentences("test", 2))
    assert np.isfinite(doubt_about(parser, block, keep_heads=False).tree_entropies).all()
    with pytest.raises(ArgumentError, match="best-scoring trees"):
        doubt_about(parser, block, keep_heads=False, disagreement=True)
