"""Scores of a parse of raw text, by the rules of the CoNLL 2018 shared task.

`text_alignment.py` says which words are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from arbora.data import Sentence
from arbora.data.source import ReadPath
from arbora.evaluation.counts import Match, number
from arbora.evaluation.text_alignment import AlignedTexts, Word, align_texts

__all__ = ["METRICS", "TextScores", "evaluate_segmentation", "evaluate_text", "text_scores"]

METRICS = (
    "Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS",
    "CLAS", "MLAS", "BLEX",
)  # fmt: skip

# Labels of content words; the others count as parts of their heads, or not at all (MLAS).
_CONTENT = frozenset([
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl",
    "dislocated", "advcl", "advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod",
    "conj", "fixed", "flat", "compound", "list", "parataxis", "orphan", "goeswith",
    "reparandum", "root", "dep",
])  # fmt: skip


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

    def _repr_html_(self) -> str:
        from arbora.drawing.page import html_table

        rows = [
            (name, *(number(value).strip() for value in (one.precision, one.recall, one.f1)))
            for name, one in self.matches.items()
        ]
        caption = f"{self.aligned:,} words are aligned; rules of the CoNLL 2018 shared task"
        return html_table(["in %", "precision", "recall", "F1"], rows, caption=caption)

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
    return text_scores(align_texts(gold, system))


def text_scores(both: AlignedTexts) -> TextScores:
    """The scores of aligned texts."""
    right, found, pairs, partner = both.gold, both.system, both.pairs, both.partner

    def gold_word(word: Word | None) -> object:
        """What a system word is in gold: roots and unaligned words are told apart."""
        return None if word is None else id(partner[id(word)]) if id(word) in partner else ...

    def itself(word: Word | None) -> object:
        return None if word is None else id(word)

    matches = _segmentation(both)
    for name, key, is_counted in _KEYS:
        correct = sum(key(a, a, itself) == key(b, a, gold_word) for a, b in pairs if is_counted(a))
        in_gold, in_system = (sum(map(is_counted, text.words)) for text in (right, found))
        matches[name] = Match(in_gold, in_system, correct)
    return TextScores(matches, len(pairs))


def evaluate_segmentation(
    gold: ReadPath | Iterable[Sentence], system: ReadPath | Iterable[Sentence]
) -> TextScores:
    """Scores tokens, sentences and words only; neither needs trees."""
    both = align_texts(gold, system, trees=False)
    return TextScores(_segmentation(both), len(both.pairs))


def _segmentation(both: AlignedTexts) -> dict[str, Match]:
    gold, system = both.gold, both.system
    return {
        "Tokens": _spans(gold.tokens, system.tokens),
        "Sentences": _spans(gold.sentences, system.sentences),
        "Words": Match(len(gold.words), len(system.words), len(both.pairs)),
    }


Place = Callable[[Word | None], object]
Key = Callable[[Word, Word, Place], object]  # of a word, given its gold word


def _lemma(word: Word, gold: Word) -> str:
    return "_" if gold.lemma == "_" else word.lemma


def _with_function_words(word: Word, place: Place) -> object:
    children = [(place(one), one.label, one.upos, one.feats) for one in word.function_words]
    return place(word.head), word.label, word.upos, word.feats, children


def _every(word: Word) -> bool:  # noqa: ARG001  # as _is_content
    return True


def _is_content(word: Word) -> bool:
    return word.label in _CONTENT


_KEYS: list[tuple[str, Key, Callable[[Word], bool]]] = [
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


def _spans(gold: list[tuple[int, int]], system: list[tuple[int, int]]) -> Match:
    """Spans that begin and end at the same places; both lists are in order."""
    return Match(len(gold), len(system), len(set(gold) & set(system)))
