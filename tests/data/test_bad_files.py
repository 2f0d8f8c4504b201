"""A bad sentence ends in one sentence with file and line, or is skipped and no other with it."""

from __future__ import annotations

import gzip
import io
import pickle
import tracemalloc
import warnings

import pytest

from arbora import (
    ArboraError,
    ArgumentError,
    DataError,
    DataWarning,
    FileError,
    Sentence,
    read_conllu,
)
from arbora.data import read_blocks, treebank
from arbora.data.treebank import read_treebank
from tests.data.zoo import SEA, STORM, row, text

CYCLE = [row(1, "a", 2), row(2, "b", 1), row(3, "c", 0)]
NO_ROOT = [row(1, "a", 2), row(2, "b", 3), row(3, "c", 1)]

# lines of a sentence, the one that is to blame (from 1), and words of the message
BAD = {
    "nine columns": ([SEA[0], row(2, "x", 1).rsplit("\t", 1)[0]], 2, "9 columns instead of 10"),
    "eleven columns": ([SEA[0] + "\t_"], 1, "11 columns"),
    "spaces for tabs": ([SEA[0].replace("\t", " ")], 1, "1 column instead of 10"),
    "ids from 0": ([row(0, "x", 1)], 1, "id is '0' where 1 is expected"),
    "ids from 2": ([row(2, "x", 0)], 1, "id is '2' where 1 is expected"),
    "a gap in the ids": ([SEA[0], row(3, "x", 0)], 2, "id is '3' where 2"),
    "no blank line": ([*SEA, *SEA], 4, "blank line between sentences"),
    "id with a zero": ([row("01", "x", 0)], 1, "id is '01'"),
    "id that is a word": ([row("one", "x", 0)], 1, "id is 'one'"),
    "range too late": ([SEA[0], row("1-2", "x"), *SEA[1:]], 2, "multiword token '1-2'"),
    "range backwards": ([SEA[0], row("2-1", "x"), *SEA[1:]], 2, "runs backwards"),
    "ranges that overlap": (
        [row("1-2", "x"), SEA[0], row("2-3", "y"), *SEA[1:]], 3, "overlaps"
    ),
    "range past the end": ([*SEA[:2], row("3-9", "x"), SEA[2]], 3, "ends at word 9"),
    "range of nothing": ([row("1-2", "x")], 1, "no words"),
    "bad range": ([row("1-x", "x"), *SEA], 1, "multiword token '1-x'"),
    "empty node out of order": ([*SEA, row("2.1", "x")], 4, "empty node '2.1'"),
    "empty node twice": ([*SEA, row("3.1", "x"), row("3.1", "x")], 5, "3.1, 3.2"),
    "empty node after the token": (
        [SEA[0], row("2-3", "x"), row("1.1", "e"), *SEA[1:]], 3, "before the line of the multiword"
    ),
    "only an empty node": ([row("0.1", "x")], 1, "no words"),
    "head past the end": ([SEA[0], row(2, "x", 4), SEA[2]], 2, "head 4 of word 2 is outside"),
    "huge head": ([row(1, "x", 10**30)], 1, "is not a number"),
    "head of minus zero": ([row(1, "x", "-0")], 1, "head '-0' of word 1 is not a number"),
    "negative head": ([row(1, "x", -1)], 1, "head '-1' of word 1 is not a number"),
    "negative zero": ([row(1, "x", "-0")], 1, "head '-0' of word 1 is not a number"),
    "head that is a word": ([SEA[0], row(2, "x", "root")], 2, "head 'root'"),
    "empty head": ([row(1, "x", "")], 1, "head '' of word 1"),
    "empty form": ([SEA[0], row(2, "", 1)], 2, "column FORM is empty; write _"),
    "empty label": ([SEA[0], row(2, "x", 1, "")], 2, "column DEPREL is empty; write _"),
    "empty MISC": ([SEA[0], row(2, "x", 1, misc="")], 2, "column MISC is empty"),
    "MISC of spaces": ([SEA[0], row(2, "x", 1, misc="  ")], 2, "column MISC is empty"),
    "empty form of a range": ([row("1-2", ""), *SEA], 1, "column FORM is empty"),
    "empty head of a range": ([row("1-2", "x", ""), *SEA], 1, "column HEAD is empty"),
    "empty lemma of an empty node": ([*SEA, row("3.1", "x", lemma="")], 4, "column LEMMA is empty"),
    "space before a form": ([row(1, " x", 0)], 1, "FORM ' x' has spaces around it; remove them"),
    "space after a label": ([row(1, "x", 0, "root ")], 1, "DEPREL 'root ' has spaces around it"),
    "form of one space": ([row(1, " ", 0)], 1, "FORM ' ' has spaces"),
    "space before MISC": ([row(1, "x", 0, misc=" A=b")], 1, "MISC ' A=b' has spaces"),
    "carriage return in a label": ([row(1, "x", 0, "ro\rot")], 1, "carriage return stands inside"),
    "carriage return after a label": ([row(1, "x", 0, "root\r")], 1, "carriage return stands"),
    "carriage return in a form": ([SEA[0], row(2, "x\ry", 0)], 2, "carriage return stands inside"),
    "own head": ([SEA[0], row(2, "x", 2)], 2, "word 2 is its own head"),
    "10 MB line": (["x" * 10_000_000], 1, "1 column instead"),
    "10 MB id": ([row("é" * 5_000_000, "x", 0)], 1, "id is 'éé"),
}  # fmt: skip


