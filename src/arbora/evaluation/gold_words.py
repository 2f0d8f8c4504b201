"""Gold trees as flat arrays, to score many parses of the same sentences quickly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arbora.data import Sentence
from arbora.evaluation.counts import percent
from arbora.evaluation.rules import rule_for
from arbora.types import IntArray

__all__ = ["GoldWords"]


class GoldWords:
    """The words of gold sentences, and which of them the rule of their format counts.

    `label_names` are the labels by the indices that parses use.
    """

    def __init__(self, sentences: Sequence[Sentence], label_names: Sequence[str]) -> None:
        rule = rule_for(None, sentences[0].format)
        self.rule = rule.name
        self.heads: IntArray = np.concatenate([sentence.heads for sentence in sentences])
        compared = [rule.label(name) for name in label_names]
        numbers: dict[str, int] = {}
        self._compared = np.array([numbers.setdefault(name, len(numbers)) for name in compared])
        self._labels = np.array(
            [numbers.get(rule.label(name), -1) for one in sentences for name in one.labels]
        )
        self.counted: NDArray[np.bool_] = self.heads >= 0
        if not rule.everything:
            marks = [mark for sentence in sentences for mark in rule.punctuation(sentence)]
            self.counted &= ~np.array(marks, dtype=bool)

    def uas(self, heads: IntArray) -> float:
        """The percentage of counted words with the right head; 0 if none counts."""
        right = (heads == self.heads)[self.counted]
        return percent(int(right.sum()), len(right)) or 0.0

    def las(self, heads: IntArray, labels: IntArray) -> float:
        """The percentage of counted words with the right head and label; 0 if none counts."""
        right = (heads == self.heads) & (self._compared[labels] == self._labels)
        counted = right[self.counted]
        return percent(int(counted.sum()), len(counted)) or 0.0
