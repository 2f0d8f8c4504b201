"""Confusions, worst sentences and calibration of a parse."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import arbora
from arbora import ArboraError, Sentence
from arbora.evaluation import (
    Confusion,
    analyse,
    analyse_text,
    calibration,
    evaluate,
    evaluate_text,
)
from arbora.evaluation.confusion import shortened
from tests.evaluation.sentences import perturbed, sentence

DEV = "examples/treebank/dev.conllu"


def with_probabilities(sentences, rng, share=1.0):
    """The same with ArcProb in MISC of some sentences."""
    for one in sentences:
        if rng.random() < share:
            one = one.with_tree(one.heads, misc={"ArcProb": np.round(rng.random(len(one)), 4)})
        yield one


@pytest.fixture(scope="module")
def gold():
    return list(arbora.read_conllu(DEV))


@pytest.fixture
def system(gold, rng):
    return list(with_probabilities(perturbed(gold, rng), rng, 0.7))


def slow_analysis(gold, system):
    """Word by word, with the rule of CoNLL-U: all words, labels without subtypes."""
    labels, heads, wrong, chances, right = Counter(), Counter(), [], [], []
    for a, b in zip(gold, system, strict=True):
        errors = [0, 0]
        for i in range(len(a)):
            pair = tuple(one.labels[i].partition(":")[0] for one in (a, b))
            labels[pair] += 1
            is_right = a.heads[i] == b.heads[i]
            errors[0] += not is_right
            errors[1] += not is_right or pair[0] != pair[1]
            if not is_right:
                tags = ["root" if h == 0 else a.upos[h - 1] for h in (a.heads[i], b.heads[i])]
                heads[tuple(tags)] += 1
            if "ArcProb" in b.misc[i]:
                chances.append(float(b.misc[i].rpartition("ArcProb=")[2].partition("|")[0]))
                right.append(is_right)
        wrong.append(tuple(errors))
    return labels, heads, wrong, calibration(chances, right, 10)


def test_against_the_slow_way(gold, system):
    found = analyse(gold, system)
    labels, heads, wrong, expected = slow_analysis(gold, system)
    assert found.scores == evaluate(gold, system)
    assert found.labels.counts == labels
    assert found.heads.counts == heads
    assert [(one.wrong_heads, one.wrong) for one in found.sentences] == wrong
    assert found.calibration == expected


def test_same_words_as_text(gold, system):
    """Aligned words are all words if the words are the same."""
    found, text = analyse(gold, system), analyse_text(gold, system)
    assert text.scores.to_dict() == evaluate_text(gold, system).to_dict()
    assert text.labels == found.labels
    assert text.heads == found.heads
    assert text.sentences == found.sentences
    assert text.calibration == found.calibration


def test_counts_add_up(gold, system):
    found = analyse(gold, system)
    scores = found.scores
    assert sum(found.labels.counts.values()) == scores.tokens
    wrong = sum(found.heads.counts.values())
    assert scores.uas == pytest.approx(100 * (1 - wrong / scores.tokens))
    assert sum(one.wrong_heads for one in found.sentences) == wrong
    all_wrong = sum(one.wrong for one in found.sentences)
    assert scores.las == pytest.approx(100 * (1 - all_wrong / scores.tokens))


def test_worst(gold, system):
    found = analyse(gold, system)
    worst = found.worst(3)
    assert len(worst) == 3
    errors = sorted((one.wrong for one in found.sentences), reverse=True)
    assert [one.wrong for one in worst] == errors[:3]
    first = gold[worst[0].number - 1]
    assert worst[0].name == (first.sent_id or "")
    assert worst[0].words == len(first)
    assert worst[0].text == shortened(first.text, 200)
    assert analyse(gold, gold).worst(5) == ()
    with pytest.raises(ArboraError, match="count"):
        found.worst(0)


def test_unaligned_words_are_wrong():
    """Gold has two words where the system has one."""
    gold = Sentence.from_words(
        ["can", "not", "go"],
        heads=[3, 3, 0],
        labels=["aux", "advmod", "root"],
        upos=["AUX", "PART", "VERB"],
        misc=["SpaceAfter=No", "_", "_"],
    )
    system = Sentence.from_words(
        ["cannot", "go"],
        heads=[0, 1],
        labels=["root", "dep"],
        upos=["AUX", "VERB"],
        misc=["_", "ArcProb=0.75"],
    )
    found = analyse_text([gold], [system])
    assert [(one.words, one.wrong_heads, one.wrong) for one in found.sentences] == [(3, 3, 3)]
    assert found.labels.counts == {("root", "dep"): 1}
    # the head of "go" is no word of gold: its own tag is taken
    assert found.heads.counts == {("root", "AUX"): 1}
    assert found.calibration is not None
    assert (found.calibration.count, found.calibration.accuracy) == (1, 0.0)


def test_rules_leave_words_out():
    """CoNLL-X does not count punctuation; objects need no UPOS, MISC or comments."""
    gold = [sentence("a b .", [2, 0, 2], "x y z", "A B .")]
    system = [sentence("a b .", [0, 1, 1], "x w w", "A B .")]
    found = analyse(gold, system)
    assert found.labels.counts == {("x", "x"): 1, ("y", "w"): 1}
    assert found.heads.counts == {("B", "root"): 1, ("root", "A"): 1}
    assert found.calibration is None
    assert found.sentences[0].text == "a b ."
    assert found.sentences[0].wrong == 2


def test_probabilities_of_parsed_sentences(gold):
    """Parsed sentences have probabilities without MISC."""
    parsed = [
        SimpleNamespace(forms=one.forms, xpos=one.xpos, heads=one.heads, labels=one.labels,
                        format=one.format, arc_probabilities=np.full(len(one), 0.5))
        for one in gold[:3]
    ]  # fmt: skip
    found = analyse(gold[:3], parsed).calibration
    assert found is not None
    assert (found.confidence, found.accuracy, found.ece) == (0.5, 1.0, 0.5)


def test_rows_of_a_table():
    table = Confusion.of("label", [("obj", "obl"), ("obj", "obj"), ("obj", "obl"), ("a", "b")])
    assert table.rows() == [("obj", "obl", 2, pytest.approx(200 / 3)), ("a", "b", 1, 100.0)]
    assert table.rows(1) == table.rows()[:1]
    assert table.in_gold("obj") == 3
    assert table.to_dict() == {"obj": {"obl": 2, "obj": 1}, "a": {"b": 1}}
    heads = Confusion.of("head", [("NOUN", "NOUN"), ("NOUN", "VERB")])
    assert [row[:3] for row in heads.rows()] == [("NOUN", "NOUN", 1), ("NOUN", "VERB", 1)]


def test_shown(gold, system):
    found = analyse(gold, system)
    assert "expected calibration error" in str(found)
    assert "gold label" in str(found)
    for page in (found._repr_html_(), analyse_text(gold, system)._repr_html_()):
        assert page.count("<table>") == 4
        assert "gold head&#x27;s tag" in page or "gold head's tag" in page
    assert analyse(gold, gold)._repr_html_().count("<table>") == 3
    assert set(found.to_dict()) >= {
        "uas",
        "label_confusion",
        "head_confusion",
        "worst",
        "calibration",
    }


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("one two", 10, "one two"),
        ("one two three", 10, "one two…"),
        ("onetwothreefour", 10, "onetwothr…"),
    ],
)
def test_shortened(text, most, expected):
    assert shortened(text, most) == expected
    assert len(shortened(text, most)) <= most