def is_one_sentence(error):
    message = str(error.value if hasattr(error, "value") else error)
    return "\n" not in message and len(message) < 400 and message.endswith(".")


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_file_and_line(tmp_path, name, end):
    lines, at, words = BAD[name]
    path = tmp_path / "ship.conllu"
    path.write_bytes(text(*STORM, end=end) + text(*lines, end=end) + text(*SEA, end=end))
    reader = read_conllu(path)
    assert next(reader).forms[0] == "Do"
    with pytest.raises(DataError, match=words) as error:
        next(reader)
    assert error.value.line == len(STORM) + 1 + at
    assert str(error.value).startswith(f"{path}, line {error.value.line}: ")
    assert is_one_sentence(error)
    assert isinstance(error.value, ArboraError)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("chunk_size", [1 << 21, 50])
def test_skipping_loses_no_other(name, chunk_size):
    lines, at, _ = BAD[name]
    if chunk_size == 50 and "10 MB" in name:
        chunk_size = 5_000_000
    data = text(*STORM) + text(*lines) + text(*SEA) + text(*lines)
    seen = []
    reader = read_conllu(
        io.BytesIO(data), skip_bad=True, on_error=seen.append, chunk_size=chunk_size
    )
    assert b"".join(bytes(s) for s in reader) == text(*STORM) + text(*SEA)
    assert [str(error) for error in reader.errors] == [str(error) for error in seen]
    second = len(STORM) + 1 + len(lines) + 1 + len(SEA) + 1
    assert [error.line for error in seen] == [len(STORM) + 1 + at, second + at]


@pytest.mark.parametrize(("lines", "words", "line"), [
    (CYCLE, "lead from word 1 back to it", 1),
    (NO_ROOT, "no word of the sentence has head 0", 1),
    ([row(1, "a"), row(2, "b", 3), row(3, "c", 2)], "from word 2 back", 2),
])  # fmt: skip
def test_trees_are_checked_when_asked(lines, words, line):
    data = text(*lines)
    assert len(list(read_conllu(io.BytesIO(data)))) == 1
    with pytest.raises(DataError, match=words) as error:
        list(read_conllu(io.BytesIO(data), trees=True))
    assert error.value.line == line
    reader = read_conllu(io.BytesIO(data + text(*SEA)), trees=True, skip_bad=True)
    assert [s.forms[0] for s in reader] == ["Das"]
    assert len(reader.errors) == 1


HANDED_THROUGH = ("lemma", "upos", "xpos", "feats", "deps", "misc")


@pytest.mark.parametrize("column", HANDED_THROUGH)
def test_spaces_around_what_conllx_only_hands_through(column):
    """Published CoNLL-X treebanks have such lemmas: they are read, and once per file it is said."""
    fields = {"upos": "N", "deps": "0", "misc": "ROOT"} | {column: f" {column}"}
    good, odd = text(row(1, "skib", 0, "ROOT", upos="N")), text(row(1, "hav", 0, "ROOT", **fields))
    with pytest.warns(DataWarning, match=rf"^stream, line 5: .* ' {column}' has spaces") as seen:
        sentences = list(read_conllu(io.BytesIO(good * 2 + odd * 3), "conllx", chunk_size=40))
    assert len(seen) == 1
    assert is_one_sentence(seen[0].message)
    assert b"".join(map(bytes, sentences)) == good * 2 + odd * 3
    assert f" {column}" in {
        sentences[2].lemmas[0],
        sentences[2].upos[0],
        sentences[2].xpos[0],
        sentences[2].feats[0],
        sentences[2].deps[0],
        sentences[2].misc[0],
    }
    with pytest.raises(DataError, match="has spaces around it; remove them"):
        list(read_conllu(io.BytesIO(good + odd), "conllu"))


