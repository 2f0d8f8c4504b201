"""Scores with an analysis of the errors: confusions, worst sentences, calibration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from arbora.arrays import as_count
from arbora.data import Sentence
from arbora.data.source import ReadPath
from arbora.drawing.annotated import ArcFile, sentence_name, stored_probabilities
from arbora.evaluation.alignment import AnnotatedSentence, AnnotatedSource, align
from arbora.evaluation.attachment import AttachmentScores, scores_of
from arbora.evaluation.confusion import Confusion, SentenceErrors, shortened
from arbora.evaluation.reliability import Calibration, calibration
from arbora.evaluation.text_alignment import AlignedTexts, Word, align_texts
from arbora.evaluation.text_scores import TextScores, text_scores

__all__ = ["ErrorAnalysis", "analyse", "analyse_text"]

ROOT = "root"  # in place of the tag of a head that is none
_LONGEST = 200  # letters of a sentence that are kept
_BINS = 10


@dataclass(frozen=True)
class ErrorAnalysis:
    """What a system got wrong, over the words that its `scores` count.

    - `labels`: labels taken for others, whether or not the head is right.
    - `heads`: of words with a wrong head, the tags of the right head and of the wrong one, both as
      in gold; `root` stands for the root symbol.
    - `sentences`: the errors of every sentence.
    - `calibration`: probabilities of arcs (`ArcProb` in MISC) against right heads; None if the
      system has none.

    With raw text, they are over the words that are aligned.
    """

    scores: AttachmentScores | TextScores
    labels: Confusion
    heads: Confusion
    sentences: tuple[SentenceErrors, ...]
    calibration: Calibration | None

    def worst(self, count: int = 10) -> tuple[SentenceErrors, ...]:
        """The sentences with most wrong words, at most `count`; none without an error."""
        as_count(count, "count")
        wrong = [sentence for sentence in self.sentences if sentence.wrong]
        return tuple(sorted(wrong, key=lambda one: (-one.wrong, one.words, one.number))[:count])

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as for JSON, with the ten worst sentences."""
        return {
            **self.scores.to_dict(),
            "label_confusion": self.labels.to_dict(),
            "head_confusion": self.heads.to_dict(),
            "worst": [sentence.to_dict() for sentence in self.worst()],
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
        }

    def __str__(self) -> str:
        parts = [str(self.scores), str(self.labels), str(self.heads)]
        return "\n\n".join(parts if self.calibration is None else [*parts, str(self.calibration)])

    def _repr_html_(self) -> str:
        shown = [self.scores, self.labels, self.heads, self.calibration]
        return "".join(part._repr_html_() for part in shown if part is not None)


def analyse(
    gold: AnnotatedSource,
    system: AnnotatedSource,
    punctuation: str | None = None,
    *,
    format: str | None = None,  # noqa: A002  # the public name
) -> ErrorAnalysis:
    """The scores of `evaluate`, and where the errors are; the arguments are the same."""
    notes = _Notes([], [], [])
    both = align(gold, system, punctuation=punctuation, format=format, visit=notes.add)
    scores = scores_of(both)
    counted, heads_right = both.counted, both.right_heads()
    labels, names = both.compared_labels()
    right = heads_right & (labels[0] == labels[1])
    wrong_heads = np.flatnonzero(counted & ~heads_right)
    first = both.starts[both.sentence]
    tags = [_head_tags(notes.tags, heads, first)[wrong_heads] for heads in both.heads]
    return ErrorAnalysis(
        scores,
        Confusion.of("label", _named(labels[:, counted], names)),
        Confusion.of("head", zip(*(column.tolist() for column in tags), strict=True)),
        _per_sentence(
            notes.described,
            np.bincount(both.sentence, counted & ~heads_right, len(both.lengths)),
            np.bincount(both.sentence, counted & ~right, len(both.lengths)),
        ),
        _calibration(np.array(notes.probabilities)[counted], heads_right[counted]),
    )


