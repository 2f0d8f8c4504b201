"""The models that the package brings along. No test depends on how good they are."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import arbora
from arbora.models.model_file import read_model, to_bytes
from arbora.models.tensor_file import parse_tensors, read_contents
from arbora.pipeline import installed
from tests.cli.conftest import arbora_process

TEXT = "She saw the man with a telescope."
BUNDLED = Path(arbora.__file__).parent / "bundled"
FILES = sorted(BUNDLED.glob("*.arbora"))
LARGEST = 15_000_000  # bytes of each

each = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@pytest.fixture(autouse=True)
def only_bundled(monkeypatch):
    monkeypatch.delenv("ARBORA_MODELS", raising=False)
    monkeypatch.delenv("ARBORA_MODEL", raising=False)


def test_there_is_a_default_model_and_all_are_small():
    assert installed.DEFAULT_MODEL in installed.installed_models()
    assert max(path.stat().st_size for path in FILES) <= LARGEST


@each
def test_a_sentence_becomes_a_tree(path):
    document = arbora.load(path.stem, threads=1)(TEXT)
    (sentence,) = document
    assert sentence.forms == ["She", "saw", "the", "man", "with", "a", "telescope", "."]
    assert sum(head == 0 for head in sentence.heads) == 1
    for word in range(1, 9):  # every word reaches the root
        for _ in range(9):
            word = sentence.heads[word - 1] if word else 0
        assert word == 0
    assert [label == "root" for label in sentence.labels] == [h == 0 for h in sentence.heads]
    assert ((sentence.arc_probabilities > 0) & (sentence.arc_probabilities <= 1)).all()
    assert "_" not in sentence.upos + sentence.xpos + sentence.lemmas
    assert [TEXT[a:b] for a, b in document.offsets[0]] == sentence.forms


@each
def test_the_card_names_data_and_licence(path):
    card = read_model(path).card
    assert card["licence"] == "CC BY-SA 4.0"
    assert card["data"] == "UD English EWT"
    notice = (Path(__file__).parents[2] / "NOTICE").read_text(encoding="utf-8")
    assert card["licence"] in notice
    assert card["data"] in notice


@each
def test_words_are_in_it_but_no_sentences(path):
    words = re.compile(rb"[A-Za-z']+(?: [A-Za-z',]+){3,}")
    metadata, tensors = parse_tensors(read_contents(path))
    texts = [values.tobytes() for values in tensors.values() if values.dtype == np.uint8]
    model = read_model(path)
    described = {name: stage.settings for name, stage in model.stages.items()}
    assert list(metadata) == ["arbora"]
    for text in [*texts, repr(described).encode(), repr(model.labels).encode()]:
        found = [one for one in words.findall(text) if len(one) > 20]
        assert not found


@each
def test_a_bundled_file_is_what_its_model_is_written_as(path):
    assert to_bytes(read_model(path)) == read_contents(path)


def test_the_command_needs_no_model():
    given = arbora_process("parse", TEXT)
    assert given.returncode == 0
    assert f"# text = {TEXT}\n" in given.stdout
    assert arbora_process("parse", input=TEXT).stdout == given.stdout
    assert arbora_process("parse", "--model", "en", TEXT).stdout == given.stdout
    listed = arbora_process("models").stdout
    for path in FILES:
        assert path.stem in listed
    assert "CC BY-SA 4.0" in listed
    mistyped = arbora_process("parse", "boook.txt")
    assert mistyped.returncode == 2
    assert "boook.txt" in mistyped.stderr
