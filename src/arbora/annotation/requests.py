"""Sentences with words to annotate, as objects and as files that can be trained on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block, Sentence, write_conllu
from arbora.data.formats import layout_named
from arbora.data.output import WritePath
from arbora.models.enhanced import has_enhanced, without_enhanced
from arbora.types import FloatArray, IntArray

__all__ = ["Request", "Selection"]


@dataclass(frozen=True)
class Request:
    """A sentence of the pool, and the words to annotate.

    `number` is the sentence's place in the pool, from 0. `words` are numbered from 1, the greatest
    gain first if they were selected one by one. `gains` has one number per word, or a single one
    for the whole sentence. `heads`, `labels` and `probabilities` are what the parser proposes for
    all words; `unknown` marks those without a head in the pool.
    """

    number: int
    sentence: Sentence
    words: tuple[int, ...]
    gains: tuple[float, ...]
    heads: IntArray
    labels: tuple[str, ...]
    probabilities: FloatArray
    unknown: NDArray[np.bool_]

    @property
    def gain(self) -> float:
        """The expected gain of all words to annotate."""
        return float(sum(self.gains))

    def asking(self, words: tuple[int, ...], gains: tuple[float, ...]) -> Request:
        """The same sentence with words to annotate."""
        return replace(self, words=words, gains=gains)

    def to_sentence(self, rank: int, *, reveal: bool = False) -> Sentence:
        """The sentence as it is given to an annotator.

        HEAD and DEPREL are `_` unless they were known. The words to annotate are marked in MISC by
        `Ask=N`, their order, with what the parser would have said (`Guess=HEAD:LABEL`) and its
        probability (`ArcProb`); formats without MISC have a comment. Enhanced dependencies are
        removed, since they tell the heads. With `reveal`, words to annotate keep those of the pool.
        """
        n = len(self.sentence)
        asked = np.zeros(n, dtype=np.bool_)
        asked[np.array(self.words, dtype=np.int64) - 1] = True
        kept = asked if reveal else ~self.unknown
        heads = np.where(kept, self.sentence.heads, -1).astype(np.int32)
        labels = [
            label if keeps else "_"
            for label, keeps in zip(self.sentence.labels, kept.tolist(), strict=True)
        ]
        order = {word: place for place, word in enumerate(self.words, 1)}
        guesses = [
            f"{head}:{label}" for head, label in zip(self.heads.tolist(), self.labels, strict=True)
        ]
        misc: dict[str, Any] = {
            "Ask": [str(order[w]) if w in order else None for w in range(1, n + 1)],
            "Guess": [guesses[w - 1] if w in order else None for w in range(1, n + 1)],
            "ArcProb": np.where(asked, self.probabilities, np.nan),
        }
        comments = [f"# arbora.order = {rank}", f"# arbora.gain = {self.gain:.4f}"]
        if self.sentence.format != "conllu":
            asks = " ".join(f"{w}:{guesses[w - 1]}" for w in self.words)
            comments.append(f"# arbora.ask = {asks}")
        made = self.sentence.with_tree(heads, labels, misc=misc, comments=comments)
        block = Block(bytes(made), layout_named(made.format))
        if not block.layout.universal or not has_enhanced(block):
            return made
        return Sentence.from_bytes(without_enhanced(block, None, np.array([0])), made.format)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        forms = self.sentence.forms
        return {
            "sentence": self.number + 1,
            "sent_id": self.sentence.sent_id,
            "text": self.sentence.text,
            "gain": self.gain,
            "words": [
                {
                    "word": word, "form": forms[word - 1], "head": int(self.heads[word - 1]),
                    "label": self.labels[word - 1],
                    "probability": float(self.probabilities[word - 1]),
                }
                for word in self.words
            ],
        }  # fmt: skip


@dataclass(frozen=True)
class Selection:
    """What to annotate, in order: `requests`, with how and from what they were selected.

    `pool_sentences` is the number of sentences in the pool, `pool_words` of its words without a
    known head.
    """

    requests: tuple[Request, ...]
    by: str
    unit: str
    budget: int
    pool_sentences: int
    pool_words: int
    reveal: bool = False

    @property
    def n_words(self) -> int:
        """The number of words to annotate."""
        return sum(len(request.words) for request in self.requests)

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences as they are given to an annotator; see `Request.to_sentence`."""
        return [
            request.to_sentence(rank, reveal=self.reveal)
            for rank, request in enumerate(self.requests, 1)
        ]

    def write(self, path: WritePath) -> int:
        """Writes the sentences to a file and returns their number."""
        return write_conllu(path, self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        return {
            "by": self.by, "unit": self.unit, "budget": self.budget, "words": self.n_words,
            "sentences": len(self.requests),
            "pool": {"sentences": self.pool_sentences, "words": self.pool_words},
            "selected": [request.to_dict() for request in self.requests],
        }  # fmt: skip
