"""New trees in old sentences, and files that appear when they are whole."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora import ArgumentError, FileError, Sentence, ShapeError, read_conllu, write_conllu
from arbora.data import open_output, output, read_blocks
from arbora.data.block import CONLLU_LAYOUT, Block
from tests.data.zoo import ODD_FILES, SEA, STORM, TAGGED_X, row, text


def one(*lines, **options):
    [sentence] = read_conllu(io.BytesIO(text(*lines)), **options)
    return sentence


def replaced(data: bytes, heads, labels) -> bytes:
    """The slow twin: HEAD and DEPREL replaced line by line."""
    lines, rest = data.split(b"\n"), list(zip(heads, labels, strict=True))
    for i, line in enumerate(lines):
        fields = line.split(b"\t")
        if len(fields) == 10 and not line.startswith(b"#") and fields[0][-1:].isdigit() and not (
            set(fields[0]) & set(b"-.")
        ):  # fmt: skip
            head, label = rest.pop(0)
            fields[6:8] = [b"_" if head < 0 else str(head).encode(), label.encode()]
            lines[i] = b"\t".join(fields)
    return b"\n".join(lines)


@pytest.mark.parametrize("name", ODD_FILES)
def test_only_head_and_deprel_change(name):
    data = ODD_FILES[name]
    block = Block(data, CONLLU_LAYOUT)
    names = ["a", "schön", "c:d"]
    ids = np.arange(block.total_words, dtype=np.int32) % 4 - 1
    heads = np.concatenate([np.arange(n, dtype=np.int32) - 1 for n in block.n_words])
    labels = [(["_", *names])[i + 1] for i in ids]
    expected = replaced(data, heads, labels)
    assert block.render(heads, ids, names) == expected
    new = Block(expected, CONLLU_LAYOUT)
    assert new.heads.tolist() == heads.tolist()
    assert new.label_ids(names).tolist() == ids.tolist()


def test_with_tree():
    old = one(*STORM)
    new = old.with_tree([0, 1, 2, 3, 4, 5, -1], list("abcdefg"))
    assert new.heads.tolist() == [0, 1, 2, 3, 4, 5, -1]
    assert new.labels == list("abcdefg")
    for name in ("forms", "lemmas", "upos", "xpos", "feats", "deps", "misc", "comments"):
        assert getattr(new, name) == getattr(old, name)
    assert old.heads.tolist() == [3, 3, 0, 6, 6, 3, 3]
    assert old.with_tree(old.heads, old.labels) == old
    assert old.with_tree(old.heads).labels == old.labels


def test_misc_items():
    old = one(*STORM)
    probabilities = np.array([0.5, 1, np.nan, 0.25, 1e-9, 2 / 3, 0])
    texts = ["x", None, "y", "", "z", "2", "w"]
    new = old.with_tree(old.heads, misc={"P": probabilities, "Rank": texts})
    assert new.misc == [
        "P=0.5000|Rank=x", "P=1.0000", "Gloss=rouse|Rank=y", "P=0.2500", "P=0.0000|Rank=z",
        "SpaceAfter=No|P=0.6667|Rank=2", "P=0.0000|Rank=w",
    ]  # fmt: skip
    again = new.with_tree(old.heads, misc={"P": probabilities, "Rank": texts})
    assert sorted(again.misc[5].split("|")) == sorted(new.misc[5].split("|"))
    assert [line for line in new.to_conllu().split("\n") if line.startswith("6.1")] == [STORM[-2]]


def test_conllx_has_no_misc_but_comments():
    old = one(*TAGGED_X)
    new = old.with_tree(
        [0, 1], ["ROOT", "obj"], misc={"P": np.ones(2)}, comments=["# arbora.log_prob = -1"]
    )
    assert new.misc == old.misc
    assert new.deps == old.deps
    assert new.comments == ["# arbora.log_prob = -1"]
    assert new.format == "conllx"


def test_comments_go_after_the_others_and_replace_their_key():
    old = one(*STORM)
    new = old.with_tree(old.heads, comments=["# arbora.rank = 1", "# arbora.log_prob = -2"])
    assert new.comments == [*STORM[:2], "# arbora.rank = 1", "# arbora.log_prob = -2"]
    again = new.with_tree(old.heads, comments=["# arbora.rank = 2"])
    assert again.comments == [*STORM[:2], "# arbora.log_prob = -2", "# arbora.rank = 2"]
    [windows] = read_conllu(io.BytesIO(text(*STORM, end="\r\n")))
    assert b"# arbora.rank = 1\r\n1-2" in bytes(
        windows.with_tree(old.heads, comments=["# arbora.rank = 1"])
    )


@pytest.mark.parametrize(("arguments", "kind", "words"), [
    ({"heads": [0]}, ShapeError, r"shape \(1,\) for 3 words"),
    ({"heads": [1, 0, 0]}, ArgumentError, "head 1 of word 1"),
    ({"heads": [0, 1, 4]}, ArgumentError, "head 4 of word 3"),
    ({"heads": [0, 1, -2]}, ArgumentError, "head -2 of word 3"),
    ({"heads": [0, 1, 1], "labels": ["x"]}, ShapeError, "there are 1 labels for 3 words"),
    ({"heads": [0, 1, 1], "labels": ["x", "y", "a\tb"]}, ArgumentError, "the label 'a"),
    ({"heads": [0, 1, 1], "labels": ["x", "y", ""]}, ArgumentError, "the label ''"),
    ({"heads": [0, 1, 1], "misc": {"k": ["a|b", None, None]}}, ArgumentError, "the MISC value"),
    ({"heads": [0, 1, 1], "misc": {"k=": ["a"] * 3}}, ArgumentError, "the MISC key"),
    ({"heads": [0, 1, 1], "misc": {"k": ["a"]}}, ArgumentError, "MISC 'k' has the wrong size"),
    ({"heads": [0, 1, 1], "comments": ["x"]}, ArgumentError, "begin with #"),
    ({"heads": [0, 1, 1], "comments": ["# x\n1"]}, ArgumentError, "one line"),
])  # fmt: skip
def test_with_tree_refuses(arguments, kind, words):
    sentence = Sentence.from_words(["a", "b", "c"])
    with pytest.raises(kind, match=words):
        sentence.with_tree(**arguments)


@pytest.mark.parametrize("name", ODD_FILES)
def test_k_best_repeats_sentences(name):
    block = Block(ODD_FILES[name], CONLLU_LAYOUT)
    chosen = np.repeat(np.arange(len(block)), 3)
    comments = [f"# arbora.rank = {rank}" for _ in range(len(block)) for rank in (1, 2, 3)]
    data = block.render(comments=comments, sentences=chosen)
    again = Block(data, CONLLU_LAYOUT)
    assert not again.faults
    assert len(again) == 3 * len(block)
    for i in range(len(again)):
        assert again.column(i, 1) == block.column(int(chosen[i]), 1)
        assert again.comments(i)[-1] == comments[i]
    assert data.count(b"\xef\xbb\xbf") == ODD_FILES[name].count(b"\xef\xbb\xbf")


def test_block_columns():
    [chunk] = read_blocks(io.BytesIO(text(*STORM) + text(*SEA)))
    block = chunk.block
    assert block.n_words.tolist() == [7, 3]
    assert block.heads.tolist() == [3, 3, 0, 6, 6, 3, 3, 2, 3, 0]
    assert block.label_ids(["root", "punct"]).tolist() == [-1, -1, 0, -1, -1, -1, 1, -1, -1, -1]
    assert dict(block.column_names(3)) == {
        "ADJ": 1, "AUX": 1, "DET": 1, "NOUN": 1, "PART": 1, "PUNCT": 1, "VERB": 1, "_": 3,
    }  # fmt: skip
    with pytest.raises(ValueError, match="heads has 2 entries where 10 are needed"):
        block.render(np.zeros(2, dtype=np.int32))
    with pytest.raises(IndexError):
        block.column(2, 1)
    with pytest.raises(IndexError):
        block.column(0, 10)


# Files


@given(st.lists(st.sampled_from(sorted(ODD_FILES)), min_size=1, max_size=4))
def test_files_can_be_joined(names):
    sentences = [s for name in names for s in read_conllu(io.BytesIO(ODD_FILES[name]), "conllu")]
    stream = io.BytesIO()
    assert write_conllu(stream, sentences) == len(sentences)
    again = list(read_conllu(io.BytesIO(stream.getvalue()), "conllu"))
    assert [s.forms for s in again] == [s.forms for s in sentences]


def test_a_file_can_be_read_and_written_at_once(tmp_path):
    path = tmp_path / "sea.conllu"
    path.write_bytes(text(*SEA) * 1000)
    path.chmod(0o640)
    trees = (s.with_tree([0, 1, 2]) for s in read_conllu(path, chunk_size=500))
    assert write_conllu(path, trees) == 1000
    assert next(read_conllu(path)).heads.tolist() == [0, 1, 2]
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_links_are_followed(tmp_path):
    path, link = tmp_path / "sea.conllu", tmp_path / "link.conllu"
    path.write_bytes(b"")
    link.symlink_to(path)
    write_conllu(link, [one(*SEA)])
    assert link.is_symlink()
    assert path.read_bytes() == text(*SEA)


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "old.conllu"
    path.write_bytes(b"old")

    def failing():
        yield one(*SEA)
        raise RuntimeError("on the way")

    with pytest.raises(RuntimeError, match="on the way"):
        write_conllu(path, failing())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("durable", [False, True])
def test_output_of_any_bytes(tmp_path, durable):
    with open_output(tmp_path / "x", durable=durable) as write:
        write(b"a")
        write(b"b")
        assert not (tmp_path / "x").exists()
    assert (tmp_path / "x").read_bytes() == b"ab"


def aside(tmp_path, name, owner):
    path = tmp_path / f".{name}.{owner}.0123456789ab.tmp"
    path.write_bytes(b"half")
    return path


@pytest.mark.skipif(os.name == "nt", reason="asks the system for processes")
def test_only_what_dead_processes_left_is_removed(tmp_path):
    with open_output(tmp_path / "x") as write:
        write(b"a")
        [own] = tmp_path.iterdir()
    place, _, process = own.name.split(".")[2].partition("-")
    assert process == str(os.getpid())
    with subprocess.Popen(["sleep", "60"]) as running:
        with subprocess.Popen(["true"]) as dead:
            dead.wait()
        gone = [aside(tmp_path, "x", f"{place}-{dead.pid}")]
        kept = [
            aside(tmp_path, "x", f"{place}-{running.pid}"),  # of a process that runs
            aside(tmp_path, "x", f"{place}-{os.getpid()}"),  # of another thread
            aside(tmp_path, "x", f"01234567-{dead.pid}"),  # of another machine
            aside(tmp_path, "x", f"{place}-{10**30}"),  # of nobody knows who
            aside(tmp_path, "x", ""),
            aside(tmp_path, "y", f"{place}-{dead.pid}"),  # of another file
        ]
        write_conllu(tmp_path / "x", [one(*SEA)])
        running.kill()
    assert sorted(tmp_path.iterdir()) == sorted([*kept, tmp_path / "x"])
    assert not gone[0].exists()


def test_two_writers_of_one_file(tmp_path):
    with open_output(tmp_path / "x") as first:
        first(b"first")
        with open_output(tmp_path / "x") as second:
            second(b"second")
        assert (tmp_path / "x").read_bytes() == b"second"
    assert (tmp_path / "x").read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


def test_long_names(tmp_path):
    for name in ("x" * 250, "木" * 80, "[*?]" * 30):
        write_conllu(tmp_path / name, [one(*SEA)])
        write_conllu(tmp_path / name, [one(*SEA)])
        assert (tmp_path / name).read_bytes() == text(*SEA)


def test_unwritable_output(tmp_path):
    for path in (tmp_path / "none" / "x.conllu", tmp_path):
        with pytest.raises(FileError, match="cannot be written: ") as error:
            write_conllu(path, [one(*SEA)])
        assert str(path) in str(error.value)
        assert str(error.value).count(".\n") == 0
    with pytest.raises(ArgumentError, match="a path or an open file"):
        write_conllu(3, [])
    with pytest.raises(ArgumentError, match="into a list"):
        write_conllu(tmp_path / "x", one(*SEA))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="/dev/full cannot be written: no space left on device"):
        write_conllu("/dev/full", [one(*SEA)])
    path = tmp_path / "old.conllu"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileError, match="no space left on device; free some space"):
        write_conllu(path, [one(*SEA)])
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_streams(monkeypatch, tmp_path):
    data = text(*STORM)
    stdin = io.TextIOWrapper(io.BytesIO(data))
    stdout = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, "stdout", stdout)
    write_conllu("-", read_conllu("-"))
    assert stdout.buffer.getvalue() == data
    lines = io.StringIO()
    write_conllu(lines, read_conllu(io.StringIO(data.decode())))
    assert lines.getvalue() == data.decode()
    path = tmp_path / "x.conllu"
    path.write_bytes(data)
    with path.open("rb") as file:
        assert next(read_conllu(file)).text.startswith("Don't")
    with path.open(encoding="utf-8") as file:
        assert bytes(next(read_conllu(file))) == data
    path.write_bytes(row(1, "caf@", 0).encode().replace(b"@", b"\xe9"))
    with path.open(encoding="utf-8") as file, pytest.raises(FileError, match="is not UTF-8"):
        next(read_conllu(file))


def test_numbers_of_any_precision_are_written():
    """Also those that have to be converted first."""
    sentence = Sentence.from_words(["a", "b", "c"], heads=[0, 1, 1])
    values = np.array([0.25, 0.5, 0.75])
    texts = [sentence.with_tree(sentence.heads, misc={"P": kind}).misc for kind in (
        values, values.astype(np.float32), np.repeat(values, 2)[::2],
    )]  # fmt: skip
    assert texts[0] == texts[1] == texts[2] == ["P=0.2500", "P=0.5000", "P=0.7500"]


def test_an_interrupt_just_after_the_file_was_made_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(path):
        path.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "_new_file", interrupted)
    with pytest.raises(KeyboardInterrupt), open_output(tmp_path / "out.conllu"):
        raise AssertionError("not reached")
    assert not list(tmp_path.iterdir())
