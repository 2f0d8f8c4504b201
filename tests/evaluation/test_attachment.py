"""Scores against hand-counted numbers and slow twins."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora import AlignmentError, ArgumentError
from arbora.evaluation import compare, evaluate
from arbora.evaluation.counts import Match
from arbora.evaluation.nonprojective import nonprojective_arcs
from tests.evaluation.sentences import sentence

GOLD = [
    sentence("the dog barks loudly .", [2, 3, 0, 3, 3], "det nsubj root advmod punct"),
    sentence("it rains", [2, 0], "nsubj root"),
    sentence("a hearing is scheduled on it today", [2, 4, 4, 0, 2, 5, 4],
             "det nsubj aux root nmod obl advmod"),
    sentence("? !", [0, 1], "root punct"),
]  # fmt: skip
SYSTEM = [
    sentence("the dog barks loudly .", [2, 3, 0, 3, 2], "det obj root advmod punct"),
    sentence("it rains", [2, 0], "nsubj root"),
    sentence("a hearing is scheduled on it today", [2, 3, 0, 3, 4, 5, 2],
             "det nsubj root ccomp nmod obl advmod"),
    sentence("? !", [2, 0], "root punct"),
]  # fmt: skip


@pytest.fixture(scope="module")
def scores():
    return evaluate(GOLD, SYSTEM)


def test_words_and_sentences(scores):
    """13 words are scored; wrong heads: hearing, is, scheduled, on, today; wrong label: dog."""
    assert (scores.tokens, scores.sentences) == (13, 4)
    assert scores.uas == pytest.approx(100 * 8 / 13)
    assert scores.las == pytest.approx(100 * 7 / 13)


def test_whole_sentences(scores):
    """Of the three with words the first two have right heads, the second also right labels."""
    assert scores.complete == pytest.approx(100 * 2 / 3)
    assert scores.complete_labelled == pytest.approx(100 / 3)
    assert scores.root == pytest.approx(100 * 2 / 3)


def test_root_words_must_be_exactly_golds():
    gold = [sentence("a b c", [0, 1, 1])]
    assert evaluate(gold, [sentence("a b c", [0, 0, 1])]).root == 0
    assert evaluate(gold, [sentence("a b c", [0, 3, 1])]).root == 100


def test_labels(scores):
    """det: both right. nsubj: dog's label and hearing's head are wrong, it is right."""
    by = scores.by_label
    assert (by["det"].gold, by["det"].system, by["det"].correct) == (2, 2, 2)
    assert (by["nsubj"].gold, by["nsubj"].system, by["nsubj"].correct) == (3, 2, 1)
    assert by["nsubj"].precision == 50
    assert by["nsubj"].recall == pytest.approx(100 / 3)
    assert by["nsubj"].f1 == 40
    assert (by["obj"].gold, by["obj"].system, by["obj"].correct) == (0, 1, 0)
    assert by["obj"].recall is None
    assert list(by)[:2] == ["root", "nsubj"]
    assert sum(match.correct for match in by.values()) == 7
    assert "punct" not in by


def test_distances(scores):
    """Gold: 3 roots; distance 1: the dog loudly it a is it; 2: hearing; 3: on today."""
    by = scores.by_distance
    assert {name: match.gold for name, match in by.items()} == {
        "root": 3, "1": 7, "2": 1, "3-6": 2, "7-10": 0, "11+": 0,
    }  # fmt: skip
    assert sum(match.system for match in by.values()) == 13
    assert sum(match.correct for match in by.values()) == 8
    assert by["1"].correct == 6
    assert by["root"].correct == 2


def test_lengths():
    gold = [sentence(" ".join("w" * n), range(n)) for n in (1, 10, 11, 50, 51, 200)]
    by = evaluate(gold, gold).by_length
    assert [by[name].tokens for name in by] == [11, 11, 0, 0, 50, 251]
    assert [by[name].sentences for name in by] == [2, 1, 0, 0, 1, 2]
    assert [by[name].uas for name in by] == [100, 100, None, None, 100, 100]


def test_nonprojective_arcs_of_a_known_sentence(scores):
    """hearing -> on passes over "is" and "scheduled", which "hearing" does not dominate."""
    assert (scores.nonprojective.gold, scores.nonprojective.found) == (1, 0)
    assert scores.nonprojective.recall == 0
    # The system's: hearing -> today passes over "is", "scheduled", "on" and "it".
    assert (scores.nonprojective.system, scores.nonprojective.right) == (1, 0)


def test_an_arc_may_be_nonprojective_in_one_tree_only():
    """2 -> 4 is right in both; only in gold the word between hangs elsewhere."""
    gold = [sentence("a b c d", [0, 1, 1, 2])]
    system = [sentence("a b c d", [0, 1, 2, 2])]
    arcs = evaluate(gold, system).nonprojective
    assert (arcs.gold, arcs.found, arcs.recall) == (1, 1, 100)
    assert (arcs.system, arcs.right, arcs.precision) == (0, 0, None)


def slow_nonprojective(heads):
    """The definition, word by word."""
    marks = []
    for word, head in enumerate(heads, start=1):
        between = range(min(word, head) + 1, max(word, head))
        marks.append(head > 0 and not all(dominates(heads, head, b) for b in between))
    return marks


def dominates(heads, head, word):
    for _ in heads:
        if word <= 0:
            return False
        word = heads[word - 1]
        if word == head:
            return True
    return False


@given(st.data())
def test_nonprojective_arcs_against_the_definition(data):
    """Over several sentences at once, with missing heads, several roots and cycles."""
    lengths = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    sentences = [data.draw(st.lists(st.integers(-1, n), min_size=n, max_size=n)) for n in lengths]
    heads = np.array([head for heads in sentences for head in heads], dtype=np.int32)
    found = nonprojective_arcs(heads, np.cumsum([0, *lengths]))
    assert found.tolist() == [mark for heads in sentences for mark in slow_nonprojective(heads)]


def test_a_missing_head_is_wrong():
    scores = evaluate([sentence("a b", [0, 1])], [sentence("a b", [-1, 1])])
    assert scores.uas == 50
    assert scores.by_distance["root"].system == 0


def test_plain_values(scores):
    answer = json.loads(json.dumps(scores.to_dict(), allow_nan=False))
    assert answer["uas"] == scores.uas
    assert answer["las"] == scores.las
    assert answer["by_label"]["nsubj"]["f1"] == 40
    assert answer["nonprojective"]["recall"] == 0
    assert answer["by_length"]["1-10"]["tokens"] == 13


def test_text(scores):
    text = str(scores)
    assert "13 words in 4 sentences\nrule conllx: " in text
    assert "61.54" in text
    assert "All words" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ([*GOLD[:3]], r"the system ends after 3 sentences, but the gold continues"),
        ([*GOLD, GOLD[0]], r"the gold ends after 4 sentences, but the system continues"),
        ([GOLD[0], sentence("it pours", [2, 0])],
         r"sentence 2, word 2 is “rains” in the gold but “pours” in the system: "),
        ([GOLD[0], sentence("it", [0])], r"sentence 2, word 2 is “rains” .* but missing in"),
        ([GOLD[0], sentence("it rains !", [2, 0, 2])], r"word 3 is missing in the gold but “!”"),
    ],
)  # fmt: skip
def test_the_first_difference_is_named(system, message):
    with pytest.raises(AlignmentError, match=message):
        evaluate(GOLD, system)


def test_only_words_with_a_gold_head_count():
    gold = [
        sentence("a b c .", [2, -1, 2, -1], "x y z p"),
        sentence("d e", [-1, -1], "x y"),
        sentence("f g h i", [3, 4, 0, 3], "x y z x"),
    ]
    system = [
        sentence("a b c .", [2, 0, 1, -1], "x y z q"),
        sentence("d e", [-1, 0], "x y"),
        sentence("f g h i", [3, 4, 0, 3], "x y z y"),
    ]
    scores = evaluate(gold, system)
    assert (scores.tokens, scores.unannotated, scores.sentences) == (6, 4, 3)
    assert scores.uas == pytest.approx(500 / 6)
    assert scores.las == pytest.approx(400 / 6)
    assert scores.complete == scores.root - 50 == 50  # of two sentences: one has nothing to count
    assert scores.by_label["y"] == Match(1, 2, 1)
    assert scores.by_distance["1"] == Match(3, 2, 2)
    assert scores.by_length["1-10"].tokens == scores.with_punctuation.tokens == 6
    assert (scores.nonprojective.gold, scores.nonprojective.system) == (1, 1)
    assert "4 words without a head in gold are excluded" in str(scores)
    assert "without a head" not in str(evaluate(gold[2:], system[2:]))
    compared = compare(gold, system, system, permutations=1)
    assert (compared.tokens, compared.unannotated) == (6, 4)
    assert compared.uas.a == scores.uas
    assert "4 words without a head in gold are excluded" in str(compared)


def test_gaps_that_have_no_crossing_arcs():
    """A word under an unknown head may hang below the arc that spans it."""
    gold = [sentence("a b c", [3, -1, 0])]
    assert evaluate(gold, [sentence("a b c", [3, 3, 0])]).nonprojective.gold == 0


def test_nothing_to_score():
    with pytest.raises(ArgumentError, match="has no words"):
        evaluate([], [])
    with pytest.raises(ArgumentError, match="excludes every word"):
        evaluate(GOLD[3:], SYSTEM[3:])
    for question in (evaluate, lambda gold, system: compare(gold, system, system)):
        with pytest.raises(ArgumentError, match="no word has a head in gold"):
            question([sentence("a b", [-1, -1])], [sentence("a b", [0, 1])])


@given(st.data())
def test_laws(data):
    """Exact is at most labelled is at most unlabelled; the parts sum to the whole."""
    n = data.draw(st.integers(1, 8))
    names = st.sampled_from(["a", "a:x", "a:y", "b"])
    draw = [
        sentence(
            " ".join(["w"] * n),
            data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n)),
            " ".join(data.draw(st.lists(names, min_size=n, max_size=n))),
            format="conllu",
        )
        for _ in range(2)
    ]
    scores = evaluate(draw[:1], draw[1:])
    assert scores.las_exact <= scores.las <= scores.uas
    assert scores.complete_labelled <= scores.complete <= scores.root
    correct = sum(match.correct for match in scores.by_label.values())
    assert math.isclose(scores.las, 100 * correct / n)
    assert set(scores.by_label) <= {"a", "b"}
