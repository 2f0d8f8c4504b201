"""From format to format: what must come through, what is lost, and that nothing else is."""

from __future__ import annotations

import io
import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arbora import read_conllu
from arbora.data import FORMATS, convert
from arbora.errors import ArgumentError, DataError
from tests.data.semantic import (
    BLIND09,
    FILES_08,
    FILES_09,
    MEND09,
    SALT08,
    row08,
    row09,
    treebanks,
)  # fmt: skip
from tests.data.zoo import ODD_FILES, SEA, STORM, TAGGED_X, row, text, treebank_files

WRITTEN = [name for name, entry in FORMATS.items() if not entry.read_only]
PAIRS = list(itertools.permutations(WRITTEN, 2))


def converted(data, to, **options):
    """The text in another format, and what was lost."""
    target = io.BytesIO()
    answer = convert(io.BytesIO(data), target, to, **options)
    return target.getvalue(), answer.lost


@pytest.mark.filterwarnings("ignore::arbora.errors.DataWarning")
@pytest.mark.parametrize(("here", "there"), PAIRS)
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_there_and_back_is_the_identity_if_nothing_was_reported_lost(here, there, data):
    file = data.draw(treebanks(here))
    try:
        new, lost = converted(file, there, format=here)
    except DataError:
        return  # not a good file
    sentences = list(read_conllu(io.BytesIO(new), there))  # it is always a file of that format
    assert len(sentences) == len(list(read_conllu(io.BytesIO(file), here)))
    back, lost_again = converted(new, here, format=there)
    if not lost and "comments" not in lost_again:
        assert back == file


@pytest.mark.filterwarnings("ignore::arbora.errors.DataWarning")
@pytest.mark.parametrize("here", ["conllx", "conll2008", "conll2009"])
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_conllu_holds_everything(here, data):
    file = data.draw(treebanks(here))
    try:
        new, lost = converted(file, "conllu", format=here)
    except DataError:
        return
    assert lost == {}
    assert converted(new, here, format="conllu")[0] == file


@pytest.mark.parametrize("name", FILES_09)
def test_files_of_2009_through_conllu(name):
    new, lost = converted(FILES_09[name], "conllu")
    assert lost == {}
    assert converted(new, "conll2009", format="conllu")[0] == FILES_09[name]


@pytest.mark.parametrize("name", FILES_08)
def test_files_of_2008_through_conllu(name):
    new, lost = converted(FILES_08[name], "conllu")
    assert lost == {}
    assert converted(new, "conll2008", format="conllu")[0] == FILES_08[name]


@pytest.mark.parametrize("to", WRITTEN)
@pytest.mark.parametrize("name", ODD_FILES)
def test_odd_files(name, to):
    data = ODD_FILES[name]
    new, _ = converted(data, to)
    assert len(list(read_conllu(io.BytesIO(new), to))) == len(list(read_conllu(io.BytesIO(data))))


def test_to_the_same_format_everything_stays():
    assert converted(ODD_FILES["mixed line ends"], "conllu") == (ODD_FILES["mixed line ends"], {})


def test_conllu_to_conllx():
    new, lost = converted(text(*STORM), "conllx")
    assert new == text(
        row(1, "Do", 3, "aux", lemma="do", upos="AUX", xpos="VB", feats="Mood=Imp|VerbForm=Fin"),
        row(2, "n't", 3, "advmod", lemma="not", upos="PART", feats="Polarity=Neg"),
        row(3, "wake", 0, "root", lemma="wake", upos="VERB"),
        row(4, "the", 6, "det", lemma="the", upos="DET"),
        row(5, "old", 6, "amod", lemma="old", upos="ADJ"),
        row(6, "captain", 3, "obj", lemma="captain", upos="NOUN"),
        row(7, ".", 3, "punct", lemma=".", upos="PUNCT"),
    )
    assert lost == {"comments": 2, "MISC": 2, "multiword tokens": 1, "empty nodes": 1, "DEPS": 1}


def test_conllx_to_conllu_keeps_the_projective_tree():
    new, lost = converted(text(*TAGGED_X), "conllu")
    assert lost == {}
    assert new.decode().split("\n")[0].split("\t")[8:] == ["_", "ProjHead=2|ProjDeprel=subj"]


def test_conll2009_to_conllu():
    new, lost = converted(text(*MEND09), "conllu")
    assert lost == {}
    assert new == text(
        row(1, "The", 2, "NMOD", lemma="the", xpos="DT"),
        row(2, "crew", 3, "SBJ", lemma="crew", xpos="NN", feats="Num=Sg", misc="PHead=3|Arg1=A0"),
        row(3, "mends", 0, "ROOT", lemma="mend", xpos="VBZ",
            misc="PLemma=mends|PHead=0|PDeprel=ROOT|Pred=mend.01"),
        row(4, "nets", 3, "OBJ", lemma="net", xpos="NNS",
            misc=r"PPos=VBZ|PFeat=Num=Pl\pCase=Acc|Pred=net.01|Arg1=A1"),
    )  # fmt: skip


