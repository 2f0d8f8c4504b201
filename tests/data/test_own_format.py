"""A format that is written in Python: read in pieces, checked, parsed and converted."""

from __future__ import annotations

import io

import pytest

from arbora import read_conllu
from arbora.data import FORMATS, Format, Piece, Sign, convert, read_blocks
from arbora.errors import DataError


class Arrows:
    """One sentence per line: `word>head word>head`."""

    def recognises(self, beginning):
        return Sign.certain if b">" in beginning else Sign.no

    def read(self, text, place):
        end = len(text) if place.is_last else text.rfind(b"\n") + 1
        lines = text[:end].decode().split("\n")
        starts, forms, heads, faults = [], [], [], []
        for number, line in enumerate(lines, start=place.first_line):
            pairs = [word.split(">") for word in line.split()]
            if any(len(pair) != 2 or not pair[1].isdigit() for pair in pairs):
                faults.append((number, "a word has no head; write word>head"))
            elif pairs:
                starts.append(number)
                forms.append([form for form, _ in pairs])
                heads.append([int(head) for _, head in pairs])
        next_line = place.first_line + len(lines) - 1
        return Piece.from_columns(
            place, starts, size=end, next_line=next_line, faults=faults, forms=forms, heads=heads
        )

    def write(self, block):
        lines, start = [], 0
        for i, n in enumerate(block.n_words.tolist()):
            pairs = zip(block.column(i, 1), block.heads[start : start + n].tolist(), strict=True)
            lines.append(" ".join(f"{form}>{max(head, 0)}" for form, head in pairs))
            start += n
        return "".join(line + "\n" for line in lines).encode()


@pytest.fixture(autouse=True)
def arrows():
    FORMATS["arrows"] = Format("Arrows", Arrows(), Arrows(), blank_lines=False)
    yield
    del FORMATS["arrows"]


FILE = b"sails>2 fill>0\nho>0\n\nthe>2 mast>3 creaks>0\n"


@pytest.mark.parametrize("chunk_size", [1, 10, 1000])
def test_pieces_of_any_size(chunk_size):
    chunks = list(read_blocks(io.BytesIO(FILE), chunk_size=chunk_size))
    assert {chunk.format for chunk in chunks} == {"arrows"}
    numbers = [chunk.block.first_sentence for chunk in chunks]
    assert numbers == [sum(len(c.block) for c in chunks[:i]) for i in range(len(chunks))]
    text = b"".join(FORMATS["arrows"].writer.write(chunk.block) for chunk in chunks)
    assert text == FILE.replace(b"\n\n", b"\n")


BAD = [
    (b"x\n", "line 5: a word has no head; write word>head", {}),
    (b"a>2 b>1\n", "line 5: no word of the sentence has head 0", {"trees": True}),
    (b"a>0 b>3 c>2\n", "line 5: the heads lead from word 2 back to it", {"trees": True}),
]


@pytest.mark.parametrize("chunk_size", [1, 1000])
@pytest.mark.parametrize(("line", "words", "options"), BAD)
def test_faults_have_the_line_of_the_file(line, words, options, chunk_size):
    data = FILE + line + b"ho>0\n"
    reader = read_conllu(io.BytesIO(data), chunk_size=chunk_size, **options)
    sentences = []
    with pytest.raises(DataError, match=words):
        sentences.extend(iter(reader))
    assert len(list(read_conllu(io.BytesIO(data), skip_bad=True, **options))) == 4


def test_long_sentences():
    with pytest.raises(DataError, match="line 4: the sentence has 3 words and the limit is 2"):
        list(read_blocks(io.BytesIO(FILE), max_words=2))


def test_conversion_both_ways():
    target = io.BytesIO()
    answer = convert(io.BytesIO(FILE), target, "conllx")
    assert answer.lost == {}
    back = io.BytesIO()
    answer = convert(io.BytesIO(target.getvalue()), back, "arrows", format="conllx")
    assert answer.lost == {}
    assert back.getvalue() == FILE.replace(b"\n\n", b"\n")


def test_what_it_cannot_hold_is_reported():
    text = b"# x\n1\tho\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
    answer = convert(io.BytesIO(text), io.BytesIO(), "arrows")
    assert answer.lost == {"DEPREL": 1, "UPOS": 1, "comments": 1}
