"""A sentence: columns to read, a value that does not change."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest

from arbora import ArgumentError, Sentence, ShapeError, read_conllu
from tests.data.zoo import HEADLESS, ODD_FILES, SEA, STORM, TAGGED_X, text


def one(*lines, **options):
    [sentence] = read_conllu(io.BytesIO(text(*lines)), **options)
    return sentence


def test_columns():
    s = one(*STORM)
    assert len(s) == 7
    assert s.ids == ["1", "2", "3", "4", "5", "6", "7"]
    assert s.forms == ["Do", "n't", "wake", "the", "old", "captain", "."]
    assert s.lemmas[1] == "not"
    assert s.upos == ["AUX", "PART", "VERB", "DET", "ADJ", "NOUN", "PUNCT"]
    assert s.xpos[0] == "VB"
    assert s.heads.tolist() == [3, 3, 0, 6, 6, 3, 3]
    assert s.heads.dtype == np.int32
    assert s.labels[2] == "root"
    assert s.deps[1] == "3:advmod"
    assert s.misc[5] == "SpaceAfter=No|Rank=1"
    assert s.comments == STORM[:2]
    assert s.text == "Don't wake the old captain."
    assert s.format == "conllu"
    assert s.line == 3
    assert repr(s) == 'Sentence("Don\'t wake the old captain.", 7 words)'
    assert s.to_conllu().encode() == bytes(s) == text(*STORM)


def test_missing_heads_and_text():
    s = one(*HEADLESS)
    assert s.heads.tolist() == [-1, 0, -1]
    assert s.text == "Wer wacht 海"
    assert s.comments == []


def test_morphology():
    s = one(*STORM)
    assert s.morphology[0] == {"Mood": "Imp", "VerbForm": "Fin"}
    assert s.morphology[2] == {}
    assert s.morphology[0] is one(*STORM).morphology[0]
    with pytest.raises(TypeError):
        s.morphology[0]["Mood"] = "Ind"
    atoms = Sentence.from_words(["x"], feats=["DEK|NUMS"]).morphology[0]
    assert dict(atoms) == {"DEK": "", "NUMS": ""}


def test_nothing_can_be_changed():
    s = one(*STORM)
    s.forms[0] = "Did"
    assert s.forms[0] == "Do"
    with pytest.raises(ValueError, match="read-only"):
        s.heads[0] = 1
    for name in ("forms", "heads", "anything"):
        with pytest.raises(AttributeError):
            setattr(s, name, [])


def test_heads_outlive_everything():
    heads = one(*STORM).heads
    assert heads.tolist() == [3, 3, 0, 6, 6, 3, 3]


def test_tags_are_shared():
    a, b = one(*STORM), one(*STORM)
    assert a.upos[0] is b.upos[0]
    assert a.labels[0] is b.labels[0]


def test_equality_is_by_lines():
    a, b = one(*STORM), one(*STORM)
    assert a == b
    assert hash(a) == hash(b)
    assert a != one(*SEA)
    assert a != "storm"
    [unfinished] = read_conllu(io.BytesIO(text(*STORM).rstrip()))
    assert unfinished == a


@pytest.mark.parametrize("name", ODD_FILES)
def test_pickles(name):
    for s in read_conllu(io.BytesIO(ODD_FILES[name])):
        copy = pickle.loads(pickle.dumps(s))
        assert copy == s
        assert bytes(copy) == bytes(s)
        assert copy.format == s.format


def test_a_text_is_no_list_of_words():
    with pytest.raises(ShapeError, match=r"like \['Gulls', 'circle', 'the'\], or parse the text"):
        Sentence.from_words("Gulls circle the harbour.")
    with pytest.raises(ShapeError, match="upos is a string; give a list with one string per word"):
        Sentence.from_words(["Gulls"], upos="NOUN")


def test_from_words():
    s = Sentence.from_words(
        ["Land", "!"], ["NOUN", "PUNCT"], heads=[0, 1], labels=["root", "punct"],
        comments=["# text = Land!"],
    )  # fmt: skip
    assert s.forms == ["Land", "!"]
    assert s.upos == ["NOUN", "PUNCT"]
    assert s.lemmas == ["_", "_"]
    assert s.heads.tolist() == [0, 1]
    assert s.text == "Land!"
    assert Sentence.from_words(["#", "a b"]).heads.tolist() == [-1, -1]
    assert Sentence.from_words(["x"], format="conllx").format == "conllx"


@pytest.mark.parametrize(("arguments", "kind", "words"), [
    ({"forms": []}, ArgumentError, "at least one word"),
    ({"forms": ["a\tb"]}, ArgumentError, "forms of word 1"),
    ({"forms": ["a", ""]}, ArgumentError, "forms of word 2"),
    ({"forms": ["a", 3]}, ArgumentError, "forms of word 2"),
    ({"forms": ["a"], "upos": ["X", "X"]}, ShapeError, "upos has 2 entries for 1 words"),
    ({"forms": "ab"}, ShapeError, "a list with one string per word"),
    ({"forms": ["a"], "heads": [1]}, ArgumentError, "head 1 of word 1"),
    ({"forms": ["a"], "heads": [0.5]}, ShapeError, "integers"),
    ({"forms": ["a"], "comments": ["text"]}, ArgumentError, "begin with #"),
    ({"forms": ["a"], "comments": "# text"}, ArgumentError, "a list of lines"),
    ({"forms": ["a"], "format": "xml"}, ArgumentError, "there is no format"),
])  # fmt: skip
def test_from_words_refuses(arguments, kind, words):
    with pytest.raises(kind, match=words):
        Sentence.from_words(**arguments)


def test_from_bytes_takes_one_sentence():
    with pytest.raises(ArgumentError, match="2 sentences"):
        Sentence.from_bytes(text(*SEA) * 2)
    with pytest.raises(ArgumentError, match="columns instead of 10"):
        Sentence.from_bytes(b"1\tx\n")


def test_conllx_columns():
    s = one(*TAGGED_X)
    assert s.format == "conllx"
    assert s.deps == ["2", "0"]
    assert s.misc == ["subj", "ROOT"]
