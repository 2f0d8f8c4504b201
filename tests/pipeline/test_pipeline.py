"""Text to trees: stages in one model file, documents, and what is kept or filled in."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import re

import numpy as np
import pytest

import arbora
from arbora import ArboraError
from arbora.pipeline.texts import is_clean, looks_like_text
from tests.cli.conftest import arbora_process

TRAIN = "examples/treebank/train.conllu"
TEST = "examples/treebank/test.conllu"
TEXT = "The gulls sleep on the wall.  She doesn't see the old boat!"


@pytest.fixture(scope="module")
def bare():
    """Sentences without tags, lemmas and trees."""
    sentences = list(arbora.read_conllu(TEST))[:10]
    return [arbora.Sentence.from_words(sentence.forms) for sentence in sentences]


def test_a_text_becomes_a_document(nlp):
    document = nlp(TEXT)
    assert len(document) == 2
    assert document.text == TEXT
    for sentence, places in zip(document, document.offsets, strict=True):
        assert (sentence.heads >= 0).all()
        assert all(tag != "_" for tag in sentence.upos + sentence.lemmas + sentence.labels)
        assert len(sentence.arc_probabilities) == len(sentence) == len(places)
    first = document.offsets[0]
    assert [TEXT[a:b] for a, b in first] == document[0].forms
    words = document[1].forms
    assert words[1:3] == ["does", "n't"]
    assert [TEXT[a:b] for a, b in document.offsets[1][1:3]] == ["doesn't"] * 2


def test_a_document_is_a_table(nlp):
    document = nlp(TEXT)
    rows = list(document.rows())
    assert len(rows) == sum(map(len, document))
    assert rows[0]["form"] == "The"
    assert [row["word"] for row in rows if row["sentence"] == 2] == list(range(1, 9))
    heads = np.concatenate([sentence.heads for sentence in document])
    assert [row["head"] for row in rows] == heads.tolist()
    again = list(arbora.read_conllu(io.BytesIO(str(document).encode())))
    assert [s.forms for s in again] == [s.forms for s in document]
    pandas = pytest.importorskip("pandas")
    assert document.to_pandas().equals(pandas.DataFrame(rows))


def test_texts_without_words(nlp):
    for text in ("", "   ", "\n\n\t"):
        assert len(nlp(text)) == 0
        assert list(nlp(text).rows()) == []
    assert [len(document) for document in nlp.pipe([TEXT, "", TEXT])] == [2, 0, 2]
    for wrong in (lambda: nlp(3), lambda: list(nlp.pipe("text")), lambda: nlp("a\0b")):
        with pytest.raises(ArboraError):
            wrong()


def test_a_model_file_holds_the_stages(nlp, model):
    for again in (arbora.load(model, threads=1), pickle.loads(pickle.dumps(nlp))):
        assert isinstance(again, arbora.Pipeline)
        assert str(again(TEXT)) == str(nlp(TEXT))


def test_missing_tags_are_filled_in_and_others_kept(nlp, bare):
    tagged = nlp.parse(bare)
    assert all(tag != "_" for sentence in tagged for tag in sentence.upos + sentence.lemmas)
    own = arbora.Sentence.from_words(["The", "gulls", "sleep"], upos=["DET", "_", "ADV"])
    (kept,) = nlp.parse([own])
    assert kept.upos[0] == "DET"
    assert kept.upos[2] == "ADV"
    assert kept.upos[1] != "_"
    (replaced,) = nlp.parse([own], retag=True)
    assert replaced.upos[2] != "ADV"


def test_trees_depend_on_gold_tags(nlp):
    """Tags of the treebank are used as they are, unless `retag` asks for the tagger's."""
    gold, predicted = nlp.evaluate(TEST), nlp.evaluate(TEST, retag=True)
    assert gold.uas > 75
    assert predicted.uas > 70
    assert gold.uas != predicted.uas


def test_a_parser_alone_refuses_what_it_cannot_fill_in(bare):
    parser = arbora.Parser(threads=1, passes=1, bits=14, refit=False).fit(TRAIN, TEST)
    with pytest.raises(ArboraError, match="no LEMMA and no UPOS and no XPOS and no FEATS"):
        parser.parse(bare)
    with pytest.raises(ArboraError, match="tagger"):
        parser.parse(bare, retag=True)
    assert len(parser.parse(bare, allow_missing=True)) == len(bare)
    alone = arbora.Pipeline.from_model(parser.model, threads=1)
    with pytest.raises(ArboraError, match="no segmenter"):
        alone("A text.")
    with pytest.raises(ArboraError, match="no UPOS"):
        alone.parse(bare)


