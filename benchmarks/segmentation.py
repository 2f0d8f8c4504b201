"""Scores of segmenters: tokens, sentences and words, as the CoNLL 2018 scorer counts them.

python benchmarks/segmentation.py /path/to/treebanks ud_english_ewt ud_japanese_gsd [--part test]

Learns from train.conllu (dev.conllu chooses the regulariser), segments the text of a part, and
prints F1. Treebanks of languages without spaces that lack SpaceAfter=No (Japanese and Chinese here)
are given it everywhere, so that their text has no spaces. Such files say nothing about sentences
in other languages: there every word is surrounded by spaces.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path

from arbora.data import Block, Sentence, read_conllu, sentences_of, surface_tokens, treebank_text
from arbora.data.block import CONLLU_LAYOUT
from arbora.options import SegmenterOptions
from arbora.segmentation import Segmenter, train_segmenter

WITHOUT_SPACES = ("ud_japanese", "ud_chinese")


def read(path: Path) -> Block:
    """The sentences of a file, without spaces if its language has none."""
    sentences = list(read_conllu(path))
    text = b"".join(bytes(sentence) + b"\n\n" for sentence in sentences)
    block = Block(text, CONLLU_LAYOUT)
    if path.parent.name.startswith(WITHOUT_SPACES) and b"SpaceAfter=No" not in text:
        misc = [["SpaceAfter=No"] * n for n in block.n_words.tolist()]
        return block.with_columns(misc=misc)
    return block


class Spans:
    """Tokens, sentences and words as ranges of characters that are not spaces."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self.tokens: list[tuple[int, int]] = []
        self.sentences: list[tuple[int, int]] = []
        self.words: list[tuple[int, int, tuple[str, ...]]] = []  # of a token, in small letters
        place = 0
        for sentence in sentences:
            first = place
            for token in surface_tokens(sentence):
                size = len("".join(token.form.split()))
                self.tokens.append((place, place + size))
                words = tuple(word.lower() for word in token.words)
                self.words.append((place, place + size, words))
                place += size
            self.sentences.append((first, place))


def f1(right: int, gold: int, system: int) -> float:
    """In percent."""
    return 200.0 * right / (gold + system) if gold + system else 0.0


def common(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """The length of the longest common subsequence, which aligns the words of multiword tokens."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
            )
    return table[-1][-1]


def right_words(gold: Spans, system: Spans) -> int:
    """Words that are in both; inside of overlapping multiword tokens by their letters."""
    right = i = j = 0
    ours, theirs = gold.words, system.words
    while i < len(ours) and j < len(theirs):
        plain = len(ours[i][2]) == 1 and len(theirs[j][2]) == 1
        if plain:
            right += ours[i][:2] == theirs[j][:2]
            i, j = (i + (ours[i][1] <= theirs[j][1]), j + (ours[i][1] >= theirs[j][1]))
            continue
        if ours[i][0] != theirs[j][0]:
            if ours[i][0] < theirs[j][0]:
                i += 1
            else:
                j += 1
            continue
        # everything up to where both end together, if a multiword token reaches there
        a, b, end = [*ours[i][2]], [*theirs[j][2]], max(ours[i][1], theirs[j][1])
        i, j = i + 1, j + 1
        while True:
            if i < len(ours) and ours[i][0] < end:
                a += ours[i][2]
                end = max(end, ours[i][1])
                i += 1
            elif j < len(theirs) and theirs[j][0] < end:
                b += theirs[j][2]
                end = max(end, theirs[j][1])
                j += 1
            else:
                break
        right += common(tuple(a), tuple(b))
    return right


def scores(gold: Block, system: Iterable[Sentence]) -> dict[str, float]:
    """F1 of tokens, sentences and words."""
    ours, theirs = Spans(sentences_of(gold)), Spans(system)
    n_words = [sum(len(one[2]) for one in spans.words) for spans in (ours, theirs)]
    return {
        "tokens": f1(len({*ours.tokens} & {*theirs.tokens}), len(ours.tokens), len(theirs.tokens)),
        "sentences": f1(
            len({*ours.sentences} & {*theirs.sentences}), len(ours.sentences), len(theirs.sentences)
        ),
        "words": f1(right_words(ours, theirs), *n_words),
    }


def size_of(segmenter: Segmenter) -> int:
    """Bytes of its arrays."""
    return sum(array.nbytes for array in segmenter.tensors().values())


def main() -> None:
    """Prints a line per treebank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--part", default="dev")
    parser.add_argument("--regularization", type=float, default=0.3)
    parser.add_argument("--passes", type=int, default=100)
    parser.add_argument("--bits", type=int, default=18)
    parser.add_argument("--no-dev", action="store_true")
    given = parser.parse_args()
    options = SegmenterOptions(
        passes=given.passes, regularization=given.regularization, bits=given.bits
    )
    for name in given.names:
        folder = given.treebanks / name
        train, dev = read(folder / "train.conllu"), read(folder / "dev.conllu")
        begin = time.perf_counter()
        segmenter = train_segmenter(train, None if given.no_dev else dev, options)
        learnt = time.perf_counter() - begin
        gold = dev if given.part == "dev" else read(folder / f"{given.part}.conllu")
        text = treebank_text(gold)
        begin = time.process_time()  # one thread
        found = segmenter.segment(text)
        speed = int(found.n_words.sum()) / (time.process_time() - begin)
        figures = scores(gold, sentences_of(found.block))
        shown = "  ".join(f"{kind} {value:.2f}" for kind, value in figures.items())
        print(
            f"{name:26} {given.part}: {shown}  ({learnt:.0f} s, {size_of(segmenter) / 1e6:.2f} MB,"
            f" {speed:.0f} words/s, {len(segmenter.settings()['rules'])} rules)",
            flush=True,
        )


if __name__ == "__main__":
    main()
