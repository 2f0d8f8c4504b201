"""The order in which to look at the sentences of a file again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from arbora.annotation.doubt import Doubt, doubt_about
from arbora.annotation.gains import Measure, gains_of, measure_named
from arbora.data import Block
from arbora.data.treebank import TreebankSource, read_treebank
from arbora.errors import ArgumentError
from arbora.evaluation import Disagreement, agreement
from arbora.evaluation.alignment import AnnotatedSource
from arbora.parsers import Parser
from arbora.types import IntArray

__all__ = ["Look", "review_differences", "review_order"]

_LABEL = 7
_FEWEST = 1e-9  # a gain that counts as none


@dataclass(frozen=True)
class Look:
    """A sentence to look at, counted from 0, with the reason and the expected gain.

    `word`, counted from 1, is the word to look at first.
    """

    sentence: int
    score: float
    reason: str
    word: int


def review_order(
    parser: Parser, file: TreebankSource, by: Measure = "errors", *, arcs: bool = False
) -> list[Look]:
    """The sentences of a file, or with `arcs` its words, by expected gain, greatest first.

    The parser does not look at the heads of the file. By errors, a head of the file is wrong with
    the probability that the parser gives to all others; a missing head, with the probability that
    its own proposal is wrong. Sentences and words without any expected gain are left out.
    """
    measure_named(by)
    block = read_treebank(file)
    if not len(block):
        raise ArgumentError("there is nothing to review: the file has no sentences.")
    doubt = doubt_about(parser, block, keep_heads=False, disagreement=by == "disagreement")
    everything = np.ones(len(doubt.heads), dtype=np.bool_)
    gains = gains_of(by, _of_file(doubt, np.asarray(block.heads)), everything, block.n_words)
    ends = np.cumsum(block.n_words)
    looks = []
    for i, end in enumerate(ends.tolist()):
        start = end - int(block.n_words[i])
        own = gains.words[start:end]
        for word in np.argsort(-own, kind="stable")[: None if arcs else 1].tolist():
            score = float(own[word] if arcs else gains.sentences[i])
            if score > _FEWEST:
                reason = _reason(block, doubt, i, start, word)
                looks.append(Look(i, score, reason, word + 1))
    return sorted(looks, key=lambda look: (-look.score, look.sentence, look.word))


def _of_file(doubt: Doubt, heads: IntArray) -> Doubt:
    """The doubt about the heads of the file, where it has any: others are likelier or less likely.

    The likeliest other head is the parser's, unless that is the file's.
    """
    there = heads >= 0
    differs = there & (heads != doubt.heads)
    others = np.where(differs, doubt.probabilities, doubt.runner_up_probabilities)
    chances = np.where(there, doubt.given, doubt.probabilities)
    return replace(doubt, probabilities=chances, runner_up_probabilities=others)


def _reason(block: Block, doubt: Doubt, i: int, start: int, word: int) -> str:
    """What the parser says of a word, and what the file has."""
    at, forms = start + word, ["root", *block.column(i, 1)]
    head, chance = int(doubt.heads[at]), float(doubt.probabilities[at])
    label = (*doubt.label_names, "_")[int(doubt.labels[at])]
    says = f"{forms[word + 1]} <- {forms[head]} {label} {100 * chance:.0f} %"
    given = int(block.heads[at])
    if given < 0:
        return says
    if given == head:
        return f"{says}, as in the file"
    own = block.column(i, _LABEL)[word]
    return f"{says}; file: {forms[given]} {own} {100 * float(doubt.given[at]):.0f} %"


def review_differences(a: AnnotatedSource, b: AnnotatedSource) -> list[Look]:
    """The sentences in which two annotators differ, in the order of the text, one by one.

    The score is the number of words that differ.
    """
    found: defaultdict[int, list[Disagreement]] = defaultdict(list)
    for one in agreement(a, b, samples=1).disagreements:
        found[one.sentence - 1].append(one)
    return [
        Look(sentence, float(len(ones)), "; ".join(_differences(ones)), ones[0].word)
        for sentence, ones in found.items()
    ]


def _differences(words: Sequence[Disagreement]) -> Iterator[str]:
    for one in words:
        sides = (" ".join(str(side[kind]) for kind in one.kinds) for side in (one.a, one.b))
        yield f"{one.form} {', '.join(one.kinds)}: A {next(sides)}, B {next(sides)}"
