"""What the parser of a pipeline is trained on, and what is said of the stages."""

from __future__ import annotations

import numpy as np
import pytest

import arbora
from arbora import ArboraError
from arbora.data import Block
from arbora.data.treebank import read_treebank
from arbora.models.columns import COLUMNS
from arbora.options import LemmatiserOptions, SegmenterOptions, TaggerOptions
from arbora.pipeline import StageOptions, train_stages
from arbora.pipeline.accuracy import column_accuracy

SMALL = (SegmenterOptions(passes=2, bits=10), TaggerOptions(passes=2), LemmatiserOptions(passes=2))


def options(**others):
    return StageOptions(*SMALL, **others)


@pytest.fixture(scope="module")
def treebank():
    whole = read_treebank("examples/treebank/train.conllu")
    return whole.reread(whole.texts(0, 24))


def column(block, name):
    return [value for i in range(len(block)) for value in block.column(i, COLUMNS[name])]


def test_every_sentence_is_there_twice(treebank):
    told = []
    made = train_stages(
        treebank, None, options(folds=3), threads=1, progress=lambda *now: told.append(now)
    )
    assert len(made.train) == 2 * len(treebank)
    assert (made.train.heads == np.concatenate(
        [np.tile(heads, 2) for heads in np.split(treebank.heads, np.cumsum(treebank.n_words)[:-1])]
    )).all()  # fmt: skip
    gold = made.train.reread(b"".join(made.train.texts(i, i + 1) for i in range(0, 48, 2)))
    found = made.train.reread(b"".join(made.train.texts(i, i + 1) for i in range(1, 48, 2)))
    for name in COLUMNS:
        assert column(gold, name) == column(treebank, name)
    assert made.accuracy["tagger"]["upos"] == column_accuracy(treebank, found, "upos") < 100
    assert made.accuracy["lemmatiser"]["lemma"] == column_accuracy(treebank, found, "lemma") < 100
    names = list(dict.fromkeys(name for name, _ in told))
    assert names == ["segmenter", "tagger", "lemmatiser", "folds"]
    for name in names:
        shares = [share for one, share in told if one == name]
        assert shares == sorted(shares)
        assert shares[0] == 0.0
        assert shares[-1] == 1.0


def test_only_one_kind_of_tags(treebank):
    predicted = train_stages(treebank, None, options(folds=3, mix=False), threads=1)
    assert len(predicted.train) == len(treebank)
    assert column(predicted.train, "upos") != column(treebank, "upos")
    gold = train_stages(treebank, None, options(folds=0), threads=1)
    assert gold.train.render() == treebank.render()
    assert (gold.folds, gold.measured_on, gold.mixed) == (0, None, False)
    few = treebank.reread(treebank.texts(0, 5))
    assert train_stages(few, None, options(folds=3), threads=1).folds == 0


def test_words_without_tags(treebank):
    """A tagger needs all of them; the reason is told."""
    tags = [["_", *treebank.column(i, 3)[1:]] for i in range(len(treebank))]
    made = train_stages(treebank.with_columns(upos=tags), None, options(), threads=1)
    assert made.tagger is None
    assert made.skipped["tagger"].startswith("sentence 1 has a word without UPOS")
    assert made.skipped["lemmatiser"] == "it needs the tags of a tagger"
    assert made.card()["trained"].keys() == {"segmenter"}


def test_the_card_counts_sentences_once(treebank):
    nlp = arbora.Pipeline(threads=1, passes=1, bits=10, label_bits=6, refit=False)
    nlp.fit(treebank, stages=options(folds=2))
    assert nlp.model.card["trained_on"] == {
        "sentences": len(treebank), "words": treebank.total_words,
    }  # fmt: skip
    assert nlp.model.card["stages"]["mixed"] is True


def test_bad_options_end_before_the_stages(treebank):
    def never(*_):
        raise AssertionError

    bare = Block.from_columns([["a"]])
    for data, keywords, message in (
        (bare, {}, "no word has a head"),
        (treebank, {"edge_clusters": "nowhere.arbora"}, "nowhere.arbora"),
        (treebank, {"word_clusters": "nowhere.txt"}, "nowhere.txt"),
        (treebank, {"resume": True, "checkpoint": "nowhere"}, "no checkpoint"),
    ):
        with pytest.raises(ArboraError, match=message):
            arbora.Pipeline(threads=1).fit(data, on_stage=never, **keywords)
