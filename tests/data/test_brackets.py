"""Phrase structures of the Penn Treebank as dependency trees."""

from __future__ import annotations

import gzip
import io
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arbora import read_conllu
from arbora.data import FORMATS, Sign, convert, format_named, head_rules, read_blocks
from arbora.errors import ArboraError, ArgumentError, DataError, DataWarning, FileError
from tests.data.bracketed import BY_HAND, TABLE, bracketed_trees, slow_tree

SAIL = "( (S (NP-SBJ (PRP They)) (VP (VBD sailed)) (. .)))\n"
EEL = "(NP (DT an) (NN eel))\n"

pytestmark = pytest.mark.filterwarnings("ignore:.*the head rules have no row:UserWarning")


def read(text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return list(read_conllu(io.BytesIO(data), "ptb", **options))


def converted(text, to, **options):
    target = io.BytesIO()
    answer = convert(io.BytesIO(text.encode()), target, to, **options)
    return target.getvalue().decode(), answer


@pytest.mark.parametrize("name", BY_HAND)
def test_heads_by_hand(name):
    text, heads = BY_HAND[name]
    (sentence,) = read(text)
    assert sentence.heads.tolist() == heads
    assert slow_tree(text)[2] == heads
    assert sentence.labels == ["_"] * len(heads)


def test_the_table_row_by_row():
    """Both typed by hand from the published table, in two notations."""
    rows = head_rules().rows
    assert set(rows) == set(TABLE)
    for label, row in TABLE.items():
        side, *classes = row.split()
        steps = [*(frozenset(names.split("/")) for names in classes), frozenset()]
        assert [labels for _, labels in rows[label]] == steps
        assert {direction for direction, _ in rows[label]} == {1 if side == "left" else -1}


def is_projective(heads):
    """No arc crosses another; the root stands before the first word."""
    arcs = [tuple(sorted((word, head))) for word, head in enumerate(heads, start=1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees=bracketed_trees(), chunk_size=st.integers(1, 200))
def test_trees_at_random(trees, chunk_size):
    expected = [answer for answer in map(slow_tree, trees) if answer[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        sentences = read("\n".join(trees), chunk_size=chunk_size, trees=True)
    assert [(s.forms, s.xpos, s.heads.tolist()) for s in sentences] == expected
    for sentence in sentences:
        heads = sentence.heads.tolist()
        assert heads.count(0) == 1
        assert is_projective(heads)


LAYOUTS = {
    "one line": SAIL + EEL,
    "no final newline": SAIL + EEL.rstrip(),
    "two trees on a line": SAIL.rstrip() + " " + EEL,
    "indented": SAIL.replace(" (VP", "\n    (VP").replace(" (. ", " \n    (. ") + "\n" + EEL,
    "unindented": SAIL.replace(" (VP", "\n(VP") + EEL,
    "carriage returns": (SAIL + EEL).replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + SAIL + EEL,
    "comments": "*x*x*x*\n*x*  Copyright (C) *x*\n\n" + SAIL + "*x* (between)\n" + EEL + "*x*",
    "no spaces": SAIL.replace(") (", ")(").replace("( (", "((") + EEL,
    "another outer label": SAIL.replace("( (S", "(TOP (S") + EEL,
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("chunk_size", [1, 20, 1 << 19])
def test_layouts(name, chunk_size):
    sentences = read(LAYOUTS[name], chunk_size=chunk_size)
    assert [s.forms for s in sentences] == [["They", "sailed", "."], ["an", "eel"]]
    assert [s.heads.tolist() for s in sentences] == [[2, 0, 2], [2, 0]]
    beginning = LAYOUTS[name].encode()
    assert format_named("ptb").reader.recognises(beginning) is Sign.certain
    assert {chunk.format for chunk in read_blocks(io.BytesIO(beginning))} == {"ptb"}


def test_other_files_are_not_recognised():
    reader = format_named("ptb").reader
    for beginning in (b"", b"\n", b"1\t(\t_\n", b"# (S\n", b"*x*\n", b"word (S)"):
        assert reader.recognises(beginning) is Sign.no


BAD = [
    ("(NP (DT an) (NN eel)\n", 1, "a bracket is not closed; write )"),
    (EEL + SAIL.replace("( (S", "(\n (S").rstrip().removesuffix(")"), 2, "a bracket is not closed"),
    (SAIL.replace(" (. .)))", "") + SAIL, 1, "a bracket is not closed; write )"),
    (SAIL.rstrip() + ")\n", 1, "a bracket is closed that is not open; remove it"),
    (EEL + "eel\n", 2, "text outside of brackets; remove it, or begin the line with *x*"),
    (EEL + "(NP\n (DT an)\n eel)\n", 4, "'eel' is not in a bracket of its own; write (TAG eel)"),
    ("(NP (NN an eel))\n", 1, "'eel' is not in a bracket of its own; write (TAG eel)"),
    ("( (NN eel) kelp)\n", 1, "'kelp' is not in a bracket of its own; write (TAG kelp)"),
    ("(NP (NN eel (DT an)))\n", 1, "a bracket follows the word 'eel'; put tag and word only"),
    ("(NP\n (NN))\n", 2, "a bracket is empty; write (TAG word)"),
    ("()\n", 1, "a bracket is empty"),
    ("(eel)\n", 1, "a bracket is empty"),
    ("(NP ())\n", 1, "a bracket is empty"),
    ("(NP (NN (DT an)) (( eel)))\n", 1, "has no label"),
    (EEL.encode() + b"(NP\n (NN \xe5l))\n", 3, "the line is not UTF-8; convert the file"),
]


@pytest.mark.parametrize("chunk_size", [1, 1000])
@pytest.mark.parametrize(("text", "line", "words"), BAD)
def test_malformed_brackets(text, line, words, chunk_size):
    with pytest.raises(DataError) as caught:
        read(text, chunk_size=chunk_size)
    assert str(caught.value).startswith(f"stream, line {line}: ")
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("chunk_size", [1, 1000])
@pytest.mark.parametrize(("text", "line", "words"), BAD)
def test_malformed_trees_are_skipped(text, line, words, chunk_size):
    data = text if isinstance(text, bytes) else text.encode()
    data = data.rstrip(b"\n") + b"\n" + (SAIL + EEL).encode()
    reader = read_conllu(io.BytesIO(data), "ptb", skip_bad=True, chunk_size=chunk_size)
    sentences = list(reader)
    assert reader.errors[0].line == line
    assert words in str(reader.errors[0])
    assert len(reader.errors) <= 2
    assert [s.forms[0] for s in sentences[-2:]] == ["They", "an"]
    assert sentences[-1].forms == ["an", "eel"]


DAMAGE = ["", "(", ")", " ", "\n", "((", "-NONE-", "\x00", "\udcff"]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_files_are_refused_in_a_sentence(data):
    text = "\n".join(data.draw(bracketed_trees()))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(DAMAGE)) + text[at + 1 :]
    damaged = text.encode("utf-8", "surrogateescape")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        whole = read_conllu(io.BytesIO(damaged), "ptb", skip_bad=True)
        sentences = list(whole)
        pieces = read_conllu(io.BytesIO(damaged), "ptb", skip_bad=True, chunk_size=1)
        assert list(pieces) == sentences
        assert [str(e) for e in pieces.errors] == [str(e) for e in whole.errors]
        try:
            assert len(read(damaged)) == len(sentences)
        except ArboraError as error:
            assert str(error) == str(whole.errors[0])  # noqa: PT017


def test_very_deep_brackets():
    (sentence,) = read("(NP " * 20_000 + "(NN eel)" + ")" * 20_000)
    assert sentence.forms == ["eel"]


def test_trees_without_words_are_left_out_with_a_warning():
    with pytest.warns(DataWarning, match="line 2: the tree has only empty elements"):
        sentences = read(EEL + "( (S (NP (-NONE- *)) (VP (-NONE- *?*))))\n" + EEL)
    assert len(sentences) == 2


def test_phrases_that_the_head_rules_lack_give_a_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(EEL + 2 * "(NML (NN eel) (NN trap))\n")
    assert len(caught) == 1
    assert "line 2: the head rules have no row for NML" in str(caught[0].message)


def test_to_conllx_and_conllu():
    new, answer = converted(SAIL, "conllx")
    assert new == (
        "1\tThey\t_\tPRP\tPRP\t_\t2\t_\t_\t_\n2\tsailed\t_\tVBD\tVBD\t_\t0\t_\t_\t_\n"
        "3\t.\t_\t.\t.\t_\t2\t_\t_\t_\n\n"
    )
    assert answer.to_dict() == {
        "from": "ptb", "to": "conllx", "sentences": 1, "words": 3,
        "lost": {"phrases": 3, "function tags": 1},
    }  # fmt: skip
    new, answer = converted(SAIL, "conllu")
    assert new.startswith("1\tThey\t_\t_\tPRP\t_\t2\t_\t_\t_\n")
    text, _ = BY_HAND["relative clause with a trace"]
    for to in ("conllu", "conllx", "conll2008", "conll2009"):
        _, answer = converted(text, to)
        assert answer.lost == {"phrases": 7, "function tags": 2, "empty elements": 1}
    assert converted("(NN Eel)", "conllx")[1].lost == {}


def test_strict_refuses_to_lose_the_phrases():
    with pytest.raises(DataError, match=r"line 2: CoNLL-X cannot hold all .*\(phrases\)"):
        converted("(UH Ho)\n" + EEL, "conllx", strict=True)
    assert converted("(UH Ho)\n", "conllx", strict=True)[1].words == 1


def test_brackets_are_not_written():
    with pytest.raises(ArgumentError, match="are read, not written: choose one of conllu, conllx"):
        converted(SAIL, "ptb")
    for name, entry in FORMATS.items():
        assert entry.read_only == (name in {"ptb", "horizontal", "vertical"})


@pytest.fixture
def sections(tmp_path):
    """Folders as in the Penn Treebank, with files of several kinds."""
    for name, text in {
        "wsj/03/wsj_0300.mrg": "(NN c)",
        "wsj/02/wsj_0200.mrg": "(NN a)\n",
        "wsj/02/WSJ_0201.MRG": "(NN b)\n",
        "wsj/02/readme": "text",
        "wsj/04/deep/down.parse": "(NN d)\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with gzip.open(tmp_path / "wsj/04/e.mrg.gz", "wb") as file:
        file.write(b"(NN e)\n")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_folders_and_several_files(sections):
    target, seen = io.BytesIO(), []
    answer = convert(
        [sections / "wsj" / "03", sections / "wsj" / "02", sections / "wsj" / "04"],
        target, "conllx", on_chunk=lambda chunk: seen.append(chunk.bytes_read),
    )  # fmt: skip
    forms = [s.forms[0] for s in read_conllu(io.BytesIO(target.getvalue()), "conllx")]
    assert forms[0] == "c"
    assert set(forms[1:3]) == {"a", "b"}
    assert forms[3:] == ["d", "e"]
    assert answer.source == "ptb"
    assert seen == sorted(seen)
    with pytest.raises(FileError, match=r"empty has no files that end in .mrg or .parse"):
        convert(sections / "empty", io.BytesIO(), "conllx")
    with pytest.raises(FileError, match=r"wsj cannot be read"):
        convert(sections / "wsj", io.BytesIO(), "conllu", format="conllx")
    with pytest.raises(ArgumentError, match="there are no files"):
        convert([], io.BytesIO(), "conllx")
    (sections / "wsj/02/wsj_0202.mrg").write_text("\n(NN b)\n(NN")
    with pytest.raises(DataError, match=r"wsj_0202\.mrg, line 3: a bracket is not closed"):
        convert(sections, io.BytesIO(), "conllx")


def test_files_in_two_formats(sections):
    (sections / "x.conllu").write_text("1\tf\t_\t_\t_\t_\t0\t_\t_\t_\n\n")
    answer = convert(
        [sections / "wsj/02/wsj_0200.mrg", sections / "x.conllu"], io.BytesIO(), "conllu"
    )
    assert answer.source == "ptb + conllu"
    assert answer.words == 2


RULES = """## our own
NP\tl NN|NNS;l
VP  r
"""


def test_own_head_rules(tmp_path):
    path = tmp_path / "rules"
    path.write_text(RULES)
    new, _ = converted("(NP (DT an) (NN eel) (NN trap))", "conllx", head_rules=path)
    assert [line.split("\t")[6] for line in new.split("\n") if line] == ["2", "0", "2"]
    rules = head_rules(path)
    assert rules.head("VP", ["VB", "NP", "."]) == 1
    assert rules.head("NP", ["DT", "CD"]) == 0
    assert head_rules(rules) is rules


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NP r NN\nNP l\n", "line 2: there are two rows for NP; remove one"),
        ("NP\n", "line 1: the row of NP has no step; write l or r"),
        ("## x\nNP NN; r\n", "line 2: a step must begin with l or r, not with 'NN'"),
        (b"\xff r\n", "line 1: the line is not UTF-8"),
    ],
)
def test_bad_head_rules(tmp_path, text, words):
    path = tmp_path / "rules"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=words):
        head_rules(path)


def test_head_rules_for_nothing():
    with pytest.raises(ArgumentError, match="there is no table of head rules 'collins': choose"):
        converted(SAIL, "conllx", head_rules="collins")
    with pytest.raises(ArgumentError, match="must be a name or a path, not 3"):
        head_rules(3)
    with pytest.raises(ArgumentError, match="stream is CoNLL-U, which has heads: leave out head_"):
        converted("1\tf\t_\t_\t_\t_\t0\t_\t_\t_\n\n", "conllx", head_rules="yamada2003")