@pytest.mark.parametrize(("content", "expected"), [
    ("She sleeps.\n", True),
    ("# heading\nShe sleeps.\n", True),
    (bytes(next(iter(arbora.read_conllu(TEST)))).decode(), False),
    ("", False),
    ("   \n\n", False),
    ("( (S (NP (PRP She)) (VP (VBZ sleeps))) )\n", False),
])  # fmt: skip
def test_what_looks_like_text(content, expected):
    assert looks_like_text(content.encode()) is expected


def test_compressed_text(model, tmp_path):
    """Text is recognised also in compressed files, on standard input too."""
    expected = arbora_process("parse", "--model", model, TEXT).stdout.encode()
    for ending, pack in (("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)):
        data = pack(TEXT.encode())
        path = tmp_path / f"text.txt.{ending}"
        path.write_bytes(data)
        found = arbora_process("parse", "--model", model, str(path), text=False, encoding=None)
        assert found.stdout == expected
        found = arbora_process("parse", "--model", model, text=False, encoding=None, input=data)
        assert found.stdout == expected
    output = tmp_path / "parsed.conllu.xz"
    assert arbora_process("parse", "--model", model, TEXT, "--output", str(output)).returncode == 0
    assert lzma.decompress(output.read_bytes()) == expected


def test_a_text_given_to_parse_is_refused_at_once(nlp):
    with pytest.raises(ArboraError, match=r"'She sleeps\.' is not a file; call the .* nlp\(text\)"):
        nlp.parse("She sleeps.")
    with pytest.raises(ArboraError, match=r"\.\.\.' is not a file"):
        nlp.parse("She sleeps. " * 1000)
    with pytest.raises(ArboraError, match=r"missing\.conllu cannot be read"):
        nlp.parse("missing.conllu")
    parser = arbora.Parser.from_model(nlp.model)
    with pytest.raises(ArboraError, match="this model takes no text"):
        parser.parse("She sleeps.")


def test_the_command_line_takes_text(model, tmp_path):
    expected = arbora_process("parse", "--model", model, TEXT)
    assert expected.returncode == 0
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    assert "# text = She doesn't see the old boat!" in expected.stdout
    from_file = arbora_process("parse", "--model", model, str(tmp_path / "text.txt"))
    piped = arbora_process("parse", "--model", model, input=TEXT)
    assert from_file.stdout == piped.stdout == expected.stdout
    long = arbora_process("parse", "--model", model, "She sleeps. " * 200)  # too long for a path
    assert long.stdout.count("# text = She sleeps.") == 200
    missing = arbora_process("parse", "--model", model, "missing.txt")
    assert missing.returncode == 2
    words = "The gulls sleep .\nShe sees them .\n"
    lines = arbora_process("parse", "--model", model, "--format", "horizontal", input=words)
    assert [len(s) for s in arbora.read_conllu(io.BytesIO(lines.stdout.encode()))] == [4, 4]


def test_a_parser_without_a_segmenter_says_so(tmp_path):
    parser = tmp_path / "parser.arbora"
    arbora.Parser(threads=1, passes=1, bits=14, refit=False).fit(TRAIN, TEST).save(parser)
    text = tmp_path / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    for given, name in ((TEXT, "the argument"), (str(text), re.escape(str(text)))):
        found = arbora_process("parse", "--model", str(parser), given)
        assert found.returncode == 2
        assert re.search(f"{name} looks like text, but this model takes no text", found.stderr)
    text.write_bytes("Caf\xe9 is open.".encode("latin-1"))
    found = arbora_process("parse", "--model", str(parser), str(text))
    assert found.returncode == 2
    assert "not UTF-8" in found.stderr


@pytest.mark.parametrize(("content", "expected"), [
    (b"She sleeps.\n", True), (b"caf\xc3", True), (b"caf\xe9 is\n", False), (b"a\0b", False),
])  # fmt: skip
def test_what_is_clean(content, expected):
    assert is_clean(content) is expected


def test_sentences_of_several_texts_have_different_names(model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("She sleeps. He sees her.\n", encoding="utf-8")
    found = arbora_process("parse", "--model", model, str(text), "The gulls sleep.", str(text))
    sentences = arbora.read_conllu(io.BytesIO(found.stdout.encode()))
    assert [one.sent_id for one in sentences] == ["1", "2", "3", "4", "5"]
