"""CoNLL-U or CoNLL-X: the rule of `data/block.hpp`."""

from __future__ import annotations

import io

import pytest

from arbora import read_conllu
from tests.data.zoo import SEA, STORM, TAGGED_X, row, text, treebank_files

UD = [row(1, "Ahoi", 0, "root", upos="INTJ"), row(2, "!", 1, "punct", upos="PUNCT")]

CASES = {
    "comment": (["# text = x", *SEA], "conllu"),
    "range": ([row("1-2", "x"), *SEA], "conllu"),
    "empty node": ([*SEA, row("3.1", "x")], "conllu"),
    "tags of UD": (UD, "conllu"),
    "tags of UD 1": ([row(1, "x", 0, upos="CONJ")], "conllu"),
    "no tags": (SEA, "conllu"),
    "space after": ([row(1, "x", 0, upos="NN", misc="SpaceAfter=No")], "conllu"),
    "other tags": (TAGGED_X, "conllx"),
    "other tags, blind": ([row(1, "x", upos="NN"), row(2, "y", upos="VV")], "conllx"),
    "one other tag": ([*UD, row(3, "x", 1, upos="NNP")], "conllx"),
    "PHEAD": ([row(1, "x", 0, deps="0")], "conllx"),
    "enhanced": ([row(1, "x", 0, upos="X", deps="0:root")], "conllu"),
    "own comments": (["# arbora.log_prob = -1.5", *TAGGED_X], "conllx"),
    "own comments in CoNLL-U": (["# arbora.log_prob = -1.5", *UD], "conllu"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rule(name, start, end):
    lines, expected = CASES[name]
    data = start + text(*lines, end=end)
    assert next(read_conllu(io.BytesIO(data))).format == expected
    assert next(read_conllu(io.BytesIO(data), chunk_size=1)).format == expected


@pytest.mark.parametrize("name", ["conllu", "conllx"])
def test_override(name):
    assert next(read_conllu(io.BytesIO(text(*STORM)), format=name)).format == name


def test_only_whole_lines_of_the_sample_count():
    """The sample is cut inside a word line whose cut tag would look foreign."""
    one = text(*UD)
    sentences = list(read_conllu(io.BytesIO(one * ((1 << 20) // len(one) + 10))))
    assert {s.format for s in sentences} == {"conllu"}


@pytest.mark.parametrize("path", treebank_files())
def test_treebanks_with_and_without_heads(path):
    data = path.read_bytes()
    expected = "conllu" if path.suffix == ".conllu" else "conllx"
    assert next(read_conllu(io.BytesIO(data))).format == expected
    lines = [line.split(b"\t") for line in data.split(b"\n")]
    blind = [b"\t".join([*f[:6], b"_", b"_", b"_", b"_"] if len(f) == 10 else f) for f in lines]
    assert next(read_conllu(io.BytesIO(b"\n".join(blind)))).format == expected
