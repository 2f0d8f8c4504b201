"""Warnings about input that is unlike the training data."""

from __future__ import annotations

import json
import warnings

import pytest

import arbora
from arbora import DataWarning, ModelError, Sentence
from arbora.data import Block
from arbora.data.treebank import read_treebank
from arbora.features import FeatureSettings
from arbora.models.vocabulary import Unfamiliar, Vocabulary
from tests.cli.conftest import arbora_process
from tests.small_parsers import sentences, trained

HUNGARIAN = "A sirályok a falon alszanak , és az öreg halász megjavítja a hálóját a kikötőben . "
HUNGARIAN += "Holnap reggel korán indulnak a hajók , ha a szél elcsendesedik ."
RUSSIAN = "Чайки спят на стене ."


def settings():
    return FeatureSettings.for_training("rich", read_treebank(sentences("train")))


@pytest.fixture(scope="module")
def village():
    return Vocabulary.of_block(read_treebank(sentences("train")), settings())


def findings(vocabulary, *blocks):
    counter = Unfamiliar(vocabulary)
    for block in blocks:
        counter.add(block)
    return counter.findings()


def test_the_treebanks_own_text_is_familiar(village):
    for part in ("train", "dev", "test"):
        assert findings(village, read_treebank(sentences(part))) == []


def test_seen_words_are_never_unseen(village):
    names = read_treebank(sentences("train")).column_names(1)
    forms = [form.lower() for form, _ in names if any(map(str.isalpha, form))]
    assert not village.unseen(forms).any()
    made_up = [f"quux{number}" for number in range(2000)]
    assert village.unseen(made_up).mean() > 0.97  # the filter's false alarms
    assert village.unseen([]).tolist() == []


def test_another_language_is_told_with_its_share(village):
    (found,) = findings(village, Block.from_columns([HUNGARIAN.split()]))
    assert found.endswith("% of the words were not in it")
    assert int(found.split()[0]) > 70


def test_another_script_is_told(village):
    (found,) = findings(village, Block.from_columns([RUSSIAN.split()]))
    assert found == "100 % of the words are in scripts that it did not have (Cyrillic)"
    mixed = Block.from_columns([["The", "gulls", "sleep", "on", "the", "Иван", "."]])
    assert findings(village, mixed) == []


def test_other_tags_are_told_with_examples(village):
    tags = [["DT", "NN", "VBZ", "."]]
    block = Block.from_columns([["The", "gull", "sleeps", "."]], upos=tags)
    (found,) = findings(village, block)
    assert found == "100 % of UPOS were not in it (., DT, NN, VBZ)"
    odd = Block.from_columns([["gull"]], upos=[["NOUN"]], feats=[["Mood=Odd|Case=Odd"]])
    assert "FEATS" in findings(village, odd)[0]


def test_shares_are_over_all_blocks(village):
    other = Block.from_columns([HUNGARIAN.split()])
    own = read_treebank(sentences("test"))
    assert findings(village, other)
    assert findings(village, other, own) == []


def test_a_few_unknown_words_are_no_reason(village):
    assert findings(village, Block.from_columns([["Qwertz", "asdfg", "."]])) == []


def test_it_survives_the_card(village):
    stored = json.loads(json.dumps(village.to_card()))
    again = Vocabulary.from_card({"vocabulary": stored})
    assert again.words.tolist() == village.words.tolist()
    assert again.tags == village.tags
    assert again.scripts == village.scripts
    assert Vocabulary.from_card({}) is None
    assert Unfamiliar(None).findings() == []


@pytest.mark.parametrize(
    "change",
    [
        {"words": "%%"}, {"words": "AAAA"}, {"words": 3}, {"once": "x"}, {"scripts": "LATIN"},
        {"scripts": [1]}, {"tags": None}, {"tags": {"upos": [None]}},
    ],
)  # fmt: skip
def test_odd_cards_are_refused(village, change):
    with pytest.raises(ModelError, match="card"):
        Vocabulary.from_card({"vocabulary": village.to_card() | change})


def test_treebanks_are_joined(village):
    other = Vocabulary.of_block(Block.from_columns([RUSSIAN.split()] * 5), settings())
    both = village.joined(other)
    assert findings(both, Block.from_columns([RUSSIAN.split()])) == []
    assert findings(both, read_treebank(sentences("test"))) == []
    assert village.joined(None) is village


def test_parsers_warn_once_per_call(tmp_path):
    parser = trained()
    rows = [Sentence.from_words(HUNGARIAN.split())] * 3
    with pytest.warns(DataWarning, match="unlike the training data") as told:
        parser.parse(rows, allow_missing=True)
    assert len(told) == 1
    path = tmp_path / "other.conllu"
    arbora.write_conllu(path, rows)
    with pytest.warns(DataWarning, match=r"\d+ % of the words"):
        assert len(list(parser.parse(path, allow_missing=True))) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parser.parse(sentences("test"))
    parser.save(tmp_path / "village.arbora")
    again = arbora.load(tmp_path / "village.arbora")
    with pytest.warns(DataWarning):
        again.parse(rows, allow_missing=True)


def test_the_command_tells_once(tmp_path):
    trained().save(tmp_path / "village.arbora")
    arbora.write_conllu(tmp_path / "other.conllu", [Sentence.from_words(HUNGARIAN.split())] * 3)
    shared = ("parse", "--model", tmp_path / "village.arbora", "--allow-missing")
    told = arbora_process(*shared, tmp_path / "other.conllu", tmp_path / "other.conllu")
    assert told.returncode == 0
    assert told.stderr.count("unlike the training data") == 1
    told = arbora_process(*shared, "examples/treebank/test.conllu")
    assert "unlike" not in told.stderr