@pytest.mark.parametrize(("form", "label"), [(" x", "ROOT"), ("x", "ROOT "), ("", "r"), ("x", "")])
def test_forms_and_labels_of_conllx_are_checked_too(form, label):
    with pytest.raises(DataError, match=r"spaces around it|is empty"):
        list(read_conllu(io.BytesIO(text(row(1, form, 0, label, upos="N"))), "conllx"))


def test_no_warning_of_a_sentence_that_is_skipped():
    data = text(row(1, "x", 0, lemma="x "), row(2, "y", 7)) + text(*SEA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(read_conllu(io.BytesIO(data), "conllx", skip_bad=True))) == 1


def test_spaces_and_carriage_returns_that_are_none_of_a_field():
    """Inside a form, at the end of a line, before the line feed: all are as good as ever."""
    lines = [row(1, "10 000", 2, lemma="10 000"), row(2, "x\u00a0", 0) + "  "]
    data = text(*lines) + text(*lines, end="\r\n") + text(*lines, end=" \r\r\n")
    assert b"".join(map(bytes, read_conllu(io.BytesIO(data)))) == data


def test_empty_nodes_before_a_multiword_token():
    data = text(SEA[0], row("1.1", "e"), row("2-3", "x"), SEA[1], row("2.1", "e"), SEA[2])
    assert b"".join(map(bytes, read_conllu(io.BytesIO(data)))) == data


@pytest.mark.parametrize("bad", ["", " x", "x ", "x\ty", "x\ry"])
def test_nothing_is_written_that_would_not_be_read(bad):
    sentence = Sentence.from_words(["x"], heads=[0])
    for column in ("forms", "labels", "misc"):
        with pytest.raises(ArboraError, match=f"{column} of word 1 is "):
            Sentence.from_words(**{"forms": ["x"], column: [bad]})
    with pytest.raises(ArboraError, match="the label"):
        sentence.with_tree([0], [bad])
    if bad:
        with pytest.raises(ArboraError, match="the MISC value"):
            sentence.with_tree([0], misc={"Key": [bad]})


def test_partial_heads_are_trees():
    data = text(row(1, "a"), row(2, "b", 1), row(3, "c", 2)) + text(*SEA)
    assert len(list(read_conllu(io.BytesIO(data), trees=True))) == 2


@pytest.mark.parametrize("broken", [
    b"\xe9", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80", b"\xf0\x80\x80\x80",
    b"\xe0\x80\x80", b"\xf4\x90\x80\x80", b"\x80",
])  # fmt: skip
@pytest.mark.parametrize("place", ["word", "comment"])
def test_latin_1(broken, place):
    with pytest.raises(UnicodeDecodeError):
        broken.decode()
    bad = text(
        "# caf@" if place == "comment" else "# ok", row(1, "caf@" if place == "word" else "x", 0)
    )
    bad = bad.replace(b"@", broken)
    data = text(*SEA) + bad + text(*SEA)
    reader = read_conllu(io.BytesIO(data))
    assert len(next(reader)) == 3
    with pytest.raises(DataError, match=rf"byte 0x{broken[0]:02X} .* convert the file to UTF-8"
                       ) as error:  # fmt: skip
        next(reader)
    assert error.value.line == len(SEA) + (2 if place == "comment" else 3)
    skipping = read_conllu(io.BytesIO(data), skip_bad=True, chunk_size=10)
    assert b"".join(bytes(s) for s in skipping) == text(*SEA) * 2
    assert len(skipping.errors) == 1


@pytest.mark.parametrize("data", [b"# caf\xe9\n", b"\xff\xfe1\x00\t\x00", text(*SEA) + b"# \xe9"])
def test_latin_1_outside_sentences(data):
    with pytest.raises(DataError, match="not UTF-8"):
        list(read_conllu(io.BytesIO(data)))
    reader = read_conllu(io.BytesIO(data), skip_bad=True)
    assert len(list(reader)) == data.startswith(b"1")
    assert len(reader.errors) == 1


