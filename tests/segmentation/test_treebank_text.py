"""The text of a treebank, from its forms and MISC."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from arbora._core import segmentation as core
from arbora.data import Block, Sentence, read_conllu, sentences_of, surface_tokens, treebank_text
from arbora.data.block import CONLLU_LAYOUT
from tests.segmentation.toys import toy_block

TOOL = Path(__file__).parents[2] / "tools" / "write_character_classes.py"


def block_of(*lines: str) -> Block:
    """Lines of comments, of `ID FORM MISC`, or nothing."""
    text = []
    for line in lines:
        if line and not line.startswith("#"):
            number, form, *misc = line.split(" ")
            text.append(f"{number}\t{form}" + "\t_" * 7 + f"\t{misc[0] if misc else '_'}")
        else:
            text.append(line)
    return Block(("\n".join(text) + "\n\n").encode(), CONLLU_LAYOUT)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["1 a", "2 b"], "a b\n"),
        (["1 a SpaceAfter=No", "2 b SpaceAfter=No"], "ab"),
        (["1 a", "", "1 b"], "a b\n"),
        (["1 a SpaceAfter=No", "", "1 b"], "ab\n"),
        (["1 a", "", "# newpar", "1 b"], "a\n\nb\n"),
        (["1 a SpaceAfter=No", "", "# newdoc id = x", "1 b"], "a\n\nb\n"),
        (["1 a SpacesAfter=\\n", "", "# newpar", "1 b SpacesAfter=\\s\\t\\r\\n\\p\\\\"],
         "a\nb \t\r\n|\\"),
        (["1 a SpacesAfter=\\u00A0\\s", "2 b SpacesAfter=\\q"], "a\u00a0 b\\q"),
        (["1 a SpacesBefore=\\s\\s", "2 b X=SpaceAfter=No"], "  a b\n"),
        (["1-2 au SpaceAfter=No", "1 à", "2 le", "3 !"], "au!\n"),
        (["1-2 au", "1 à", "2 le SpaceAfter=No", "3 !"], "au!\n"),
        (["1 a", "1.1 ghost", "2 b"], "a b\n"),
    ],
)  # fmt: skip
def test_texts(lines, text):
    block = block_of(*lines)
    assert treebank_text(block) == text
    assert treebank_text(list(sentences_of(block))) == text


def test_no_sentences_have_no_text():
    assert treebank_text([]) == ""


def test_other_formats_have_spaces_between_words():
    sentence = Sentence.from_words(["a", "b"], format="conllx")
    assert treebank_text([sentence]) == "a b\n"


def test_surface_tokens_of_multiword_tokens():
    (sentence,) = sentences_of(block_of("1-2 au SpaceAfter=No", "1 à", "2 le", "3 !"))
    first, second = surface_tokens(sentence)
    assert (first.form, first.words, first.after) == ("au", ("à", "le"), "")
    assert (second.form, second.words, second.after) == ("!", ("!",), None)


def test_files_with_windows_line_ends_have_the_same_text(tmp_path):
    block = toy_block()
    path = tmp_path / "toy.conllu"
    path.write_bytes(block.texts(0, len(block)).replace(b"\n", b"\r\n"))
    assert treebank_text(read_conllu(path)) == treebank_text(block)


def test_characters_are_those_of_unicode():
    text = "aZß猫のテ\u0661é\u0301—«»„.,$\u200d\ufeff\x1c\u3000\u2029İǅ😀\U0001d504\U000e0041"
    classes, lower = core.look_at(text.encode())
    spaces = [c.isspace() for c in text]
    assert (classes == 1).tolist() == spaces
    for character, kind, small in zip(text, classes.tolist(), lower.tolist(), strict=True):
        if unicodedata.category(character) == "Lu":
            assert kind == 3
        if not character.isspace() and len(character.lower()) == 1:
            assert chr(small) == character.lower()


@pytest.mark.slow
@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="another version of Unicode")
def test_the_table_of_characters_is_up_to_date():
    assert subprocess.run([sys.executable, TOOL, "--check"], check=False).returncode == 0
