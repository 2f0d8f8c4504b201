"""The dev set: how good a model is while it learns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.data.conllu import sentences_of
from arbora.evaluation.rules import rule_for
from arbora.features import Encoded
from arbora.parsers.decoding import BlockDecoder
from arbora.parsers.model import Model
from arbora.training.loop import DevScores

__all__ = ["DevSet"]


class DevSet:
    """Annotated sentences and the words among them that count, by the rule of their format."""

    def __init__(
        self, block: Block, model: Model, sentences: NDArray[np.int64] | None = None
    ) -> None:
        places = np.arange(len(block)) if sentences is None else sentences
        everything = list(sentences_of(block))
        chosen = [everything[i] for i in places.tolist()]
        rule = rule_for(None, chosen[0].format)
        self.rule = rule.name
        self.encoded = Encoded(block, model.features, model.word_clusters, places)
        self.heads = np.concatenate([sentence.heads for sentence in chosen])
        self._compared = _numbers([rule.label(name) for name in model.labels])
        numbers = dict(
            zip((rule.label(name) for name in model.labels), self._compared.tolist(), strict=True)
        )
        self._labels = np.array(
            [numbers.get(rule.label(name), -1) for sentence in chosen for name in sentence.labels]
        )
        self.counted = self.heads >= 0
        if not rule.everything:
            marks = [mark for sentence in chosen for mark in rule.punctuation(sentence)]
            self.counted &= ~np.array(marks, dtype=bool)
        self._labelled = model.settings.labels != "none"

    def score(self, decoder: BlockDecoder) -> DevScores:
        answer = decoder(self.encoded)
        right = (answer.heads == self.heads)[self.counted]
        if not len(right):
            return DevScores(0.0, 0.0 if self._labelled else None)
        uas = 100.0 * float(right.mean())
        if not self._labelled:
            return DevScores(uas)
        same = (self._compared[answer.labels] == self._labels)[self.counted]
        return DevScores(uas, 100.0 * float((right & same).mean()))


def _numbers(names: list[str]) -> NDArray[np.int64]:
    """Equal names get equal numbers."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)
