"""A small treebank to learn from, written for the tests."""

from __future__ import annotations

from functools import cache
from itertools import product

from arbora.data import Block
from arbora.data.block import CONLLU_LAYOUT
from arbora.options import SegmenterOptions
from arbora.segmentation import Segmenter, train_segmenter

NAMES = ("Mr. Hill", "Anna", "Dr. Wood", "The cat", "A dog")
VERBS = ("did|n't see", "does|n't like", "saw", "would|n't eat", "could|n't find", "DID|N'T SEE")
THINGS = ("the U.S.", "3.5 apples", "it", "x@mail.org", "http://tree.org/a-b", "a well-known house")
SPLIT = {"gonna": "gon|na", "im": "i|m"}


def sentences() -> list[str]:
    """Tokens separated by spaces, words of tokens by bars, `~` for no space before a token."""
    made = []
    for k, (name, verb, thing) in enumerate(product(NAMES, VERBS, THINGS)):
        end = "~." if not thing.endswith(".") else ""
        extra = (" ~, he said", "", " ( today ~)", ' ~" yes ~"', " in London")[k % 5]
        made.append(f"{name} {verb} {thing}{extra} {end or '~!'}")
    return made


def conllu(lines: list[str], paragraph: int = 4) -> str:
    """The sentences as CoNLL-U; a paragraph has so many of them."""
    text = []
    for number, line in enumerate(lines):
        if number == 0:
            text.append("# newdoc")
        if number % paragraph == 0:
            text.append("# newpar")
        tokens = line.split()
        word = 1
        for k, token in enumerate(tokens):
            glued = k + 1 < len(tokens) and tokens[k + 1].startswith("~")
            misc = "SpaceAfter=No" if glued or token == "(" else "_"
            parts = token.removeprefix("~").split("|")
            if len(parts) > 1:
                row = f"{word}-{word + len(parts) - 1}\t{''.join(parts)}"
                text.append(row + "\t_" * 7 + f"\t{misc}")
                misc = "_"
            for part in parts:
                text.append(f"{word}\t{part}" + "\t_" * 7 + f"\t{misc}")
                word += 1
        text.append("")
    return "\n".join(text) + "\n"


def toy_block() -> Block:
    """The treebank."""
    return Block(conllu(sentences()).encode(), CONLLU_LAYOUT)


def without_spaces() -> Block:
    """A treebank of a language without spaces."""
    subjects, particles = ("猫", "東京", "彼女", "テレビ"), ("は", "が", "も")
    verbs = ("見る", "食べた", "いる", "行きました")
    lines = [
        f"{s} ~{p} ~{o} ~を ~{v} ~。"
        for s, p, o, v in product(subjects, particles, ("魚", "コーヒー", "山"), verbs)
    ]
    return Block(conllu(lines, paragraph=6).encode(), CONLLU_LAYOUT)


@cache
def toy_segmenter() -> Segmenter:
    """Learnt from the toy treebank."""
    return train_segmenter(toy_block(), options=SegmenterOptions(bits=14, passes=40))


@cache
def toy_unspaced() -> Segmenter:
    """Learnt from the one without spaces."""
    return train_segmenter(without_spaces(), options=SegmenterOptions(bits=14, passes=40))
