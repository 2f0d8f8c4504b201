"""Universal coarse tags from the fine tags of a treebank."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arbora import Sentence, read_conllu
from arbora.data import (
    UNIVERSAL_TAGS,
    Block,
    convert,
    read_blocks,
    tag_map,
    with_universal_tags,
)
from arbora.data.tables import built_in_names
from arbora.errors import ArgumentError, DataError, DataWarning, FileError
from tests.data.semantic import MEND09
from tests.data.zoo import STORM, row, text

MAPS = {
    "penn": ("wsj_sample", 45),
    "ddt": ("conllx_danish_ddt", 25),
    "cast3lb": ("conllx_spanish_cast3lb", 47),
    "eus3lb": ("conll07_basque", 62),
}
EEL = text(
    row(1, "Two", 2, "NMOD", upos="CD", xpos="CD"),
    row(2, "eels", 3, "SBJ", upos="NNS", xpos="NNS"),
    row(3, "swim", 0, "ROOT", upos="VBP", xpos="VBP"),
    row(4, "!", 3, "P", upos=".", xpos="."),
)


def block_of(data, name="conllx"):
    (chunk,) = read_blocks(io.BytesIO(data), name)
    return chunk.block


def converted(data, to="conllx", **options):
    target = io.BytesIO()
    convert(io.BytesIO(data), target, to, **options)
    return target.getvalue()


def test_the_twelve_tags():
    assert len(set(UNIVERSAL_TAGS)) == 12
    assert built_in_names("tags") == sorted(MAPS)
    for name in MAPS:
        assert set(tag_map(name).values()) <= set(UNIVERSAL_TAGS)


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("penn", "NNP NOUN,MD VERB,TO PRT,POS PRT,IN ADP,WP$ PRON,WRB ADV,EX DET,$ .,# .,CD NUM"),
        ("ddt", "AC NUM,AO ADJ,CS CONJ,U PRT,XP .,PI PRON,SP ADP,XF X,VE VERB,RG ADV,NP NOUN"),
        ("cast3lb", "da DET,p0 PRON,sp ADP,rn ADV,vs VERB,Fc .,z NUM,w NUM,i X,ao ADJ,cs CONJ"),
        (
            "eus3lb",
            "ADL VERB,DET_DZH NUM,DET_ORD ADJ,IZE_LIB NOUN,LOT_JNT CONJ,PUNT_KOMA .,PRT PRT",
        ),
    ],
)
def test_entries_by_hand(name, pairs):
    table = tag_map(name)
    for pair in pairs.split(","):
        tag, universal = pair.split()
        assert table[tag] == universal


def test_only_the_coarse_column_changes():
    expected = EEL
    for old, new in (("CD\tCD", "NUM\tCD"), ("NNS\tN", "NOUN\tN"), ("VBP\tV", "VERB\tV")):
        expected = expected.replace(old.encode(), new.encode(), 1)
    block = with_universal_tags(block_of(EEL), "penn")
    assert block.texts(0, 1) == expected
    assert converted(EEL, format="conllx", universal_tags="penn") == expected
    (sentence,) = with_universal_tags(read_conllu(io.BytesIO(EEL), "conllx"), "penn")
    assert bytes(sentence) == expected
    again = with_universal_tags(block, "penn")
    assert again.texts(0, 1) == expected


def test_bytes_of_conllu_stay():
    """Comments, multiword tokens, empty nodes, line ends, further columns."""
    data = text(*STORM, end="\r\n")
    made = with_universal_tags(block_of(data, "conllu"), {"VB": "VERB"} | {
        tag: tag for tag in ("PART", "VERB", "DET", "ADJ", "NOUN", "PUNCT")
    })  # fmt: skip
    assert made.texts(0, 1) == data.replace(b"AUX", b"VERB")


def test_unknown_tags_are_x_and_are_counted():
    data = EEL.replace(b"NNS\tNNS", b"NNS\tKNOT") + EEL.replace(b"VBP\tVBP", b"V\tKNOT")
    expected = r"no universal tag for 2 words \(KNOT 2\); their tag is now X"
    with pytest.warns(DataWarning, match=expected) as caught:
        block = with_universal_tags(block_of(data), "penn")
    assert Path(caught[0].filename).name == Path(__file__).name
    assert [block.column(i, 3)[1:3] for i in (0, 1)] == [["X", "VERB"], ["NOUN", "X"]]
    with pytest.warns(DataWarning, match=expected) as caught:
        made = converted(data, format="conllx", universal_tags="penn")
    assert len(caught) == 1
    assert made == block.texts(0, 2)
    many = text(*(row(i, "x", 0, "r", xpos=f"T{i:02d}") for i in range(1, 13)))
    with pytest.warns(DataWarning, match=r"12 words \(T01 1, .*, T10 1 and 2 more\)"):
        with_universal_tags(block_of(many), {})


def test_words_without_fine_tags():
    data = text(row(1, "eel", 0, "r", upos="NN"), row(2, "x", 1, "r"))
    block = with_universal_tags(block_of(data), "penn")
    assert block.column(0, 3) == ["NOUN", "_"]
    assert block.column(0, 4) == ["_", "_"]


def test_fine_tags_that_need_the_coarse_one():
    """The official files of CoNLL 2007 have ARR of IZE and ARR of ADB."""
    data = text(row(1, "itsaso", 0, "r", upos="IZE", xpos="ARR"),
                row(2, "gaur", 1, "r", upos="ADB", xpos="ARR"))  # fmt: skip
    assert with_universal_tags(block_of(data), "eus3lb").column(0, 3) == ["NOUN", "ADV"]


def test_from_formats_with_one_tag():
    data = text(*MEND09)
    made = converted(data, "conllu", universal_tags="penn")
    (sentence,) = read_conllu(io.BytesIO(made))
    assert sentence.upos == ["DET", "NOUN", "VERB", "NOUN"]
    assert sentence.xpos == ["DT", "NN", "VBZ", "NNS"]
    made = converted(b"(NP (DT an) (NN eel))", "conllx", universal_tags="penn")
    assert made.split(b"\n")[1] == b"2\teel\t_\tNOUN\tNN\t_\t0\t_\t_\t_"


def test_a_map_of_ones_own(tmp_path):
    path = tmp_path / "own"
    path.write_text("## tags of the harbour\n#\t.\nEEL   PROPN\r\n\n")
    assert tag_map(path) == tag_map(str(path)) == {"#": ".", "EEL": "PROPN"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"NN\n", "line 1: the line must have two words: tag, universal tag"),
        (b"NN NOUN x\n", "line 1: the line must have two words"),
        (b"\nNN noun\n", "line 2: 'noun' is no universal tag; write one of VERB NOUN PRON"),
        (b"NN NOUN\nNN X\n", "line 2: there are two universal tags for NN"),
        (b"\xff X\n", "line 1: the line is not UTF-8"),
    ],
)
def test_bad_maps(tmp_path, data, words):
    (tmp_path / "own").write_bytes(data)
    with pytest.raises(DataError, match=words):
        tag_map(tmp_path / "own")


def test_arguments(tmp_path):
    expected = (
        "there is no map of universal tags 'klingon': choose cast3lb or ddt or eus3lb or penn"
    )
    with pytest.raises(ArgumentError, match=expected):
        converted(EEL, universal_tags="klingon")
    with pytest.raises(FileError, match="cannot be read"):
        tag_map(tmp_path)
    with pytest.raises(ArgumentError, match="CoNLL-2009 has no column for universal tags"):
        converted(EEL, "conll2009", format="conllx", universal_tags="penn")
    with pytest.raises(ArgumentError, match="CoNLL-2009 has no column for universal tags"):
        with_universal_tags(block_of(text(*MEND09), "conll2009"), "penn")
    with pytest.raises(ArgumentError, match="takes a block or sentences, not str"):
        with_universal_tags(["eel"], "penn")
    with pytest.raises(ArgumentError, match="takes a block or sentences"):
        with_universal_tags(3, "penn")


@settings(max_examples=100, deadline=None)
@given(
    tags=st.lists(st.sampled_from(["NN", "VB", "KNOT", "_", ","]), min_size=1, max_size=6),
    coarse=st.sampled_from(["_", "NN", "X", "NOUN"]),
)
def test_sentences_and_blocks_agree(tags, coarse):
    """Against a line by line reading of the rule."""
    table = tag_map("penn")
    expected = []
    for tag in tags:
        used = coarse if tag == "_" else tag
        expected.append("_" if used == "_" else table.get(used, "X"))
    columns = {"xpos": tags, "upos": [coarse] * len(tags), "feats": ["A=b"] * len(tags)}
    sentence = Sentence.from_words(["w"] * len(tags), **columns)
    block = Block.from_columns([["w"] * len(tags)], **{k: [v] for k, v in columns.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert with_universal_tags([sentence], "penn")[0].upos == expected
        made = with_universal_tags(block, "penn")
    assert made.column(0, 3) == expected
    assert made.column(0, 4) == tags
    assert made.column(0, 5) == columns["feats"]


@pytest.mark.filterwarnings("ignore:.*has spaces around it:UserWarning")
@pytest.mark.skipif("ARBORA_TREEBANKS" not in os.environ, reason="ARBORA_TREEBANKS is not set")
@pytest.mark.parametrize("name", MAPS)
def test_maps_cover_their_treebanks(name):
    folder, count = MAPS[name]
    table, tags = tag_map(name), set()
    for path in sorted((Path(os.environ["ARBORA_TREEBANKS"]) / folder).glob("*.conll")):
        for chunk in read_blocks(path, "conllx"):
            lines = chunk.block.texts(0, len(chunk.block)).decode().split("\n")
            tags |= {line.split("\t")[4] for line in lines if line.strip()}
            with warnings.catch_warnings():
                warnings.simplefilter("error", DataWarning)
                made = with_universal_tags(chunk.block, name)
            for old, new in zip(lines, made.texts(0, len(made)).decode().split("\n"), strict=True):
                if old.strip():
                    before, after = old.split("\t"), new.split("\t")
                    assert after[3] == table[before[4]]
                    before[3] = after[3]
                    assert before == after
    assert len(tags) == count
