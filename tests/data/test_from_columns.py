"""Blocks from columns, with other columns, and back."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import read_conllu, write_conllu
from arbora.data import Block, Stage, sentences_of
from arbora.data.block import CONLLU_LAYOUT
from arbora.data.formats import layout_named
from arbora.errors import ArboraError, ArgumentError, ShapeError
from tests.data.semantic import WORDS
from tests.data.zoo import ODD_FILES, STORM, row, text

FORMS = [["Tides", "turn"], ["Ebb"]]


def test_what_is_not_given_is_missing():
    block = Block.from_columns(FORMS)
    assert block.texts(0, 2) == text(row(1, "Tides"), row(2, "turn")) + text(row(1, "Ebb"))
    assert block.heads.tolist() == [-1, -1, -1]
    assert block.format == "conllu"
    assert block.n_words.tolist() == [2, 1]


def test_all_columns():
    block = Block.from_columns(
        FORMS, lemmas=[["tide", "turn"], ["ebb"]], upos=[("NOUN", "VERB"), ("NOUN",)],
        xpos=[["NNS", "VBP"], ["NN"]], feats=[["Number=Plur", "_"], ["_"]],
        heads=[[2, 0], np.array([0])], labels=[["nsubj", "root"], ["root"]],
        deps=[["2:nsubj", "0:root"], ["0:root"]], misc=[["_", "SpaceAfter=No"], ["_"]],
        comments=[["# sent_id = t", "# text = Tides turn"], []],
    )  # fmt: skip
    ebb = row(1, "Ebb", 0, "root", lemma="ebb", upos="NOUN", xpos="NN", deps="0:root")
    assert block.texts(0, 2) == text(
        "# sent_id = t", "# text = Tides turn",
        row(1, "Tides", 2, "nsubj", lemma="tide", upos="NOUN", xpos="NNS", feats="Number=Plur",
            deps="2:nsubj"),
        row(2, "turn", 0, "root", lemma="turn", upos="VERB", xpos="VBP", deps="0:root",
            misc="SpaceAfter=No"),
    ) + text(ebb)  # fmt: skip


def test_in_another_layout():
    block = Block.from_columns(
        FORMS, xpos=[["N", "V"], ["N"]], heads=[[2, 0], [0]], layout=layout_named("conll2009")
    )
    assert block.format == "conll2009"
    assert block.column(0, 4) == ["N", "V"]
    assert block.text(1).decode().split("\t")[5] == "N"
    with pytest.raises(ArgumentError, match="CoNLL-2009 has no UPOS column"):
        Block.from_columns(FORMS, upos=FORMS, layout=layout_named("conll2009"))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_round_trip_with_the_writer(data):
    counts = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    columns = {
        name: [[data.draw(WORDS) for _ in range(n)] for n in counts]
        for name in ("forms", "lemmas", "upos", "xpos", "feats", "labels", "deps", "misc")
    }
    heads = [[data.draw(st.sampled_from([-1, 0])) for _ in range(n)] for n in counts]
    block = Block.from_columns(**columns, heads=heads)
    target = io.BytesIO()
    write_conllu(target, sentences_of(block))
    again = list(read_conllu(io.BytesIO(target.getvalue()), "conllu"))
    for name, values in columns.items():
        assert [getattr(s, name) for s in again] == values
    assert [s.heads.tolist() for s in again] == heads


@pytest.mark.parametrize("name", ODD_FILES)
def test_other_columns_change_nothing_else(name):
    block = Block(ODD_FILES[name], CONLLU_LAYOUT)
    columns = {
        key: [block.column(i, number) for i in range(len(block))]
        for key, number in {"forms": 1, "lemmas": 2, "upos": 3, "labels": 7, "misc": 9}.items()
    }
    same = block.with_columns(**columns)
    assert same.texts(0, len(same)) == block.texts(0, len(block))
    tags = [[f"T{i}" for i in range(n)] for n in block.n_words.tolist()]
    new = block.with_columns(upos=tags, heads=[[0] * n for n in block.n_words.tolist()])
    assert [new.column(i, 3) for i in range(len(new))] == tags
    assert not new.heads.any()
    assert [new.column(i, 2) for i in range(len(new))] == columns["lemmas"]


BAD = [
    ({"forms": "ab"}, ShapeError, "forms must be a list with one list per sentence"),
    ({"forms": ["ab"]}, ShapeError, "forms of sentence 1 must be a list with one entry"),
    ({"forms": [["a"], []]}, ArgumentError, "sentence 2 has no words"),
    ({"forms": [["a"], ["b", ""]]}, ArgumentError, "forms of word 2 of sentence 2 is ''"),
    ({"forms": [["a\tb"]]}, ArgumentError, "forms of word 1 of sentence 1"),
    ({"forms": [["a"], [3]]}, ArgumentError, "forms of word 1 of sentence 2 is 3"),
    ({"forms": [["\ud800"]]}, ArgumentError, "forms of word 1"),
    (
        {"forms": [["a"]], "upos": [["X", "Y"]]},
        ShapeError,
        "upos of sentence 1 has 2 entries",
    ),
    ({"forms": [["a"]], "upos": []}, ShapeError, "upos has 0 sentences, but forms has 1"),
    ({"forms": [["a"]], "upos": ["X"]}, ShapeError, "upos of sentence 1 must be a list"),
    ({"forms": [["a"]], "upos": [[" X"]]}, ArgumentError, "upos of word 1 of sentence 1 is ' X'"),
    ({"forms": [["a"]], "heads": [[1]]}, ArgumentError, "the head 1 of word 1 of sentence 1"),
    ({"forms": [["a"]], "heads": [[2]]}, ArgumentError, "the head 2 of word 1"),
    ({"forms": [["a"]], "heads": [["x"]]}, ShapeError, "heads of sentence 1 must be 1 integers"),
    ({"forms": [["a"]], "heads": [[0, 0]]}, ShapeError, "heads of sentence 1 must be 1 integers"),
    ({"forms": [["a"]], "heads": []}, ShapeError, "heads has 0 sentences"),
    ({"forms": [["a"]], "comments": [["x"]]}, ArgumentError, "the comment 'x' must begin with #"),
    ({"forms": [["a"]], "comments": []}, ShapeError, "comments has 0 sentences"),
    ({"forms": None}, ArboraError, "forms must be a list"),
]


@pytest.mark.parametrize(("columns", "kind", "words"), BAD)
def test_bad_columns(columns, kind, words):
    with pytest.raises(kind, match=words):
        Block.from_columns(**columns)


def test_bad_new_columns():
    block = Block(text(*STORM), CONLLU_LAYOUT)
    with pytest.raises(ArgumentError, match="upos of word 1 of sentence 1 is ''"):
        block.with_columns(upos=[[""] * 7])
    with pytest.raises(ArgumentError, match="labels of word 2 of sentence 1 is 'a b\\\\n'"):
        block.with_columns(labels=[["x", "a b\n", *"abcde"]])
    with pytest.raises(ShapeError, match="upos of sentence 1 has 1 entries for 7 words"):
        block.with_columns(upos=[["x"]])


def test_no_sentences():
    block = Block.from_columns([])
    assert len(block) == 0
    assert block.texts(0, 0) == b""


def test_a_function_of_blocks_is_a_stage():
    def shout(block):
        forms = [[form.upper() for form in block.column(i, 1)] for i in range(len(block))]
        return block.with_columns(forms=forms)

    stage: Stage = shout
    assert isinstance(stage, Stage)
    assert stage(Block.from_columns(FORMS)).column(0, 1) == ["TIDES", "TURN"]
