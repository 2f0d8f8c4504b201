"""What is not changed is written back byte for byte."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora import read_conllu, write_conllu
from arbora.data import read_blocks
from arbora.data.block import CONLLU_LAYOUT, Block
from arbora.errors import FileError
from arbora.testing.slow_data import read_slowly
from tests.data.zoo import EMPTY_FILES, ODD_FILES, row, treebank_files

COLUMNS = ["ids", "forms", "lemmas", "upos", "xpos", "feats", "heads", "labels", "deps", "misc"]


def columns(sentence):
    found = [getattr(sentence, name) for name in COLUMNS]
    found[6] = ["_" if head < 0 else str(head) for head in found[6].tolist()]
    return [list(fields) for fields in zip(*found, strict=True)]


def written(sentences):
    stream = io.BytesIO()
    write_conllu(stream, sentences)
    return stream.getvalue()


@pytest.mark.parametrize("name", ODD_FILES)
def test_odd_files(name):
    data = ODD_FILES[name]
    sentences = list(read_conllu(io.BytesIO(data)))
    assert written(sentences) == data
    assert "".join(sentence.to_conllu() for sentence in sentences).encode() == data
    assert [columns(sentence) for sentence in sentences] == read_slowly(data.decode())
    assert b"".join(c.block.render() for c in read_blocks(io.BytesIO(data))) == data


@pytest.mark.parametrize("name", EMPTY_FILES)
def test_files_without_words_have_no_sentences(name):
    assert list(read_conllu(io.BytesIO(EMPTY_FILES[name]))) == []
    assert Block(EMPTY_FILES[name], CONLLU_LAYOUT).size == len(EMPTY_FILES[name])


@pytest.mark.parametrize("name", ODD_FILES)
def test_a_cut_at_any_byte_changes_nothing(name):
    data = ODD_FILES[name]
    whole = Block(data, CONLLU_LAYOUT)
    expected = [(whole.text(i), whole.line(i)) for i in range(len(whole))]
    for cut in range(len(data) + 1):
        first = Block(data[:cut], CONLLU_LAYOUT, is_last=False)
        second = Block(data[first.size :], CONLLU_LAYOUT, first_line=first.next_line)
        found = [(block.text(i), block.line(i)) for block in (first, second)
                 for i in range(len(block))]  # fmt: skip
        assert found == expected
        assert second.next_line == whole.next_line


@pytest.mark.parametrize("name", ODD_FILES)
@pytest.mark.parametrize("chunk_size", [1, 7, 100, 333])
def test_chunks_of_any_size_change_nothing(name, chunk_size):
    data = ODD_FILES[name]
    expected = list(read_conllu(io.BytesIO(data)))
    found = list(read_conllu(io.BytesIO(data), chunk_size=chunk_size))
    assert [bytes(s) for s in found] == [bytes(s) for s in expected]
    assert [s.line for s in found] == [s.line for s in expected]
    assert written(found) == data


field = st.text(
    st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs"]), min_size=1, max_size=6
).filter(lambda s: s.strip(" ") == s)
gap = st.sampled_from(["\n", "\n\n", "\n \n", "\n# lost\n\n"])


@st.composite
def files(draw):
    parts = [draw(st.sampled_from(["", "\ufeff", "\n", "# head\n\n"]))]
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 5))
        parts += [f"# {draw(field)}\n"] if draw(st.booleans()) else []
        for word in range(1, n + 1):
            head = draw(st.integers(-1, n).filter(lambda h, word=word: h != word))
            fields = [draw(field) for _ in range(8)]
            line = [str(word), *fields[:5], "_" if head < 0 else str(head), *fields[5:]]
            parts.append("\t".join(line) + draw(st.sampled_from(["\n", "\r\n", " \n"])))
        parts.append(draw(gap))
    text = "".join(parts)
    return text if draw(st.booleans()) else text.rstrip("\n")


@given(files(), st.integers(1, 200))
def test_any_file(text, chunk_size):
    data = text.encode()
    sentences = list(read_conllu(io.BytesIO(data), chunk_size=chunk_size))
    assert written(sentences) == data
    assert [columns(sentence) for sentence in sentences] == read_slowly(text)


@given(st.binary(max_size=300))
def test_any_bytes_end_in_sentences_or_errors(data):
    reader = read_conllu(io.BytesIO(data), skip_bad=True, chunk_size=16)
    with contextlib.suppress(FileError):  # the first bytes of a compressed file, for instance
        for sentence in reader:
            columns(sentence)


def test_long_sentences_and_lines():
    words = [row(word, "w" * 20, word - 1) for word in range(1, 2001)]
    huge = row(1, "x" * 10_000_000, 0)
    data = "\n".join([*words, "", huge, "", *words, "", ""]).encode()
    sentences = list(read_conllu(io.BytesIO(data), trees=True, chunk_size=1 << 16))
    assert [len(s) for s in sentences] == [2000, 1, 2000]
    assert len(sentences[1].forms[0]) == 10_000_000
    assert written(sentences) == data


def test_memory_is_bounded_by_the_chunk():
    one = "\n".join([*(row(word, "word", word - 1) for word in range(1, 31)), "", ""]).encode()
    sizes = [c.block.size for c in read_blocks(io.BytesIO(one * 500), chunk_size=10_000)]
    assert sum(sizes) == 500 * len(one)
    assert max(sizes) <= 10_000


def test_progress_reaches_the_end(tmp_path):
    path = tmp_path / "long.conllu"
    path.write_bytes(ODD_FILES["plain"] * 50)
    chunks = list(read_blocks(path, chunk_size=1000))
    read = [chunk.bytes_read for chunk in chunks]
    assert len(chunks) > 5
    assert read == sorted(read)
    assert read[-1] == chunks[-1].bytes_total == path.stat().st_size


@pytest.mark.parametrize("path", treebank_files())
def test_treebanks(path, tmp_path):
    copy = tmp_path / "copy"
    write_conllu(copy, read_conllu(path, trees=True))
    assert copy.read_bytes() == path.read_bytes()
