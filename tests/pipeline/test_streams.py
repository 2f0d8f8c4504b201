"""Long texts are streamed: memory does not grow with the file."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

import arbora
from arbora.data import sentences_of
from arbora.options import ParseOptions
from tests.pipeline.conftest import TEST

MEGABYTE = 1_000_000
PROSE = "The gulls sleep on the wall. She doesn't see the old boat!\n"
TEXTS = {  # with the megabytes that are segmented and parsed
    "prose": (PROSE, 30, 0.4),
    "no line end": ("The gulls sleep on the wall. ", 30, 0.4),
    "no full stop": ("the gulls sleep on the wall ", 30, 0.05),
    "no space": ("abcdefgh", 30, 2),
}
SCRIPT = """
import io, resource, sys
import arbora
from arbora.options import ParseOptions

model, text, size, kbest = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3]), int(sys.argv[4])

class Endless(io.RawIOBase):
    left = size
    def readable(self):
        return True
    def readinto(self, buffer):
        n = min(len(buffer) // len(text), self.left // len(text)) * len(text)
        buffer[:n] = text * (n // len(text))
        self.left -= n
        return n

nlp = arbora.load(model, threads=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
stream, words = io.BufferedReader(Endless(), 1 << 20), 0
if kbest < 0:
    for block in nlp.segmenter.blocks(stream):
        words += int(block.n_words.sum())
else:
    options = ParseOptions(kbest=kbest or None)
    stage = nlp.stage(options)
    for chunk in nlp.chunks(stream, options, format="text"):
        words += int(stage(chunk.block).n_words.sum())
print(words, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def measured(model, text, size, kbest=0):
    """The number of words, and the megabytes that parsing adds to the peak of the memory."""
    command = [sys.executable, "-c", SCRIPT, model, text, str(int(size * MEGABYTE)), str(kbest)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    words, kilobytes = map(int, done.stdout.split())
    return words, kilobytes / 1000


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory in kilobytes, as Linux does")
@pytest.mark.parametrize("name", TEXTS)
def test_memory_does_not_grow_with_the_text(model, name):
    text, long, short = TEXTS[name]
    words, segmented = measured(model, text, long, kbest=-1)
    assert words > 1000 * long / 2
    assert segmented < 150
    words, parsed = measured(model, text, short)
    assert words > 1000 * short / 2
    assert parsed < 150


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory in kilobytes, as Linux does")
def test_k_best_trees_are_streamed(model):
    words, megabytes = measured(model, PROSE, 0.1, kbest=20)
    assert words > 20 * 0.1 * MEGABYTE / 6
    assert megabytes < 150


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory in kilobytes, as Linux does")
def test_a_whole_book(model):
    words, megabytes = measured(model, PROSE, 30)
    assert words > 5 * MEGABYTE
    assert megabytes < 200


def test_pieces_are_the_whole(nlp):
    """However a text is cut for parsing, the sentences and their numbers are the same."""
    text = PROSE * 60
    ways = [ParseOptions(), ParseOptions(kbest=50)]
    blocks = [list(nlp.chunks(io.BytesIO(text.encode()), how, format="text")) for how in ways]
    assert len(blocks[0]) < len(blocks[1])
    whole = nlp.segmenter.segment(text).block
    for chunks in blocks:
        found = [bytes(s) for chunk in chunks for s in sentences_of(chunk.block)]
        assert found == [bytes(s) for s in sentences_of(whole)]
        firsts = [chunk.block.first_sentence for chunk in chunks]
        counts = [len(chunk.block) for chunk in chunks]
        assert firsts == [sum(counts[:i]) for i in range(len(counts))]


def test_every_format_gives_the_same_trees(nlp, tmp_path):
    """Words as lines, as columns, and as CoNLL-U without tags."""
    gold = list(arbora.read_conllu(TEST))[:10]
    bare = [arbora.Sentence.from_words(sentence.forms) for sentence in gold]
    expected = [(s.forms, s.upos, s.heads.tolist(), s.labels) for s in nlp.parse(bare)]
    files = {
        "horizontal": "".join(" ".join(s.forms) + "\n" for s in bare),
        "vertical": "".join("\n".join(s.forms) + "\n\n" for s in bare),
        "conllu": "".join(s.to_conllu() for s in bare),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        how = ParseOptions()
        stage = nlp.stage(how)
        parsed = [
            sentence
            for chunk in nlp.chunks(tmp_path / name, how, format=name)
            for sentence in sentences_of(stage(chunk.block))
        ]
        found = [(s.forms, s.upos, s.heads.tolist(), s.labels) for s in parsed]
        assert found == expected, name
    tagged = nlp.parse(gold)
    assert [s.upos for s in tagged] == [s.upos for s in gold]
