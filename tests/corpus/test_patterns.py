"""The pattern language: what it reads, what it refuses and where, and what matches."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora import ArgumentError, Sentence
from arbora.corpus import PatternError, read_pattern
from arbora.corpus.estimator import Grouping, count_annotated
from arbora.data.treebank import read_treebank
from arbora.drawing.pointing import pointed
from arbora.testing.slow_counts import slow_value
from tests.toys import toy_sentence

READ = {
    "[upos=VERB] -obj-> [lemma=book]": 'w1:[upos="VERB"], w2:[lemma="book"], w1 -"obj"-> w2',
    "[] <-nsubj- [] -> []": 'w1:[], w2:[], w3:[], w2 -"nsubj"-> w1, w2 -> w3',
    "v:[] -nsubj:*|/obl.*/-> [], v -!obj-> o:[], v << o": "v:[], w2:[], o:[], "
    'v -nsubj:*|/obl.*/-> w2, v -!"obj"-> o, v << o',
    "[feats.Number!=Plur|Dual & form=/(?i)a/] < []": 'w1:[feats.Number!="Plur"|"Dual" & '
    "form=/(?i)a/], w2:[], w1 < w2",
    "ROOT -> [misc.X=_]": 'w2:[misc.X="_"], ROOT -> w2',
    'a:[lemma="a \\"b\\""]': 'a:[lemma="a \\"b\\""]',
    "a:[] <- b:[] -x-> c:[]": 'a:[], b:[], c:[], b -> a, b -"x"-> c',
}


def shown(error):
    return pointed(error.text, error.at)


REFUSED = {
    "": (0, "a word must come here"),
    "[upos=VERB": (10, "end in ]"),
    "[upos]": (5, "= or !="),
    "[head=1]": (1, "there is no column 'head'"),
    "[lemma.x=1]": (1, "only feats and misc have entries"),
    "[upos=]": (6, "a value must come here"),
    '[upos="VERB]': (6, 'a " is missing'),
    "[upos=/VERB]": (6, "a / is missing"),
    "[upos=/(/]": (7, "not a regular expression"),
    "[] -obj> []": (7, "ends in ->"),
    "[] <-obj []": (9, "ends in -"),
    "[] -obj->": (9, "a word must come here"),
    "[] []": (3, "an arc (-obj->)"),
    "[], []": (6, "not linked"),
    "[] -> x": (6, "there is no word x"),
    "a:[] -> a:[]": (8, "already a word a"),
    "a:[] -> a": (5, "linked to itself"),
    "a:[] -> b:[] -> a": (13, "cycle"),
    "a:[] -> b:[], c:[] -> b": (19, "two heads"),
    "[] -> ROOT": (3, "ROOT has no head"),
    "ROOT << []": (5, "ROOT has no place"),
    "ROOT": (0, "a word besides ROOT"),
    " -> ".join(["[]"] * 9): (48, "at most 8 words"),
}


@pytest.mark.parametrize("text", READ)
def test_patterns_are_read(text):
    found = read_pattern(text)
    assert str(found) == READ[text]
    assert str(read_pattern(str(found))) == str(found)


@pytest.mark.parametrize("text", REFUSED)
def test_errors_point_at_the_place(text):
    at, message = REFUSED[text]
    with pytest.raises(PatternError) as caught:
        read_pattern(text)
    assert message in str(caught.value)
    assert caught.value.at == at
    assert shown(caught.value).split("\n")[1] == " " * at + "^"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_the_caret_counts_cells_of_the_terminal():
    with pytest.raises(PatternError) as caught:
        read_pattern("[lemma=本] x")
    assert shown(caught.value).split("\n")[1] == " " * 11 + "^"


def test_wrong_types_and_endless_patterns():
    with pytest.raises(ArgumentError, match="must be a text, not int"):
        read_pattern(3)
    with pytest.raises(ArgumentError, match="at most 10000 characters"):
        read_pattern("[] -> " * 5000)


@given(st.text(alphabet='[]-><=!&|,:"/ \\*abROT.upos', max_size=40))
def test_any_text_is_a_pattern_or_an_error_with_a_place(text):
    found = failed = None
    try:
        found = read_pattern(text)
    except PatternError as error:
        failed = error
    if failed is None:
        assert str(read_pattern(str(found))) == str(found)
    else:
        assert 0 <= failed.at <= len(text)
        assert "\n" in shown(failed)


VALUES = st.text(alphabet='ab:*"\\/|& ]-é', min_size=1, max_size=4)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(
    st.lists(st.tuples(st.sampled_from(["=", "!="]), st.lists(VALUES, min_size=1)), max_size=3),
    st.none() | st.tuples(st.booleans(), st.lists(VALUES, min_size=1)),
)
def test_what_is_written_is_read(conditions, label):
    inside = " & ".join(
        f"lemma{sign}{'|'.join(map(quoted, values))}" for sign, values in conditions
    )
    link = "->" if label is None else f"-{'!' * label[0]}{'|'.join(map(quoted, label[1]))}->"
    found = read_pattern(f"[{inside}] {link} []")
    read = [
        (("!=" if one.values.negated else "="), [each.text for each in one.values.alternatives])
        for one in found.words[0].conditions
    ]
    assert read == [(sign, values) for sign, values in conditions]
    if label is not None:
        assert [one.text for one in found.arcs[0].label.alternatives] == label[1]
        assert found.arcs[0].label.negated == label[0]


def test_subtypes_alternatives_and_negation():
    labels = ["nsubj", "nsubj:pass", "obj", "nsubjx"]

    def allowed(label):
        return read_pattern(f"[] -{label}-> []").allowed(labels)[0].tolist()

    assert allowed("nsubj") == [True, False, False, False]
    assert allowed("nsubj:*") == [True, True, False, False]
    assert allowed("!nsubj:*") == [False, False, True, True]
    assert allowed("obj|nsubj:pass") == [False, True, True, False]
    assert allowed("/nsubj.*/") == [True, True, False, True]


PATTERNS = [
    "[]",
    "[upos=NOUN]",
    "[] -> []",
    "[upos=VERB] -nsubj|obj-> []",
    "[] -nsubj-> [] -> []",
    "[] <- [] -det-> []",
    "a:[] -> b:[], a -> c:[upos!=PUNCT], b << c",
    "ROOT -> [] -> []",
    "[upos=NOUN] < [upos=NOUN]",
    "a:[] -> b:[], b << c:[upos=DET]",
    "[] -> [] -> [] -!obj-> []",
    "a:[] -> b:[], a -> c:[], a -> d:[]",
]


@pytest.mark.parametrize("text", PATTERNS)
def test_matches_in_trees_are_those_of_all_choices_of_words(text, rng):
    pattern = read_pattern(text)
    sentences = [toy_sentence(rng, n, missing=0.1) for n in (1, 2, 5, 6, 4)]
    block = read_treebank(sentences)
    rows = count_annotated(pattern, block, Grouping(len(pattern.words) - 1, "upos"))
    expected = {}
    for i, sentence in enumerate(sentences):
        fits = [
            [word.is_root]
            + [
                not word.is_root and all(c.values.fit(sentence.upos[m]) for c in word.conditions)
                for m in range(len(sentence))
            ]
            for word in pattern.words
        ]

        def chance(number, m, sentence=sentence):
            return float(pattern.allowed(sentence.labels)[number][m - 1])

        for words, value in slow_value(pattern, fits, sentence.heads.tolist(), chance):
            if value:
                key = (i, sentence.upos[words[-1] - 1])
                expected[key] = expected.get(key, 0) + 1
    found = dict(
        zip(zip(rows.sentences.tolist(), rows.groups, strict=True), rows.best, strict=True)
    )
    assert found == expected


def test_columns_and_their_entries():
    sentence = Sentence.from_words(
        ["Men", "see"], ["NOUN", "VERB"], lemmas=["man", "see"], feats=["Number=Plur|X=y", "_"],
        misc=["Gloss=m", "_"], heads=[2, 0], labels=["nsubj", "root"],
    )  # fmt: skip
    block = read_treebank([sentence])

    def number(text):
        return float(count_annotated(read_pattern(text), block).best.sum())

    assert number("[feats.Number=Plur]") == 1
    assert number("[feats.Number!=Plur]") == 1
    assert number("[feats.Number=_]") == 1
    assert number("[misc.Gloss=m & lemma=man]") == 1
    assert number("[form=/[A-Z].*/] <-nsubj- [lemma=see|look]") == 1
    assert number("ROOT -root-> [upos=VERB] -nsubj-> []") == 1
    assert number("[] -obj-> []") == 0
    assert np.array_equal(
        count_annotated(read_pattern("[] -> [lemma=man]"), block).matched, [[2, 1]]
    )