def analyse_text(
    gold: ReadPath | Iterable[Sentence], system: ReadPath | Iterable[Sentence]
) -> ErrorAnalysis:
    """The scores of `evaluate_text`, and where the errors are; the arguments are the same."""
    both = align_texts(gold, system)
    right_head = [_has_right_head(both, ours, theirs) for theirs, ours in both.pairs]
    right = [
        is_right and ours.label == theirs.label
        for is_right, (theirs, ours) in zip(right_head, both.pairs, strict=True)
    ]
    places = np.array([word.sentence for word in both.gold.words], dtype=np.int64)
    total = np.bincount(places, minlength=len(both.gold.described))
    found = np.array([theirs.sentence for theirs, _ in both.pairs], dtype=np.int64)
    good = [np.bincount(found, flags, len(total)) for flags in (right_head, right)]
    return ErrorAnalysis(
        text_scores(both),
        Confusion.of("label", ((theirs.label, ours.label) for theirs, ours in both.pairs)),
        Confusion.of(
            "head",
            (
                (_tag(theirs.head), _gold_tag(both, ours.head))
                for is_right, (theirs, ours) in zip(right_head, both.pairs, strict=True)
                if not is_right
            ),
        ),
        _per_sentence(
            [(one.words, one.name, one.text) for one in both.gold.described],
            total - good[0], total - good[1],
        ),
        _calibration(np.array([ours.probability for _, ours in both.pairs]), np.array(right_head)),
    )  # fmt: skip


@dataclass
class _Notes:
    """What the alignment does not hold: tags and probabilities of words, names of sentences."""

    tags: list[str]
    probabilities: list[float]
    described: list[tuple[int, str, str]]

    def add(self, gold: AnnotatedSentence, system: AnnotatedSentence) -> None:
        n = len(gold.forms)
        upos = list(getattr(gold, "upos", []))
        self.tags += upos if any(tag != "_" for tag in upos) else list(gold.xpos)
        self.probabilities += _probabilities(system) or [np.nan] * n
        name = sentence_name(cast("ArcFile", gold)) if hasattr(gold, "comments") else ""
        text = getattr(gold, "text", None) or " ".join(gold.forms)
        self.described.append((n, name, text))


def _probabilities(sentence: AnnotatedSentence) -> list[float]:
    own = getattr(sentence, "arc_probabilities", None)
    if own is not None and len(own):
        return [float(p) for p in own]
    if not hasattr(sentence, "misc"):
        return []
    return list(stored_probabilities(cast("ArcFile", sentence)))


def _head_tags(
    tags: Sequence[str], heads: NDArray[Any], first: NDArray[np.int64]
) -> NDArray[np.object_]:
    """The tag of every word's head."""
    named = np.array([*tags, ROOT, "_"], dtype=object)
    places = np.where(heads > 0, first + heads - 1, len(tags) + (heads < 0))
    answer: NDArray[np.object_] = named[places]
    return answer


def _named(labels: NDArray[Any], names: Sequence[str]) -> list[tuple[str, str]]:
    return [(names[a], names[b]) for a, b in zip(*labels.tolist(), strict=True)]


def _has_right_head(both: AlignedTexts, ours: Word, theirs: Word) -> bool:
    if ours.head is None or theirs.head is None:
        return ours.head is theirs.head
    return both.partner.get(id(ours.head)) is theirs.head


def _tag(word: Word | None) -> str:
    return ROOT if word is None else word.upos


def _gold_tag(both: AlignedTexts, word: Word | None) -> str:
    return _tag(word if word is None else both.partner.get(id(word), word))


def _per_sentence(
    described: Iterable[tuple[int, str, str]], heads: NDArray[Any], both: NDArray[Any]
) -> tuple[SentenceErrors, ...]:
    return tuple(
        SentenceErrors(number, name, words, int(heads[number - 1]), int(both[number - 1]),
                       shortened(text, _LONGEST))
        for number, (words, name, text) in enumerate(described, 1)
    )  # fmt: skip


def _calibration(probabilities: NDArray[Any], right: NDArray[np.bool_]) -> Calibration | None:
    known = ~np.isnan(probabilities.astype(np.float64))
    return calibration(probabilities[known], right[known], _BINS) if known.any() else None
