"""Several files as one treebank, and the sources of their sentences."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArgumentError, Sentence, read_conllu
from arbora.data.folders import find_splits, split_of, treebank_name
from arbora.data.treebank import read_treebank, several_files, sources_of

WORD = "1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n"


def sources(block):
    return sources_of(block, np.arange(len(block)))


@pytest.mark.parametrize(
    ("file", "split", "name"),
    [
        ("da_ddt-ud-train.conllu", "train", "da_ddt-ud"),
        ("UD_Village/train.conllu", "train", "UD_Village"),
        ("UD_Village/dev.conllu.gz", "dev", "UD_Village"),
        ("news_test.conll", "test", "news"),
        ("news.conllu", None, "news"),
        ("news.txt", None, "news"),
    ],
)
def test_names_of_treebanks(tmp_path, file, split, name):
    assert split_of(file) == split
    assert treebank_name(tmp_path / file) == name


def test_splits_of_a_folder(tmp_path):
    for name in ("a-train.conllu", "a-dev.conllu", "notes.txt", "trains.conllu"):
        (tmp_path / name).write_text("", encoding="utf-8")
    found = find_splits(tmp_path)
    assert {split: file.name for split, file in found.items()} == {
        "train": "a-train.conllu", "dev": "a-dev.conllu",
    }  # fmt: skip
    (tmp_path / "b_train.conllu").write_text("", encoding="utf-8")
    with pytest.raises(ArgumentError, match="several train files"):
        find_splits(tmp_path)


def test_joined_files_have_sources(tmp_path):
    (tmp_path / "news-train.conllu").write_text(f"# sent_id = 1\n{WORD}{WORD}", encoding="utf-8")
    own = f"# text = Go\r\n# arbora.source = own name \r\n{WORD}".replace("\n\n", "\r\n\r\n")
    (tmp_path / "web.conllu").write_bytes(f"{own}{WORD.strip()}\n".encode())
    files = [tmp_path / "news-train.conllu", str(tmp_path / "web.conllu")]
    block = read_treebank(files)
    assert not block.faults
    assert sources(block) == ["news", "news", "own name", "web"]
    assert block.texts(0, 1).decode() == f"# arbora.source = news\n# sent_id = 1\n{WORD}"
    assert [sentence.forms for sentence in read_conllu(files[0])] == [["Go"], ["Go"]]
    assert sources(read_treebank(files[:1])) == [None, None]
    assert len(read_treebank([*files, files[0]])) == 6


def test_names_cannot_break_comments(tmp_path):
    odd = tmp_path / "a\nb.conllu"
    odd.write_text(WORD, encoding="utf-8")
    block = read_treebank([odd, odd])
    assert sources(block) == ["a?b", "a?b"]


def test_files_of_two_formats_are_not_joined(tmp_path):
    (tmp_path / "a.conllu").write_text(WORD, encoding="utf-8")
    (tmp_path / "b.conll").write_text(WORD.replace("\t_\t_\n", "\t0\troot\n"), encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"a.conllu is CoNLL-U and .*b.conll is CoNLL-X"):
        read_treebank([tmp_path / "a.conllu", tmp_path / "b.conll"])


def test_lists_of_sentences_are_not_files():
    assert several_files([]) is None
    assert several_files([Sentence.from_words(["Go"])]) is None
    assert several_files("train.conllu") is None
    assert several_files(["a", "b"]) == ["a", "b"]
