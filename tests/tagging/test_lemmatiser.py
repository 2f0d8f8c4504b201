"""The lemmatiser: rules, gradients, probabilities, storage, odd words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import ArboraError, ArgumentError, ModelError
from arbora._core import tagging as kernels
from arbora.data import Block, Stage
from arbora.data.treebank import read_treebank
from arbora.options import LemmatiserOptions
from arbora.tagging import Lemmatiser, train_lemmatiser
from arbora.testing.finite_difference import finite_difference

ROOT = Path(__file__).parents[2]
LEMMA = 2


@pytest.fixture(scope="module")
def treebank():
    return read_treebank(ROOT / "examples" / "treebank" / "train.conllu")


@pytest.fixture(scope="module")
def lemmatiser(treebank):
    return train_lemmatiser(treebank, options=LemmatiserOptions(passes=3, bits=14))


def longest_common(form, lemma):
    """By enumeration of all substrings: the longest, of equal ones the first in the form."""
    pieces = [
        (len(form[i:j]), -i, form[i:j])
        for i in range(len(form))
        for j in range(i + 1, len(form) + 1)
        if form[i:j] in lemma
    ]
    return max(pieces, default=(0, 0, ""))


LETTERS = st.text("abéABÉ", min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(LETTERS, LETTERS)
def test_rules_lead_from_form_to_lemma(form, lemma):
    rule = kernels.find_rule(form, lemma)
    assert kernels.apply_rule(rule, form) == (True, lemma)
    cases = [form, form.lower(), form[0].upper() + form[1:].lower(), form.upper()]
    longest = max(longest_common(one, lemma)[0] for one in cases)
    if longest == 0:
        assert rule == (4, "", "", lemma, "")
    else:
        assert len(cases[rule[0]]) - len(rule[1]) - len(rule[2]) == longest


def test_common_rules():
    assert kernels.find_rule("cities", "city") == (0, "", "ies", "", "y")
    assert kernels.find_rule("The", "the") == (1, "", "", "", "")
    assert kernels.find_rule("gesagt", "sagen") == (0, "ge", "t", "", "en")
    assert kernels.apply_rule((0, "", "ies", "", "y"), "dogs") == (False, "")
    assert kernels.apply_rule((0, "", "ies", "", "y"), "ies") == (False, "")  # nothing is left


def test_gradient(treebank):
    trainer = kernels.LemmaTrainer(treebank.reread(treebank.texts(0, 20)), 3, 8)
    random = np.random.default_rng(0)
    at = np.round(64 * random.normal(scale=0.3, size=256)) / 64
    examples = np.arange(len(trainer), dtype=np.int64)
    _, gradient = trainer.objective(at.astype(np.float32), examples)
    chosen = random.choice(256, size=30, replace=False)

    def partly(values):
        moved = at.copy()
        moved[chosen] = values
        return trainer.objective(moved.astype(np.float32), examples)[0]

    expected = finite_difference(partly, at[chosen], step=2.0**-6)
    np.testing.assert_allclose(gradient[chosen], expected, atol=3e-4, rtol=1e-4)


def test_it_learns(lemmatiser):
    assert isinstance(lemmatiser, Stage)
    dev = read_treebank(ROOT / "examples" / "treebank" / "dev.conllu")
    found = lemmatiser(dev, relemmatise=True)
    pairs = [
        (a, b)
        for i in range(len(dev))
        for a, b in zip(dev.column(i, LEMMA), found.column(i, LEMMA), strict=True)
    ]
    assert sum(a == b for a, b in pairs) > 0.9 * len(pairs)
    assert lemmatiser(dev).texts(0, len(dev)) == dev.texts(0, len(dev))  # nothing is missing


def test_lemmas_of_the_input_are_kept(lemmatiser):
    block = Block.from_columns([["Books", "fell"]], lemmas=[["tome", "_"]], upos=[["NOUN", "VERB"]])
    found = lemmatiser.lemmatise(block)
    assert found.block.column(0, LEMMA)[0] == "tome"
    assert found.block.column(0, LEMMA)[1] != "_"
    assert found.probabilities[0] == 1.0
    assert 0.0 < found.probabilities[1] <= 1.0
    assert lemmatiser(block, relemmatise=True).column(0, LEMMA)[0] == "book"


def test_probabilities_of_all_lemmas(lemmatiser):
    lemmas = lemmatiser.lemmas("grunbled", "VERB", "Tense=Past|VerbForm=Fin")
    assert sum(p for _, p in lemmas) == pytest.approx(1.0)
    assert len({lemma for lemma, _ in lemmas}) == len(lemmas) > 1
    assert lemmas == sorted(lemmas, key=lambda one: -one[1])
    with pytest.raises(ArgumentError, match="must be texts"):
        lemmatiser.lemmas("")


def test_xpos_decides_where_upos_and_feats_do_not():
    """A word in a name keeps its capital, and the same word elsewhere does not."""
    forms = [["Great", "Bear", "Lake"], ["Great", "thanks"]] * 12
    known = Block.from_columns(
        forms, lemmas=[["Great", "Bear", "Lake"], ["great", "thanks"]] * 12,
        upos=[["ADJ", "PROPN", "PROPN"], ["ADJ", "NOUN"]] * 12,
        xpos=[["NNP", "NNP", "NNP"], ["JJ", "NNS"]] * 12,
    )  # fmt: skip
    made = train_lemmatiser(known, options=LemmatiserOptions(passes=5, bits=12))
    assert made.lemmas("Great", "ADJ", xpos="NNP")[0][0] == "Great"
    assert made.lemmas("Great", "ADJ", xpos="JJ")[0][0] == "great"
    assert made(known, relemmatise=True).column(1, LEMMA)[0] == "great"
    assert made(known, relemmatise=True).column(0, LEMMA)[0] == "Great"


def test_the_same_bytes_again(treebank):
    few = treebank.reread(treebank.texts(0, 50))
    options = LemmatiserOptions(passes=2, bits=10)
    made = [train_lemmatiser(few, few, options).tensors() for _ in range(2)]
    assert all(made[0][name].tobytes() == made[1][name].tobytes() for name in made[0])
    with pytest.raises(ArgumentError, match="no lemmas"):
        train_lemmatiser(Block.from_columns([["a", "b"]]))


def test_storage(lemmatiser):
    block = Block.from_columns([["Cities", "grew", "quickly"]])
    same = Lemmatiser.from_store(
        json.loads(json.dumps(lemmatiser.settings())), lemmatiser.tensors()
    )
    assert same(block).texts(0, 1) == lemmatiser(block).texts(0, 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", np.zeros(5, np.float16)), ("rules", np.frombuffer(b"7\ta\tb\tc\td", np.uint8)),
        ("rules", np.frombuffer(b"4\t\t\t\t", np.uint8)), ("rules", np.array([255], np.uint8)),
        ("memory.ends", np.zeros(3, np.uint32)), ("pairs", np.zeros((2, 2), np.uint32)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_damaged_tensors_are_refused(lemmatiser, name, value):
    with pytest.raises(ModelError):
        Lemmatiser.from_store(lemmatiser.settings(), lemmatiser.tensors() | {name: value})
    with pytest.raises(ModelError, match="bits"):
        Lemmatiser.from_store({"bits": 80}, lemmatiser.tensors())


WORDS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\t\r\n"), min_size=1
).filter(lambda text: text == text.strip(" "))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(WORDS, st.sampled_from(["_", "s", "X" * 5000, "ed", "İ"])), min_size=1))
def test_any_words(lemmatiser, words):
    try:
        block = Block.from_columns([words], upos=[["NOUN"] * len(words)])
    except ArboraError:
        return  # not a sentence
    found = lemmatiser.lemmatise(block)
    assert found.block.column(0, 1) == words
    assert ((found.probabilities > 0.0) & (found.probabilities <= 1.0)).all()
