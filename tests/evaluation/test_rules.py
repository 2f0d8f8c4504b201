"""Every rule against numbers that were counted by hand."""

from __future__ import annotations

import pytest

from arbora import ArgumentError
from arbora.evaluation import evaluate
from arbora.evaluation.rules import is_punctuation
from tests.evaluation.sentences import sentence

PUNCTUATION = [
    ".", ",", "--", "...", "''", "%", "&", "#", "@", "*", "_", "-", "¿", "«", "…",
    "،", "؛", "؟", "٪", "。", "、", "「」", "《", "\uff01", "?!",
]  # fmt: skip
WORDS = [
    "``",
    "$",
    "+",
    "=",
    "<",
    "^",
    "`",
    "|",
    "~",
    "€",
    "©",
    "a.",
    "U.S.",
    "-LRB-",
    "5%",
    "''s",
    "٣",
]


@pytest.mark.parametrize("form", PUNCTUATION)
def test_punctuation_is_what_unicode_says(form):
    assert is_punctuation(form)


@pytest.mark.parametrize("form", WORDS)
def test_symbols_and_mixtures_are_words(form):
    assert not is_punctuation(form)


def test_an_empty_form_is_a_word():
    assert not is_punctuation("")


# Eleven words. Wrong heads: "5" (3), "--" (6), "؟" (10). Wrong label only: "$" (2), and the subtype
# of "run" (8).
TEXT = "costs $ 5 % now -- they run well ؟ 。"
GOLD = [0, 3, 1, 3, 1, 8, 8, 1, 8, 1, 1]
SYSTEM = [0, 3, 2, 3, 1, 1, 8, 1, 8, 8, 1]
GOLD_LABELS = "root sym obj punct advmod punct nsubj conj:and advmod punct punct"
SYSTEM_LABELS = "root dep obj punct advmod punct nsubj conj:or advmod punct punct"
TAGS = "VBZ $ CD NN RB : PRP VBP RB . ."


@pytest.fixture
def gold():
    return [sentence(TEXT, GOLD, GOLD_LABELS, TAGS)]


@pytest.fixture
def system():
    return [sentence(TEXT, SYSTEM, SYSTEM_LABELS, TAGS)]


def test_conllx(gold, system):
    """Left out: % -- ؟ 。; of the other 7 one head is wrong (5) and two labels ($, run)."""
    scores = evaluate(gold, system)
    assert scores.rule == "conllx"
    assert scores.tokens == 7
    assert scores.uas == pytest.approx(100 * 6 / 7)
    assert scores.las == pytest.approx(100 * 4 / 7)
    assert scores.las_exact == scores.las


def test_conll2018(gold, system):
    """All 11 count: 3 heads are wrong, then one label ($); the subtype matters to `las_exact`."""
    scores = evaluate(gold, system, "conll2018")
    assert scores.tokens == 11
    assert scores.uas == pytest.approx(100 * 8 / 11)
    assert scores.las == pytest.approx(100 * 7 / 11)
    assert scores.las_exact == pytest.approx(100 * 6 / 11)


def test_ptb(gold, system):
    """Left out by gold tag: -- ؟ 。; of the other 8 one head is wrong (5) and two labels."""
    scores = evaluate(gold, system, "ptb")
    assert scores.tokens == 8
    assert scores.uas == pytest.approx(100 * 7 / 8)
    assert scores.las == pytest.approx(100 * 5 / 8)


def test_ptb_looks_at_the_tags_of_gold(gold):
    system = [sentence(TEXT, SYSTEM, SYSTEM_LABELS, " ".join(["."] * 11))]
    assert evaluate(gold, system, "ptb").tokens == 8


@pytest.mark.parametrize(("format", "rule"), [("conllx", "conllx"), ("conllu", "conll2018")])
def test_the_format_of_gold_chooses(format, rule):  # noqa: A002  # as in the class
    gold = [sentence("so !", [0, 1], format=format)]
    system = [sentence("so !", [0, 1], format="conllx")]
    scores = evaluate(gold, system)
    assert scores.rule == rule
    assert f"rule {rule}" in str(scores)
    assert scores.to_dict()["rule"] == rule


def test_with_and_without_punctuation(gold, system):
    for rule, without in [("conllx", 7), ("conll2018", 7), ("ptb", 8)]:
        scores = evaluate(gold, system, rule)
        assert scores.with_punctuation.tokens == 11
        assert scores.with_punctuation.uas == pytest.approx(100 * 8 / 11)
        assert scores.without_punctuation.tokens == without
        assert len(scores.other_counts()) == 1


def test_figures_that_agree_are_not_repeated(gold):
    assert not evaluate(gold, gold).other_counts()


def test_an_unknown_rule(gold):
    with pytest.raises(ArgumentError, match=r"no evaluation rule 'conll'.*'conllx', 'conll2018'"):
        evaluate(gold, gold, "conll")
