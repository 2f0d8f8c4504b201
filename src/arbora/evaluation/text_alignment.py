"""Gold and system of raw text side by side, by the rules of the CoNLL 2018 shared task.

Both may have different sentences, tokens and words, but must have the same characters apart from
white space. Words are compared by their place among the characters; the words of overlapping
multiword tokens are aligned by the longest common subsequence of their forms.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from arbora.data import Sentence, read_conllu
from arbora.data.source import ReadPath
from arbora.data.surface import surface_tokens
from arbora.data.treebank import is_file
from arbora.drawing.annotated import sentence_name, stored_probabilities
from arbora.errors import AlignmentError, ArgumentError

__all__ = ["AlignedTexts", "Text", "TextSentence", "Word", "align_texts"]

# Labels of function words that count as parts of their heads (MLAS).
_FUNCTION = frozenset([
    "aux", "cop", "mark", "det", "clf", "case", "cc",
])  # fmt: skip
_UNIVERSAL_FEATURES = frozenset([
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy",
    "Number", "Case", "Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice",
    "Evident", "Polarity", "Person", "Polite",
])  # fmt: skip


@dataclass(eq=False)
class Word:
    """A word with its place in the text; `head` is None for roots.

    `sentence` is the number of its sentence, from 0. `probability` is that of the arc to its head,
    NaN if the file has none.
    """

    start: int
    end: int
    multiword: bool
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    label: str
    sentence: int
    probability: float
    head: Word | None = None
    function_words: list[Word] = field(default_factory=list)


@dataclass(frozen=True)
class TextSentence:
    """What is reported of a sentence: its number of words, its `sent_id` and its text."""

    words: int
    name: str
    text: str


@dataclass(frozen=True)
class Text:
    """A treebank: its characters without spaces, and places among them."""

    characters: str
    tokens: list[tuple[int, int]]
    sentences: list[tuple[int, int]]
    words: list[Word]
    described: list[TextSentence]


@dataclass(frozen=True)
class AlignedTexts:
    """Two treebanks of the same text, and the pairs of words (gold, system) that are the same."""

    gold: Text
    system: Text
    pairs: list[tuple[Word, Word]]

    @cached_property
    def partner(self) -> dict[int, Word]:
        """The gold word of a system word, by the identity of the latter."""
        return {id(ours): theirs for theirs, ours in self.pairs}


def align_texts(
    gold: ReadPath | Iterable[Sentence],
    system: ReadPath | Iterable[Sentence],
    *,
    trees: bool = True,
) -> AlignedTexts:
    """Reads two CoNLL-U files, or takes their sentences, and aligns their words.

    Without `trees`, the heads are not read and may be missing.
    """
    right, found = _text(gold, "gold", trees=trees), _text(system, "system", trees=trees)
    if right.characters != found.characters:
        raise _different(right.characters, found.characters)
    return AlignedTexts(right, found, _aligned(right.words, found.words))


def _text(source: ReadPath | Iterable[Sentence], name: str, *, trees: bool) -> Text:
    """The words of a treebank with their places among the characters."""
    given = (
        read_conllu(cast("ReadPath", source))
        if is_file(source)
        else cast("Iterable[Sentence]", source)
    )
    text = Text("", [], [], [], [])
    pieces: list[str] = []
    at = 0
    for number, sentence in enumerate(given, 1):
        if sentence.format != "conllu":
            raise ArgumentError(f"scores of raw text require CoNLL-U; {name} is not.")
        if trees and (sentence.heads < 0).any():
            raise ArgumentError(f"{name}: sentence {number} has words without a head.")
        first, words = at, list[Word]()
        columns = zip(
            sentence.forms, sentence.lemmas, sentence.upos, sentence.xpos,
            map(_universal, sentence.feats), (label.partition(":")[0] for label in sentence.labels),
            [number - 1] * len(sentence), _probabilities(sentence), strict=True,
        )  # fmt: skip
        for token in surface_tokens(sentence):
            form = "".join(c for c in token.form if unicodedata.category(c) != "Zs")
            pieces.append(form)
            text.tokens.append((at, at + len(form)))
            several = len(token.words) > 1
            words += [Word(at, at + len(form), several, *next(columns)) for _ in token.words]
            at += len(form)
        for word, head in zip(words, sentence.heads.tolist() if trees else (), strict=trees):
            word.head = words[head - 1] if head else None
            if word.head is not None and word.label in _FUNCTION:
                word.head.function_words.append(word)
        text.sentences.append((first, at))
        text.words.extend(words)
        text.described.append(TextSentence(len(words), sentence_name(sentence), sentence.text))
    return Text("".join(pieces), text.tokens, text.sentences, text.words, text.described)


def _universal(feats: str) -> str:
    kept = [one for one in feats.split("|") if one.partition("=")[0] in _UNIVERSAL_FEATURES]
    return "|".join(sorted(kept))


def _probabilities(sentence: Sentence) -> Sequence[float]:
    return stored_probabilities(sentence) or [np.nan] * len(sentence)


def _aligned(gold: list[Word], system: list[Word]) -> list[tuple[Word, Word]]:
    """Pairs of words that are the same."""
    pairs: list[tuple[Word, Word]] = []
    i = j = 0
    while i < len(gold) and j < len(system):
        a, b = gold[i], system[j]
        if a.multiword or b.multiword:
            if a.end <= b.start and not a.multiword:
                i += 1
                continue
            if b.end <= a.start and not b.multiword:
                j += 1
                continue
            last_i, last_j = _overlapping(gold, system, i, j)
            pairs += _common(gold[i:last_i], system[j:last_j])
            i, j = last_i, last_j
        elif (a.start, a.end) == (b.start, b.end):
            pairs.append((a, b))
            i, j = i + 1, j + 1
        elif a.start <= b.start:
            i += 1
        else:
            j += 1
    return pairs


def _overlapping(gold: list[Word], system: list[Word], i: int, j: int) -> tuple[int, int]:
    """The ends of the words from i and j on that overlapping multiword tokens tie together."""
    end = 0
    for word in (gold[i], system[j]):
        if word.multiword:
            end = max(end, word.end)
    while True:
        if i < len(gold) and gold[i].start < end:
            end, i = max(end, gold[i].end if gold[i].multiword else 0), i + 1
        elif j < len(system) and system[j].start < end:
            end, j = max(end, system[j].end if system[j].multiword else 0), j + 1
        else:
            return i, j


def _common(gold: Sequence[Word], system: Sequence[Word]) -> list[tuple[Word, Word]]:
    """The longest common subsequence of the lower-cased forms."""
    ours, theirs = [w.form.lower() for w in gold], [w.form.lower() for w in system]
    lengths = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in reversed(range(len(ours))):
        for j in reversed(range(len(theirs))):
            same = ours[i] == theirs[j]
            lengths[i][j] = (
                1 + lengths[i + 1][j + 1] if same else max(lengths[i + 1][j], lengths[i][j + 1])
            )
    pairs, i, j = [], 0, 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            pairs.append((gold[i], system[j]))
            i, j = i + 1, j + 1
        elif lengths[i][j] == lengths[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _different(gold: str, system: str) -> AlignmentError:
    at = next(
        (i for i, (a, b) in enumerate(zip(gold, system, strict=False)) if a != b),
        min(len(gold), len(system)),
    )
    return AlignmentError(
        f"gold and system are not the same text: after {at:,} characters that are not spaces, gold "
        f"has {gold[at : at + 20]!r} and system {system[at : at + 20]!r}."
    )
