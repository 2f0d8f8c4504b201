"""Parquet files of sentences: lossless round trips, other programs' files, errors."""

from __future__ import annotations

import pytest

from arbora import ArgumentError, DataError, FileError, read_conllu
from arbora.data import Block, read_blocks
from tests.toys import TREEBANK

pa = pytest.importorskip("pyarrow", reason='the extra "arrow" is not installed')
parquet = pytest.importorskip("pyarrow.parquet")

from arbora.data.parquet import read_parquet, write_parquet  # noqa: E402  # after the skip

ODD = (
    b"# newpar\n# sent_id = a-1\n# text = don't go\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tX=1\n"
    b"1\tdo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\t_\n2\tn't\tnot\tPART\tRB\t_\t_\t_\t_\t_\n"
    b"2.1\tyou\tyou\tPRON\t_\t_\t_\t_\t3:nsubj\t_\n3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
    b"1\ta b\t_\t_\t_\t_\t0\troot\t_\t_\n\n\n"  # a space in a form, two blank lines
    b"# last\n1\t\xe6\x9c\xac\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
)


def blocks(path):
    return [chunk.block for chunk in read_blocks(path)]


def text(found):
    return b"".join(block.texts(0, len(block)) for block in found)


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_treebanks_come_back_byte_for_byte(part, tmp_path):
    source, target = TREEBANK / f"{part}.conllu", tmp_path / "x.parquet"
    assert write_parquet(target, blocks(source)) == len(list(read_conllu(source)))
    assert text(read_parquet(target)) == source.read_bytes()
    assert text(blocks(target)) == source.read_bytes()  # recognised by every reader
    table = parquet.read_table(target)
    assert table.column("raw").null_count == len(table)  # the columns are enough


def test_odd_lines_are_kept(tmp_path):
    target = tmp_path / "x.parquet"
    (tmp_path / "x.conllu").write_bytes(ODD)
    found = blocks(tmp_path / "x.conllu")
    write_parquet(target, found)
    assert text(read_parquet(target)) == text(found)
    row = parquet.read_table(target).to_pylist()[0]
    assert (row["sent_id"], row["text"]) == ("a-1", "don't go")
    assert row["head"] == [3, -1, 0]
    assert [other["before"] for other in row["others"]] == [0, 2]


def test_row_groups_bound_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("arbora.data.parquet._WORDS", 50)
    monkeypatch.setattr("arbora.data.parquet._ROWS", 3)
    target = tmp_path / "x.parquet"
    write_parquet(target, blocks(TREEBANK / "test.conllu"))
    assert parquet.ParquetFile(target).num_row_groups > 5
    assert text(read_parquet(target)) == (TREEBANK / "test.conllu").read_bytes()
    firsts = [block.first_sentence for block in read_parquet(target)]
    assert firsts == list(range(0, 3 * len(firsts), 3))


def test_files_of_other_programs_need_only_forms(tmp_path):
    target = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"form": [["She", "sleeps"]], "upos": [["PRON", None]]}), target)
    (block,) = read_parquet(target)
    assert block.column(0, 1) == ["She", "sleeps"]
    assert block.column(0, 3) == ["PRON", "_"]
    assert block.heads.tolist() == [-1, -1]


def test_nothing_is_a_file_too(tmp_path):
    assert write_parquet(tmp_path / "x.parquet", []) == 0
    assert list(read_parquet(tmp_path / "x.parquet")) == []


def test_bad_files(tmp_path):
    target = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"word": [["a"]]}), target)
    with pytest.raises(FileError, match="has no column form"):
        list(read_parquet(target))
    parquet.write_table(pa.table({"form": [["a", "b"]], "upos": [["X"]]}), target)
    with pytest.raises(DataError, match="column upos has 1 entries, and form has 2"):
        list(read_parquet(target))
    write_parquet(target, blocks(TREEBANK / "test.conllu"))
    target.write_bytes(target.read_bytes()[:-100])
    with pytest.raises(FileError, match="cannot be read"):
        list(read_parquet(target))
    write_parquet(target, [Block(ODD, blocks(TREEBANK / "test.conllu")[0].layout)])
    with pytest.raises(DataError, match="more than max_words"):
        list(read_parquet(target, max_words=2))


def test_without_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ArgumentError, match=r'pip install "arbora\[arrow\]"'):
        write_parquet(tmp_path / "x.parquet", [])
