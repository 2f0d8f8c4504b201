"""Scores of a parse of raw text, by the rules of the CoNLL 2018 shared task.

Gold and system may have different sentences, tokens and words, but must have the same characters
apart from white space. Words are compared by their place among the characters; the words of
overlapping multiword tokens are aligned by the longest common subsequence of their forms.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from arbora.data import Sentence, read_conllu
from arbora.data.source import ReadPath
from arbora.data.surface import surface_tokens
from arbora.data.treebank import is_file
from arbora.errors import AlignmentError, ArgumentError
from arbora.evaluation.counts import Match

__all__ = ["METRICS", "TextScores", "evaluate_segmentation", "evaluate_text"]

METRICS = (
    "Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS",
    "CLAS", "MLAS", "BLEX",
)  # fmt: skip

# Labels of content words, and of function words that count as parts of their heads (MLAS).
_CONTENT = frozenset(
    [
        "nsubj",
        "obj",
        "iobj",
        "csubj",
        "ccomp",
        "xcomp",
        "obl",
        "vocative",
        "expl",
        "dislocated",
        "advcl",
        "advmod",
        "discourse",
        "nmod",
        "appos",
        "nummod",
        "acl",
        "amod",
        "conj",
        "fixed",
        "flat",
        "compound",
        "list",
        "parataxis",
        "orphan",
        "goeswith",
        "reparandum",
        "root",
        "dep",
    ]
)
_FUNCTION = frozenset(["aux", "cop", "mark", "det", "clf", "case", "cc"])
_UNIVERSAL_FEATURES = frozenset(
    [
        "PronType",
        "NumType",
        "Poss",
        "Reflex",
        "Foreign",
        "Abbr",
        "Gender",
        "Animacy",
        "Number",
        "Case",
        "Definite",
        "Degree",
        "VerbForm",
        "Mood",
        "Tense",
        "Aspect",
        "Voice",
        "Evident",
        "Polarity",
        "Person",
        "Polite",
    ]
)


@dataclass(eq=False)
class _Word:
    """A word with its place in the text; `head` is None for roots."""

    start: int
    end: int
    multiword: bool
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    label: str
    head: _Word | None = None
    function_words: list[_Word] = field(default_factory=list)


@dataclass(frozen=True)
class _Text:
    characters: str
    tokens: list[tuple[int, int]]
    sentences: list[tuple[int, int]]
    words: list[_Word]


@dataclass(frozen=True)
class TextScores:
    """Precision, recall and F1 of every metric of the CoNLL 2018 shared task, by name.

    `aligned` is the number of words that were aligned.
    """

    matches: dict[str, Match]
    aligned: int

    def f1(self, name: str) -> float | None:
        """The F1 score of a metric, in percent."""
        return self.matches[name].f1

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return {
            "aligned_words": self.aligned,
            **{name: match.to_dict() for name, match in self.matches.items()},
        }

    def __str__(self) -> str:
        lines = [f"{'':10}{'precision':>11}{'recall':>9}{'F1':>9}"]
        for name, match in self.matches.items():
            figures = (match.precision, match.recall, match.f1)
            cells = [f"{value:9.2f}" if value is not None else " " * 8 + "-" for value in figures]
            lines.append(f"{name:10}  {''.join(cells)}")
        return "\n".join(lines)


def evaluate_text(
    gold: ReadPath | Iterable[Sentence], system: ReadPath | Iterable[Sentence]
) -> TextScores:
    """Scores a parse of the same text; both are CoNLL-U files or sentences."""
    right, found = _text(gold, "gold", trees=True), _text(system, "system", trees=True)
    if right.characters != found.characters:
        raise _different(right.characters, found.characters)
    pairs = _aligned(right.words, found.words)
    partner: dict[int, _Word] = {id(ours): theirs for theirs, ours in pairs}

    def gold_word(word: _Word | None) -> object:
        """What a system word is in gold: roots and unaligned words are told apart."""
        return None if word is None else id(partner[id(word)]) if id(word) in partner else ...

    def itself(word: _Word | None) -> object:
        return None if word is None else id(word)

    matches = _segmentation(right, found, len(pairs))
    for name, key, is_counted in _KEYS:
        correct = sum(key(a, a, itself) == key(b, a, gold_word) for a, b in pairs if is_counted(a))
        in_gold, in_system = (sum(map(is_counted, text.words)) for text in (right, found))
        matches[name] = Match(in_gold, in_system, correct)
    return TextScores(matches, len(pairs))


def evaluate_segmentation(
    gold: ReadPath | Iterable[Sentence], system: ReadPath | Iterable[Sentence]
) -> TextScores:
    """Scores tokens, sentences and words only; neither needs trees."""
    right, found = _text(gold, "gold", trees=False), _text(system, "system", trees=False)
    if right.characters != found.characters:
        raise _different(right.characters, found.characters)
    pairs = len(_aligned(right.words, found.words))
    return TextScores(_segmentation(right, found, pairs), pairs)


def _segmentation(gold: _Text, system: _Text, aligned: int) -> dict[str, Match]:
    return {
        "Tokens": _spans(gold.tokens, system.tokens),
        "Sentences": _spans(gold.sentences, system.sentences),
        "Words": Match(len(gold.words), len(system.words), aligned),
    }


Place = Callable[[_Word | None], object]
Key = Callable[[_Word, _Word, Place], object]  # of a word, given its gold word


def _lemma(word: _Word, gold: _Word) -> str:
    return "_" if gold.lemma == "_" else word.lemma


def _with_function_words(word: _Word, place: Place) -> object:
    children = [(place(one), one.label, one.upos, one.feats) for one in word.function_words]
    return place(word.head), word.label, word.upos, word.feats, children


def _every(word: _Word) -> bool:  # noqa: ARG001  # as _is_content
    return True


def _is_content(word: _Word) -> bool:
    return word.label in _CONTENT


_KEYS: list[tuple[str, Key, Callable[[_Word], bool]]] = [
    ("UPOS", lambda word, _, __: word.upos, _every),
    ("XPOS", lambda word, _, __: word.xpos, _every),
    ("UFeats", lambda word, _, __: word.feats, _every),
    ("AllTags", lambda word, _, __: (word.upos, word.xpos, word.feats), _every),
    ("Lemmas", lambda word, gold, _: _lemma(word, gold), _every),
    ("UAS", lambda word, _, place: place(word.head), _every),
    ("LAS", lambda word, _, place: (place(word.head), word.label), _every),
    ("CLAS", lambda word, _, place: (place(word.head), word.label), _is_content),
    ("MLAS", lambda word, _, place: _with_function_words(word, place), _is_content),
    (
        "BLEX",
        lambda word, gold, place: (place(word.head), word.label, _lemma(word, gold)),
        _is_content,
    ),
]


def _text(source: ReadPath | Iterable[Sentence], name: str, *, trees: bool) -> _Text:
    """The words of a treebank with their places among the characters."""
    given = (
        read_conllu(cast("ReadPath", source))
        if is_file(source)
        else cast("Iterable[Sentence]", source)
    )
    text = _Text("", [], [], [])
    pieces: list[str] = []
    at = 0
    for number, sentence in enumerate(given, 1):
        if sentence.format != "conllu":
            raise ArgumentError(f"scores of raw text require CoNLL-U; {name} is not.")
        if trees and (sentence.heads < 0).any():
            raise ArgumentError(f"{name}: sentence {number} has words without a head.")
        first, words = at, list[_Word]()
        columns = zip(
            sentence.forms, sentence.lemmas, sentence.upos, sentence.xpos,
            map(_universal, sentence.feats), (label.partition(":")[0] for label in sentence.labels),
            strict=True,
        )  # fmt: skip
        for token in surface_tokens(sentence):
            form = "".join(c for c in token.form if unicodedata.category(c) != "Zs")
            pieces.append(form)
            text.tokens.append((at, at + len(form)))
            several = len(token.words) > 1
            words += [_Word(at, at + len(form), several, *next(columns)) for _ in token.words]
            at += len(form)
        for word, head in zip(words, sentence.heads.tolist() if trees else (), strict=trees):
            word.head = words[head - 1] if head else None
            if word.head is not None and word.label in _FUNCTION:
                word.head.function_words.append(word)
        text.sentences.append((first, at))
        text.words.extend(words)
    return _Text("".join(pieces), text.tokens, text.sentences, text.words)


def _universal(feats: str) -> str:
    kept = [one for one in feats.split("|") if one.partition("=")[0] in _UNIVERSAL_FEATURES]
    return "|".join(sorted(kept))


def _spans(gold: list[tuple[int, int]], system: list[tuple[int, int]]) -> Match:
    """Spans that begin and end at the same places; both lists are in order."""
    return Match(len(gold), len(system), len(set(gold) & set(system)))


def _aligned(gold: list[_Word], system: list[_Word]) -> list[tuple[_Word, _Word]]:
    """Pairs of words that are the same."""
    pairs: list[tuple[_Word, _Word]] = []
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


def _overlapping(gold: list[_Word], system: list[_Word], i: int, j: int) -> tuple[int, int]:
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


def _common(gold: Sequence[_Word], system: Sequence[_Word]) -> list[tuple[_Word, _Word]]:
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