@pytest.mark.parametrize(("data", "advice"), [
    (text(*STORM).decode().encode("utf-16"), "with iconv -f utf-16 -t utf-8"),
    (text(*STORM).decode().encode("utf-16-be"), "zero bytes; this is not a text file"),
    (b"\x7fELF\x02\x01\x00\x00\xf3\x10", "not UTF-8; this is not a text file"),
    (b"\x68\x02\x00\x00\x00\x00\x00\x00{\"__metadata__\":{}}", "zero bytes; this is not a text"),
    (b"\xff\n", "with iconv -f latin1 -t utf-8"),
])  # fmt: skip
def test_files_of_another_kind(data, advice):
    """A newcomer's mistakes: UTF-16, a program, a model."""
    with pytest.raises(DataError, match=r"^stream, line 1: ") as error:
        list(read_conllu(io.BytesIO(data)))
    assert advice in str(error.value)
    assert is_one_sentence(error)


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none.conllu", tmp_path):
        with pytest.raises(FileError, match="cannot be read: ") as error:
            list(read_conllu(path))
        assert str(path) in str(error.value)
        assert is_one_sentence(error)
        assert isinstance(error.value, OSError)


def test_arguments():
    with pytest.raises(ArboraError, match="there is no format"):
        list(read_conllu(io.BytesIO(b""), format="conll"))
    with pytest.raises(ArboraError, match="a path or an open file"):
        list(read_conllu(42))
    with pytest.raises(ArboraError, match="chunk_size"):
        list(read_blocks(io.BytesIO(b""), chunk_size=0))


ENDLESS = {
    "line": b"a" * 1000,
    "words": b"1\tx\tx\tx\tx\t_\t0\troot\t_\t_\n",
    "comments": b"# a comment\n",
    "blank lines": b"\n",
}


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("packed", [False, True])
def test_sentences_have_a_limit(tmp_path, monkeypatch, name, packed):
    """What has no end is refused before all of it is read and held."""
    path = tmp_path / ("x.conllu.gz" if packed else "x.conllu")
    contents = text(*SEA) * 2 + ENDLESS[name] * (20_000_000 // len(ENDLESS[name]))
    path.write_bytes(gzip.compress(contents, 1, mtime=0) if packed else contents)
    del contents
    tracemalloc.start()
    reader = read_conllu(path, skip_bad=True, max_sentence_bytes=1_000_000)
    with pytest.raises(DataError, match=r", line \d+: a sentence has more than 1 MB") as error:
        list(reader)
    monkeypatch.setattr(treebank, "MAX_SENTENCE_BYTES", 1_000_000)
    with pytest.raises(DataError):
        read_treebank(path)
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()
    assert error.value.line in (5, 9)


def test_the_limit_of_a_sentence_can_be_raised():
    long = text(*(row(i, "x", 0 if i == 1 else 1) for i in range(1, 2000)))
    for chunk_size in (1, 100, 1 << 20):
        options = {"chunk_size": chunk_size, "max_sentence_bytes": len(long) + 200}
        data = text(*SEA) + long + text(*SEA)
        read = list(read_conllu(io.BytesIO(data), **options))
        assert [len(sentence.forms) for sentence in read] == [3, 1999, 3]
    with pytest.raises(DataError, match="more than"):
        list(read_conllu(io.BytesIO(data), chunk_size=100, max_sentence_bytes=len(long) // 2))
    for wrong in (0, -1, 1 << 31):
        with pytest.raises(ArgumentError, match="max_sentence_bytes must be a number of bytes"):
            list(read_conllu(io.BytesIO(data), max_sentence_bytes=wrong))


def test_large_files_are_read_whole(monkeypatch):
    """In pieces that are put together again."""
    data = b"".join(text(*sentence) for sentence in (STORM, SEA) for _ in range(50))
    at_once = read_treebank(io.BytesIO(data))
    monkeypatch.setattr(treebank, "MAX_SENTENCE_BYTES", 1000)
    in_pieces = read_treebank(io.BytesIO(data))
    assert in_pieces.render() == at_once.render() == data
    assert in_pieces.heads.tolist() == at_once.heads.tolist()
    monkeypatch.setattr(treebank, "_WHOLE", len(data) // 2)
    with pytest.raises(DataError, match="at most 2 GB"):
        read_treebank(io.BytesIO(data))
