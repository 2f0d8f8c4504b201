"""Segmenting: offsets, round trips, odd characters, streams, and the slow twin."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import ArboraError
from arbora.data import Block, sentences_of, treebank_text
from arbora.data.block import CONLLU_LAYOUT
from arbora.segmentation import Segmenter, train_segmenter
from tests.segmentation.slow_segmenter import SlowSegmenter
from tests.segmentation.toys import (
    conllu,
    sentences,
    toy_block,
    toy_segmenter,
    toy_unspaced,
    without_spaces,
)

PIECES = [
    "Mr.", "Anna", "didn't", "DON'T", "Don't", "cat", ".", "!", '"', "(", ")", "U.S.", "3.5", ",",
    "x@mail.org", "http://tree.org/a-b.", "www.tree.org", "well-known", "'", "…", "猫は魚を", "、",
    "مرحبا", "e\u0301", "👩\u200d🌾", "\u200b", "İ", "ß", "\ufeff", "#", "_", "|", "\\s",
]  # fmt: skip
SPACES = [
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\xa0",
    "\u3000",
    "\u2028",
    "\x0b",
    "\x1c",
    "\n\n",
    "\u2029",
]


def texts():
    """Pieces of text with all kinds of spaces, and arbitrary text."""
    mixed = st.lists(st.sampled_from(PIECES + SPACES + [" "] * 8), max_size=40).map("".join)
    any_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
    return mixed | any_text


def forms_of(found):
    return [sentence.forms for sentence in sentences_of(found.block)]


@given(texts())
@settings(max_examples=80, deadline=None)
def test_offsets_point_at_tokens_and_the_text_can_be_rebuilt(text):
    for segmenter in (toy_segmenter(), toy_unspaced()):
        found = segmenter.segment(text)
        assert not found.block.faults
        assert len(found.block) == len(found.sentences)
        rest = 0
        for start, end in zip(found.starts.tolist(), found.ends.tolist(), strict=True):
            assert text[rest:start].strip("\ufeff").strip() == ""
            token = text[start:end]
            assert token
            assert not any(c.isspace() for c in token)
            rest = end
        assert text[rest:].strip("\ufeff").strip() == ""
        assert found.n_words.sum() == found.block.total_words
        if len(found.starts):
            assert treebank_text(found.block) == text
        assert ((found.token_probabilities > 0.5) & (found.token_probabilities <= 1)).all()


@given(texts())
@settings(max_examples=30, deadline=None)
def test_decisions_are_those_of_the_slow_twin(text):
    text = "".join(c for c in text if c not in "\n\r\v\f\x85\u2028\u2029\ufeff")
    for segmenter in (toy_segmenter(), toy_unspaced()):
        found = segmenter.segment(text)
        tokens, ends, words = SlowSegmenter(segmenter).segment(text)
        assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == tokens
        assert found.sentences.tolist() == [0, *(end + 1 for end in ends[:-1])][: len(ends)]
        assert found.n_words.tolist() == [len(some) for some in words]
        assert [*chain(*forms_of(found))] == [*chain(*words)]


def test_the_slow_twin_agrees_on_the_training_text():
    for segmenter, block in ((toy_segmenter(), toy_block()), (toy_unspaced(), without_spaces())):
        text = treebank_text(block).replace("\n", " ")[:700]
        found = segmenter.segment(text)
        tokens, ends, words = SlowSegmenter(segmenter).segment(text)
        assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == tokens
        assert len(ends) == len(found.sentences) > 5
        assert found.n_words.tolist() == [len(some) for some in words]


def test_the_slow_twin_agrees_on_names_of_files():
    text = (
        "See a-b.pdf, (x_1.tree.org) or im.doc. 235-1972 is no file.Com, v1.pdfs and .txt are not."
    )
    for segmenter in (toy_segmenter(), toy_unspaced()):
        slow = SlowSegmenter(segmenter)
        tokens, _, words = slow.segment(text)
        found = segmenter.segment(text)
        assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == tokens
        assert found.n_words.tolist() == [len(some) for some in words]
    marked = "".join(c if mark == 3 else " " for c, mark in zip(text, slow._web, strict=True))
    assert marked.split() == ["a-b.pdf", "x_1.tree.org", "im.doc", "file.Com"]


def test_a_form_that_is_also_a_multiword_token_is_split_as_its_context_says():
    """One occurrence as a single word does not make `im` a known word."""
    lines = [*sentences(), *(["i|m here ~."] * 3), "im here ~."]
    segmenter = train_segmenter(Block(conllu(lines).encode(), CONLLU_LAYOUT), threads=1)
    assert forms_of(segmenter.segment("im here.")) == [["i", "m", "here", "."]]


def test_the_training_text_is_segmented_as_in_the_treebank():
    for segmenter, block in ((toy_segmenter(), toy_block()), (toy_unspaced(), without_spaces())):
        found = segmenter.segment(treebank_text(block))
        assert forms_of(found) == [sentence.forms for sentence in sentences_of(block)]


def test_conllu_of_a_text():
    found = toy_segmenter().segment(
        "Dr. Wood didn't see it.\r\n\r\n  Anna saw\u00a0it!", ranges=True
    )
    text = found.block.texts(0, 2).decode()
    assert text == (
        "# newdoc\n# newpar\n# sent_id = 1\n# text = Dr. Wood didn't see it.\n"
        "1\tDr.\t_\t_\t_\t_\t_\t_\t_\tTokenRange=0:3\n"
        "2\tWood\t_\t_\t_\t_\t_\t_\t_\tTokenRange=4:8\n"
        "3-4\tdidn't\t_\t_\t_\t_\t_\t_\t_\tTokenRange=9:15\n"
        "3\tdid\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "4\tn't\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "5\tsee\t_\t_\t_\t_\t_\t_\t_\tTokenRange=16:19\n"
        "6\tit\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=20:22\n"
        "7\t.\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\r\\n\\r\\n\\s\\s|TokenRange=22:23\n\n"
        "# newpar\n# sent_id = 2\n# text = Anna saw it!\n"
        "1\tAnna\t_\t_\t_\t_\t_\t_\t_\tTokenRange=29:33\n"
        "2\tsaw\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\u00A0|TokenRange=34:37\n"
        "3\tit\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=38:40\n"
        "4\t!\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=40:41\n\n"
    )


@pytest.mark.parametrize("space", [c for c in map(chr, range(0x11000)) if c.isspace()])
def test_white_space_of_all_kinds_is_escaped(space):
    """The UD validator refuses fields that end with white space, no-break spaces included."""
    text = f"{space}Anna{space}{space}saw {space}it.{space}Wood left."
    for blocks in ([toy_segmenter().segment(text).block], toy_segmenter().blocks([text])):
        sentences = [sentence for block in blocks for sentence in sentences_of(block)]
        lines = [line for one in sentences for line in bytes(one).decode().split("\n") if line]
        assert not any(c.isspace() for line in lines if line[0] != "#" for c in line.split("\t")[9])
        assert treebank_text(sentences) == text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("mightn't", ["might", "n't"]),
        ("COULDN'T", ["COULD", "N'T"]),
        ("Wouldn't", ["Would", "n't"]),
    ],
)
def test_rules_split_forms_that_were_never_seen(form, words):
    found = toy_segmenter().segment(f"Anna {form} see it.")
    assert forms_of(found) == [["Anna", *words, "see", "it", "."]]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\r\n", "\ufeff", "\u3000\xa0\x85"])
def test_text_without_words_has_no_sentences(text):
    found = toy_segmenter().segment(text)
    assert len(found.block) == len(found.starts) == 0
    assert list(toy_segmenter().blocks([text])) == []


@pytest.mark.parametrize("text", ["a\0b", "\ud800", 3, None, b"bytes"])
def test_what_is_no_text_is_an_error(text):
    with pytest.raises(ArboraError, match=r"\.$"):
        toy_segmenter().segment(text)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ([b"ab", b"c\xff"], "byte 4 "), ([b"ab\xc3", b"("], "byte 3 "), ([b"ab", b"\0"], "byte 3 "),
        ([b"ab\xc3"], "ends inside"), (io.BytesIO(b"\xe2\x82"), "ends inside"), ([3], "int"),
        (b"ab", "list"), (3, "int"),
    ],
)  # fmt: skip
def test_streams_that_are_no_text_are_errors_with_the_place(source, place):
    with pytest.raises(ArboraError, match=place):
        list(toy_segmenter().blocks(source))


def long_text() -> str:
    lines = [line.replace(" ~", "").replace("|", "") for line in sentences()]
    return (
        " ".join(lines * 11)
        + "\n\n"
        + "word " * 1500
        + "\r\n\r\n"
        + "x" * 2500
        + "\n \n"
        + lines[0]
    )


@pytest.mark.parametrize("size", [7, 70_000, 10**7])
def test_streams_give_the_sentences_of_the_whole_text(size, monkeypatch):
    monkeypatch.setattr("arbora.segmentation.segmenter._AT_ONCE", size)
    text = long_text() if size > 7 else long_text()[-2900:]
    whole = toy_segmenter().segment(text, ranges=True)
    for source in (io.BytesIO(text.encode()), io.StringIO(text), iter([text[:5], text[5:]])):
        blocks = list(toy_segmenter().blocks(source, ranges=True))
        joined = b"".join(block.texts(0, len(block)) for block in blocks)
        assert joined == whole.block.texts(0, len(whole.block))
        assert [b.first_sentence for b in blocks] == np.cumsum([0, *map(len, blocks)])[:-1].tolist()
    assert treebank_text(whole.block) == text


def test_tokens_and_sentences_have_a_longest_length():
    found = toy_segmenter().segment("word " * 3000)
    assert max(map(len, forms_of(found))) <= 1000
    found = toy_segmenter().segment("x" * 2500)
    assert (found.ends - found.starts).tolist() == [1000, 1000, 500]


def test_time_is_linear_in_a_line_without_end():
    piece = "".join(f"naïve猫({k})." for k in range(2000))
    took = []
    for times in (1, 8):
        begin = time.process_time()
        toy_segmenter().segment(piece * times)
        took.append(time.process_time() - begin)
    assert took[1] < 40 * took[0] + 0.5


def test_paths_are_read(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\ufeffAnna saw it.\nAnna saw it.\n", encoding="utf-8")
    (block,) = toy_segmenter().blocks(path)
    assert [s.forms for s in sentences_of(block)] == [["Anna", "saw", "it", "."]] * 2
    assert treebank_text(block) == path.read_text(encoding="utf-8")


def test_segmenting_does_not_import_learning():
    code = (
        "import sys, arbora.segmentation; "
        "sys.exit('arbora.segmentation.training' in sys.modules or 'scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert Segmenter.__module__ == "arbora.segmentation.segmenter"