def test_predictions_stand_in_for_gold_columns_of_a_blind_file():
    new, lost = converted(text(*BLIND09), "conllu")
    assert lost == {}
    first = new.decode().split("\n")[0].split("\t")
    assert first[2:6] == ["kelp", "_", "NN", "Num=Sg"]
    assert first[9] == "GoldLemma=_|GoldPos=_|GoldFeat=_"


def test_conll2009_to_conllx():
    new, lost = converted(text(*MEND09), "conllx")
    assert lost == {
        "PHEAD": 2, "PRED": 2, "FILLPRED": 2, "APRED": 2, "PDEPREL": 1, "PLEMMA": 1, "PPOS": 1,
        "PFEAT": 1,
    }  # fmt: skip
    assert new.decode().split("\n")[1].split("\t")[:6] == [
        "2", "crew", "crew", "NN", "NN", "Num=Sg",
    ]  # fmt: skip


def test_conllu_to_conll2009():
    new, lost = converted(text(*SEA), "conll2009")
    assert lost == {}
    assert new == text(
        row09(1, "Das", 2, "SB"), row09(2, "Meer", 3, "NK"), row09(3, "schläft", 0, "ROOT")
    )
    tagged = row(1, "Ho", 0, "root", lemma="ho", upos="INTJ")
    new, lost = converted(text(tagged), "conll2009", format="conllu")
    assert new == text(row09(1, "Ho", 0, "root", lemma="ho", pos="INTJ"))
    assert lost == {"UPOS": 1}  # it became the one tag that there is, which says not which it was


def test_split_tokens_are_multiword_tokens():
    new, lost = converted(text(*SALT08), "conllu")
    assert lost == {}
    lines = new.decode().split("\n")
    assert lines[0].split("\t") == [
        "1-3", "salt-worn", *["_"] * 7, "TokenLemma=salt-worn|GPos=JJ|TokenPos=JJ",
    ]  # fmt: skip
    assert lines[4].split("\t")[9] == "TokenPos=VBZ"
    two = [row("1-2", "am"), row(1, "an", 2, "c"), row(2, "dem", 0, "r")]
    new, lost = converted(text(*two), "conll2008", format="conllu")
    assert lost == {}
    assert new == text(
        row08(1, "an", 2, "c", token=["am", "_", "_", "_"]),
        row08(2, "dem", 0, "r", token=["_", "_", "_", "_"]),
    )


def test_semantic_columns_between_2008_and_2009():
    new, lost = converted(text(*SALT08), "conll2009")
    assert set(lost) == {"FORM", "LEMMA", "GPOS", "PPOS"}
    (s,) = read_conllu(io.BytesIO(new))
    assert s.format == "conll2009"
    assert new.decode().split("\n")[2].split("\t")[12:] == ["Y", "wear.01", "_"]


def test_strict_refuses_and_writes_nothing(tmp_path):
    source, target = tmp_path / "in.conllu", tmp_path / "out"
    source.write_bytes(text(*SEA) + text(*STORM))
    target.write_text("old")
    with pytest.raises(DataError, match=r"line 7: CoNLL-X cannot hold .*\(DEPS, MISC, comments"):
        convert(source, target, "conllx", strict=True)
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.conllu", "out"]
    source.write_bytes(text(*SEA))
    assert convert(source, target, "conllx", strict=True).lost == {}


def test_arguments():
    with pytest.raises(ArgumentError, match="there is no format 'xml'"):
        converted(text(*SEA), "xml")
    with pytest.raises(ArgumentError, match="there is no format 'xml'"):
        converted(text(*SEA), "conllu", format="xml")


def test_huge_numbers_of_argument_columns_are_not_believed():
    data = text(row(1, "a", 0, misc="ArgColumns=99999999|Arg99999=A0"))
    new, lost = converted(data, "conll2009", format="conllu")
    assert len(new) < 1000
    assert lost == {"MISC": 1}


@pytest.mark.parametrize("path", treebank_files())
def test_treebanks(path):
    """A slice of real files: all formats, and back where nothing is lost."""
    data = path.read_bytes()[:200_000]
    data = data[: data.rfind(b"\n\n") + 2]
    here = "conllu" if path.suffix == ".conllu" else "conllx"
    for to in WRITTEN:
        new, lost = converted(data, to, format=here)
        if not lost:
            assert converted(new, here, format=to)[0] == data
