"""The order of a review, and the disagreements of two annotators."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import Sentence
from arbora.annotation import review_differences, review_order
from arbora.errors import ArgumentError
from tests.small_parsers import sentences, trained


def with_wrong_head(sentence):
    """The sentence with one head that forms no cycle and is wrong."""
    heads = sentence.heads.copy()
    root = int(np.flatnonzero(heads == 0)[0]) + 1
    word = next(w for w in range(1, len(heads) + 1) if heads[w - 1] not in (0, root) and w != root)
    heads[word - 1] = root
    return sentence.with_tree(heads), word


@pytest.mark.parametrize("by", ["errors", "margin", "entropy", "disagreement"])
def test_the_greatest_gain_comes_first(by):
    found = review_order(trained(), sentences("test", 20), by)
    scores = [look.score for look in found]
    assert scores == sorted(scores, reverse=True)
    assert len({look.sentence for look in found}) == len(found) <= 20
    arcs = review_order(trained(), sentences("test", 20), by, arcs=True)
    assert len(arcs) > len(found) or by == "disagreement"


def test_a_wrong_head_of_the_file_comes_first():
    train = list(sentences("train", 40))  # the parser knows them
    wrong, word = with_wrong_head(train[7])
    train[7] = wrong
    first = review_order(trained(), train, arcs=True)[0]
    assert (first.sentence, first.word) == (7, word)
    assert "file:" in first.reason


def test_margins_are_those_of_the_heads_of_the_file():
    parser, chosen = trained(), sentences("test", 6)
    looks = review_order(parser, chosen, "margin", arcs=True)
    found = {(look.sentence, look.word): look.score for look in looks}
    for i, sentence in enumerate(chosen):
        marginals = np.asarray(parser.distribution(sentence).marginals)
        for word, head in enumerate(sentence.heads.tolist(), 1):
            others = np.delete(marginals[:, word], head).max()
            gain = 1 - marginals[head, word] + others
            assert found.get((i, word), 0.0) == pytest.approx(gain, abs=1e-6)


def test_missing_heads_count_as_the_proposal():
    bare = [Sentence.from_words(one.forms, one.upos, one.xpos, lemmas=one.lemmas, feats=one.feats)
            for one in sentences("test", 5)]  # fmt: skip
    parsed = trained().parse(bare)
    looks = {look.sentence: look for look in review_order(trained(), bare)}
    for i, one in enumerate(parsed):
        assert looks[i].score == pytest.approx(float((1 - one.arc_probabilities).sum()))


def test_differences_of_annotators_one_by_one():
    gold = list(sentences("test", 10))
    other = list(gold)
    other[3], word = with_wrong_head(gold[3])
    other[6] = gold[6].with_tree(gold[6].heads, ["dep", *gold[6].labels[1:]])
    looks = review_differences(gold, other)
    assert [look.sentence for look in looks] == [3, 6]
    assert looks[0].word == word
    assert "head: A" in looks[0].reason
    assert "label: A" in looks[1].reason
    assert not review_differences(gold, gold)


def test_an_empty_file():
    with pytest.raises(ArgumentError, match="no sentences"):
        review_order(trained(), [])
