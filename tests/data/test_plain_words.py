"""Text with one sentence or one word per line."""

from __future__ import annotations

import io

import pytest

from arbora import DataError, read_conllu
from arbora.data import FORMATS, Sign, convert, read_blocks

HORIZONTAL = "\ufeffThe sun  rose .\r\n\n \nIt\twas cold\u00a0!\n1\u00a0000 ships".encode()
VERTICAL = (
    "\ufeffThe\nsun\tnoun\tx\nrose\r\n.\n\n\r\n\nIt\n was \ncold\u00a0!\n \n1\u00a0000\nships"
).encode()
WORDS = [["The", "sun", "rose", "."], ["It", "was", "cold\u00a0!"], ["1\u00a0000", "ships"]]
FILES = {"horizontal": HORIZONTAL, "vertical": VERTICAL}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("chunk_size", [1, 7, 1000])
def test_pieces_of_any_size(name, chunk_size):
    file = FILES[name] + b"\n"
    chunks = list(read_blocks(io.BytesIO(file), name, chunk_size=chunk_size))
    found = [chunk.block.column(i, 1) for chunk in chunks for i in range(len(chunk.block))]
    assert found == WORDS
    assert [s.forms for s in read_conllu(io.BytesIO(FILES[name]), name)] == WORDS


@pytest.mark.parametrize("name", FILES)
def test_they_are_never_recognised(name):
    assert FORMATS[name].reader.recognises(FILES[name]) is Sign.no


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("bad", [b"b\xff", b"b\0", b"a\rb"])
@pytest.mark.parametrize("chunk_size", [1, 1000])
def test_bad_lines(name, bad, chunk_size):
    text = b"a\n\n" + bad + b"\n\nc\n"
    with pytest.raises(DataError, match="line 3: the line"):
        list(read_conllu(io.BytesIO(text), name, chunk_size=chunk_size))
    reader = read_conllu(io.BytesIO(text), name, skip_bad=True, chunk_size=chunk_size)
    assert [s.forms for s in reader] == [["a"], ["c"]]
    assert len(reader.errors) == 1


def test_they_are_converted(tmp_path):
    (tmp_path / "a.txt").write_bytes(HORIZONTAL)
    convert(tmp_path / "a.txt", tmp_path / "a.conllu", "conllu", format="horizontal")
    assert [s.forms for s in read_conllu(tmp_path / "a.conllu")] == WORDS


@pytest.mark.parametrize("name", FILES)
def test_empty_files(name):
    for text in (b"", b"\n\n", b" \r\n"):
        assert list(read_conllu(io.BytesIO(text), name)) == []
