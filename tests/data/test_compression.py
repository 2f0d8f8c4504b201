"""Compressed files: read by their first bytes, written by their names, refused if damaged."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc

import pytest

from arbora import read_conllu, write_conllu
from arbora.data import open_output, read_blocks
from arbora.data.compression import (
    COMPRESSIONS,
    Unpacked,
    compression_named,
    compression_of,
    without_ending,
)
from arbora.data.source import open_source
from arbora.errors import ArboraError, DataError, FileError
from tests.data.test_bad_files import is_one_sentence
from tests.data.zoo import SEA, STORM, text

zstandard = pytest.importorskip("zstandard")

PACK = {
    ".gz": lambda data: gzip.compress(data, 1, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lambda data: lzma.compress(data, preset=1),
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
UNPACK = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}
endings = pytest.mark.parametrize("ending", PACK)


class Standard:
    """A standard input of bytes."""

    def __init__(self, data):
        self.buffer = io.BufferedReader(io.BytesIO(data))


def read_all(path):
    with open_source(path) as source:
        return b"".join(iter(lambda: source.read(1000), b""))


@endings
def test_written_and_read_again(ending, tmp_path):
    path = tmp_path / f"x.conllu{ending}"
    sentences = list(read_conllu(io.BytesIO(text(*STORM) * 500)))
    assert write_conllu(path, sentences) == 500
    first = path.read_bytes()
    assert len(first) < 500 * len(text(*STORM)) / 10
    assert UNPACK[ending](first) == text(*STORM) * 500
    write_conllu(path, read_conllu(path))  # the same file, while it is read
    assert path.read_bytes() == first  # without a time stamp
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@endings
def test_recognised_whatever_the_name_is(ending, tmp_path, monkeypatch):
    data = text(*STORM) + text(*SEA)
    packed = PACK[ending](data)
    (tmp_path / "x.conllu").write_bytes(packed)
    assert read_all(tmp_path / "x.conllu") == data
    assert read_all(io.BytesIO(packed)) == data
    monkeypatch.setattr(sys, "stdin", Standard(packed))
    assert read_all("-") == data
    chunks = list(read_blocks(tmp_path / "x.conllu"))
    assert sum(len(chunk.block) for chunk in chunks) == 2
    assert chunks[-1].bytes_read == chunks[-1].bytes_total == len(packed)


@endings
def test_several_streams_in_a_row(ending):
    packed = PACK[ending](b"a" * 3000) + PACK[ending](b"") + PACK[ending](b"b\n")
    assert read_all(io.BytesIO(packed)) == b"a" * 3000 + b"b\n"
    if ending in (".gz", ".xz"):  # may be padded
        assert read_all(io.BytesIO(packed + bytes(8))) == b"a" * 3000 + b"b\n"
    assert read_all(io.BytesIO(PACK[ending](b""))) == b""


@endings
def test_cut_short_or_damaged(ending, tmp_path):
    path = tmp_path / f"x.conllu{ending}"
    whole = PACK[ending](text(*STORM) * 1000)
    for size in (1, 12, len(whole) // 2, len(whole) - 20, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(FileError, match=r"x\.conllu\.\w+ cannot be read: ") as error:
            list(read_conllu(path))
        assert is_one_sentence(error)
    for wrong in (
        b"",
        text(*STORM),
        whole[: len(whole) // 2] + b"????????" + whole[len(whole) // 2 + 8 :],
        whole + b"garbage",
    ):
        path.write_bytes(wrong)
        with pytest.raises(FileError, match="cannot be read: ") as error:
            list(read_conllu(path))
        assert is_one_sentence(error)


@endings
def test_memory_is_bounded(ending, tmp_path):
    """100 MB of zeros in a small file are never held at once, nor is an endless line."""
    writer = next(one for one in COMPRESSIONS if one.ending == ending).writer("x")
    path = tmp_path / "bomb"
    with path.open("wb") as file:
        for _ in range(100):
            file.write(writer.compress(b"a" * 1_000_000))
        file.write(writer.flush())
    assert path.stat().st_size < 1_000_000
    total = 0
    tracemalloc.start()
    with open_source(path) as source:
        while piece := source.read(1 << 16):
            total += len(piece)
    assert total == 100_000_000
    with pytest.raises(DataError, match="a sentence has more than 1 MB"):
        list(read_conllu(path, max_sentence_bytes=1_000_000))
    assert tracemalloc.get_traced_memory()[1] < 40_000_000
    tracemalloc.stop()


def test_a_decompressor_may_not_take_all_memory():
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29}]
    packed = lzma.compress(b"a", filters=filters)
    with pytest.raises(FileError, match="more than 256 MB to decompress"):
        read_all(io.BytesIO(packed))
    parameters = zstandard.ZstdCompressionParameters(window_log=28)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = writer.compress(b"ab" * 1_000_000) + writer.flush()
    with pytest.raises(FileError, match="cannot be read"):
        read_all(io.BytesIO(packed))


def test_without_the_package(tmp_path, monkeypatch):
    packed = PACK[".zst"](text(*SEA))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    for wrong in (
        lambda: read_all(io.BytesIO(packed)),
        lambda: write_conllu(tmp_path / "x.zst", read_conllu(io.BytesIO(text(*SEA)))),
    ):
        with pytest.raises(ArboraError, match=r"requires the package zstandard: pip install ") as e:
            wrong()
        assert is_one_sentence(e)
    assert not list(tmp_path.iterdir())


@endings
def test_an_error_leaves_the_old_file(ending, tmp_path):
    path = tmp_path / f"x{ending}"
    path.write_bytes(b"old")

    def write():
        with open_output(path) as write:
            write(b"new" * 100_000)
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@endings
def test_pieces_of_any_size(ending):
    """A stream that gives a few bytes at a time, and a reader that takes a few."""
    data = text(*STORM) * 20
    packed = io.BytesIO(PACK[ending](data))

    class Slow:
        def read(self, size):
            return packed.read(min(size, 7))

    unpacked = Unpacked(Slow(), compression_of(packed.getvalue()), "x")
    assert b"".join(iter(lambda: unpacked.read(11), b"")) == data


def test_names():
    assert compression_named("a.conllu.GZ").name == "gzip"
    assert compression_named("a.gz.conllu") is None
    assert without_ending("train.conllu.zst") == "train.conllu"
    assert without_ending("train.conllu") == "train.conllu"
    assert compression_of(b"BZh is not a word.") is None
