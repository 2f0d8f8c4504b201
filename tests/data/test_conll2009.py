"""CoNLL-2009 and CoNLL-2008: read, written and recognised."""

from __future__ import annotations

import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arbora import read_conllu, write_conllu
from arbora.data import FORMATS, Block, format_named
from arbora.errors import ArboraError, ArgumentError, DataError
from arbora.testing.slow_data import read_slowly
from tests.data.semantic import (
    BLIND08,
    BLIND09,
    FILES_08,
    FILES_09,
    MEND09,
    SALT08,
    row08,
    row09,
    treebanks,
)  # fmt: skip
from tests.data.zoo import SEA, STORM, TAGGED_X, text

FILES = {
    **{f"2009, {name}": ("conll2009", data) for name, data in FILES_09.items()},
    **{f"2008, {name}": ("conll2008", data) for name, data in FILES_08.items()},
}
WRITTEN = [name for name, entry in FORMATS.items() if not entry.read_only]


def written(data, **options):
    target = io.BytesIO()
    write_conllu(target, read_conllu(io.BytesIO(data), **options))
    return target.getvalue()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("chunk_size", [1, 100, 1 << 19])
def test_round_trip(name, chunk_size):
    expected, data = FILES[name]
    assert written(data, chunk_size=chunk_size) == data
    assert written(data, format=expected, chunk_size=chunk_size) == data
    assert {s.format for s in read_conllu(io.BytesIO(data))} == {expected}


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), chunk_size=st.sampled_from([1, 7, 1000]))
def test_whatever_is_read_is_written_back(name, data, chunk_size):
    file = data.draw(treebanks(name))
    try:
        sentences = list(read_conllu(io.BytesIO(file), name, chunk_size=chunk_size))
    except DataError:
        return  # fields at random may be wrong in many ways; that is another test
    target = io.BytesIO()
    write_conllu(target, sentences)
    assert target.getvalue() == file


DAMAGE = [b"", b"\t", b"\n", b"7", b"_", b"\xff", b" "]


@pytest.mark.filterwarnings("ignore::arbora.errors.DataWarning")
@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_files_are_refused_in_a_sentence(name, data):
    file = bytearray(data.draw(treebanks(name)))
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(file) - 1))
        file[at : at + 1] = data.draw(st.sampled_from(DAMAGE))
    for form in (name, None):
        try:
            for sentence in read_conllu(io.BytesIO(bytes(file)), form, skip_bad=True):
                assert len(sentence.forms) == len(sentence) == len(sentence.xpos)
        except ArboraError as error:
            assert "may be" in str(error)  # noqa: PT017  # only its format can be in doubt


PLACES = {"conll2008": (5, 6, 7, 9), "conll2009": (1, None, None, 10)}  # None: one of two


@pytest.mark.parametrize("name", PLACES)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_columns_are_those_of_the_slow_reader(name, data):
    file = data.draw(treebanks(name))
    try:
        sentences = list(read_conllu(io.BytesIO(file), name))
    except DataError:
        return
    slow = read_slowly(file.decode())
    assert len(sentences) == len(slow)
    for sentence, rows in zip(sentences, slow, strict=True):
        found = (sentence.forms, sentence.lemmas, sentence.xpos, sentence.labels)
        for place, values in zip(PLACES[name], found, strict=True):
            assert place is None or values == [row[place] for row in rows]
        if name == "conll2009":
            for gold, values in ((2, sentence.lemmas), (4, sentence.xpos), (6, sentence.feats)):
                blind = all(row[gold + 1] == "_" for row in rows)
                assert values == [row[gold if blind else gold + 1] for row in rows]


def test_columns_of_2009():
    mend, blind = read_conllu(io.BytesIO(FILES_09["plain"]))
    assert mend.forms == ["The", "crew", "mends", "nets"]
    assert mend.lemmas == ["the", "crew", "mends", "net"]
    assert mend.xpos == ["DT", "NN", "VBZ", "VBZ"]
    assert mend.feats == ["_", "Num=Sg", "_", "Num=Pl|Case=Acc"]
    assert mend.heads.tolist() == [2, 3, 0, 3]
    assert mend.labels == ["NMOD", "SBJ", "ROOT", "OBJ"]
    assert mend.upos == mend.deps == mend.misc == ["_"] * 4
    assert blind.lemmas == ["kelp", "float"]
    assert blind.heads.tolist() == [-1, -1]


def test_gold_columns_stand_in_for_predicted_ones_of_a_whole_sentence():
    lines = [
        row09(1, "a", lemma="A", plemma="_", pos="N", ppos="_"),
        row09(2, "b", lemma="B", plemma="_", pos="V", ppos="VV"),
    ]
    (s,) = read_conllu(io.BytesIO(text(*lines)), "conll2009")
    assert s.lemmas == ["A", "B"]
    assert s.xpos == ["_", "VV"]  # one prediction is enough: the gold tags are not for the parser


def test_columns_of_2008():
    salt, _ = read_conllu(io.BytesIO(FILES_08["plain"]))
    assert salt.forms == ["salt", "-", "worn", "nets", "drift"]
    assert salt.lemmas == ["salt", "-", "wear", "net", "drift"]
    assert salt.xpos == ["NN", "HYPH", "VBN", "NNS", "VBP"]
    assert salt.heads.tolist() == [3, 3, 4, 5, 0]
    assert salt.labels == ["HMOD", "P", "NMOD", "SBJ", "ROOT"]
    assert salt.feats == ["_"] * 5


