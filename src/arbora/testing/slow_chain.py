"""Linear chains by enumeration of all tag sequences: the slow twin of the tagger's core."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from arbora.types import FloatArray

__all__ = ["SlowChain"]


class SlowChain:
    """All sequences of a chain of few words and tags, with their scores.

    `emissions` is (words, tags); `transitions` is (tags + 1, tags + 1), where the last row is the
    start and the last column the end.
    """

    def __init__(self, emissions: FloatArray, transitions: FloatArray) -> None:
        words, tags = emissions.shape
        self.sequences = list(product(range(tags), repeat=words))
        self.shape = (words, tags)
        scores = []
        for sequence in self.sequences:
            path = [tags, *sequence, tags]
            score = sum(transitions[a, b] for a, b in pairwise(path))
            scores.append(score + sum(emissions[i, tag] for i, tag in enumerate(sequence)))
        self.scores = np.array(scores)

    @property
    def log_partition(self) -> float:
        """log of the sum of exp(score) over all sequences."""
        largest = self.scores.max()
        return float(largest + np.log(np.exp(self.scores - largest).sum()))

    @property
    def probabilities(self) -> FloatArray:
        """The probability of every sequence."""
        return np.exp(self.scores - self.log_partition)

    def marginals(self) -> FloatArray:
        """p(tag of word), (words, tags)."""
        answer = np.zeros(self.shape)
        for sequence, p in zip(self.sequences, self.probabilities, strict=True):
            for i, tag in enumerate(sequence):
                answer[i, tag] += p
        return answer

    def pairs(self) -> FloatArray:
        """Expected numbers of pairs of neighbouring tags, like the transitions."""
        tags = self.shape[1]
        answer = np.zeros((tags + 1, tags + 1))
        for sequence, p in zip(self.sequences, self.probabilities, strict=True):
            path = [tags, *sequence, tags]
            for a, b in pairwise(path):
                answer[a, b] += p
        return answer

    def best(self) -> tuple[float, tuple[int, ...]]:
        """The largest score and its sequence."""
        at = int(self.scores.argmax())
        return float(self.scores[at]), self.sequences[at]