def test_new_trees_go_into_head_and_deprel():
    (s,) = read_conllu(io.BytesIO(text(*MEND09)))
    new = s.with_tree([0, 1, 2, 3], ["a", "b", "c", "d"])
    for line, old, head, label in zip(
        new.to_conllu().split("\n"), MEND09, "0123", "abcd", strict=False
    ):
        fields, before = line.split("\t"), old.split("\t")
        assert (fields[8], fields[10]) == (head, label)
        before[8], before[10] = head, label
        assert fields == before
    (s,) = read_conllu(io.BytesIO(text(*SALT08)))
    assert s.with_tree([2, 0, 2, 3, 4]).heads.tolist() == [2, 0, 2, 3, 4]


def test_new_tags_go_into_the_predicted_column():
    lines = [row09(1, "a", 0, "R", pos="N", ppos="_"), row09(2, "b", 1, "R", pos="V", ppos="_")]
    reader = format_named("conll2009").reader
    block = Block(text(*lines, end=" \r\n"), reader.layout)
    new = block.with_columns(xpos=[["X", "Y"]], lemmas=[["l", "m"]])
    assert new.column(0, 4) == ["X", "Y"]
    assert new.text(0).decode().split("\t")[3:6] == ["l", "N", "X"]
    assert new.text(0) == text(
        row09(1, "a", 0, "R", pos="N", ppos="X", plemma="l"),
        row09(2, "b", 1, "R", pos="V", ppos="Y", plemma="m"),
        end=" \r\n",
    )
    with pytest.raises(ArgumentError, match="CoNLL-2009 has no UPOS column"):
        block.with_columns(upos=[["X", "Y"]])


BAD = [
    ("conll2009", text(row09(1, "a")[:-2]), "13 columns and CoNLL-2009 has at least 14; separate"),
    ("conll2009", text(*TAGGED_X), "10 columns and CoNLL-2009 has at least 14"),
    ("conll2008", text(*TAGGED_X), "10 columns and CoNLL-2008 has at least 11"),
    ("conll2009", text(row09(1, "a"), row09(2, "b", "_", "_", "A0")),
     "line 2: the line has 15 columns where the sentence began with 14; give all words"),
    ("conll2009", text(row09("1-2", "a")), "the id is '1-2' where 1 is expected"),
    ("conll2009", text(row09("2", "a")), "the id is '2' where 1 is expected"),
    ("conll2009", text(row09(1, "a", 3)), "the head 3 of word 1 is outside"),
    ("conll2009", text(row09(1, "a", 1)), "word 1 is its own head"),
    ("conll2009", text(row09(1, "a", "x")), "the head 'x' of word 1 is not a number"),
    ("conll2009", text(row09(1, "a", 0, "R", "")), "column APRED1 is empty"),
    ("conll2008", text(row08(1, "a", 0, "R", "_", "")), "column ARG2 is empty"),
    ("conll2009", text(row09(1, "a", 0, "")), "column DEPREL is empty"),
    ("conll2009", text(row09(1, "a ", 0)), "FORM 'a ' has spaces around it; remove them"),
    ("conll2009", b"1\xff\t", "byte 0xFF at position 2"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "words"), BAD)
def test_bad_lines(name, data, words):
    with pytest.raises(DataError, match=words) as caught:
        list(read_conllu(io.BytesIO(data), name))
    assert caught.value.file == "stream"
    good = text(*(MEND09 if name == "conll2009" else SALT08))
    reader = read_conllu(io.BytesIO(good + data + b"\n\n" + good), name, skip_bad=True)
    assert len(list(reader)) == 2
    assert len(reader.errors) == 1
    assert reader.errors[0].line > good.count(b"\n")


def test_spaces_around_other_columns_are_a_warning():
    data = text(row09(1, "a", 0, "R", lemma=" a"))
    with pytest.warns(UserWarning, match="LEMMA ' a' has spaces around it"):
        assert written(data) == data


def test_trees_and_long_sentences():
    lines = [row09(1, "a", 2, "x"), row09(2, "b", 1, "x")]
    with pytest.raises(DataError, match="no word of the sentence has head 0"):
        list(read_conllu(io.BytesIO(text(*lines)), trees=True))


RECOGNISED = {
    "2009": (MEND09, "conll2009"),
    "2009, blind": (BLIND09, "conll2009"),
    "2009 without anything": ([row09(1, "a")], "conll2009"),
    "2009 without predictions": ([row09(1, "a", 0, "ROOT")], "conll2009"),
    "2008": (SALT08, "conll2008"),
    "2008, blind": (BLIND08, "conll2008"),
    "2008 with many predicates": (
        [row08(i, "x", 0 if i == 1 else 1, "L", *["A0"] * 4, pred="p") for i in range(1, 5)],
        "conll2008",
    ),
    "CoNLL-U": (STORM, "conllu"),
    "CoNLL-X": (TAGGED_X, "conllx"),
    "no tags": (SEA, "conllu"),
}


@pytest.mark.parametrize("name", RECOGNISED)
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n\n", b"# arbora.rank = 1\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_recognition(name, start, end):
    lines, expected = RECOGNISED[name]
    assert next(read_conllu(io.BytesIO(start + text(*lines, end=end)))).format == expected


def test_a_file_that_may_be_two_formats_is_refused():
    lines = [row08(i, "x", "_", "_", "_", "_", "_", pred="Y") for i in range(1, 4)]
    with pytest.raises(DataError, match="may be CoNLL-2008 or CoNLL-2009; say which with format"):
        list(read_conllu(io.BytesIO(text(*lines))))
    for name in ("conll2008", "conll2009"):
        assert len(list(read_conllu(io.BytesIO(text(*lines)), name))) == 1


def test_other_numbers_of_columns_are_refused():
    with pytest.raises(DataError, match="the line has 3 columns instead of 10"):
        list(read_conllu(io.BytesIO(b"1\ta\tb\n")))
