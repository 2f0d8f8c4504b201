"""What an annotation is expected to be worth, by several measures of doubt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.annotation.doubt import Doubt
from arbora.errors import ArgumentError
from arbora.types import FloatArray

__all__ = ["MEASURES", "Gains", "Measure", "gains_of", "measure_named"]

Measure = Literal["errors", "margin", "entropy", "disagreement", "random"]

_TIE = 1e-3  # weight of expected errors among words that MAP and MBR trees do not decide between


class Gains(NamedTuple):
    """The expected gain of annotating each word (flat), and that of each whole sentence."""

    words: FloatArray
    sentences: FloatArray


class Asked(NamedTuple):
    """What a measure is computed from."""

    doubt: Doubt
    unknown: NDArray[np.bool_]  # the words without a head
    n_words: NDArray[np.int64]
    first_sentence: int
    seed: int

    def sums(self, of_words: FloatArray) -> FloatArray:
        """Sums over the words of each sentence."""
        return np.add.reduceat(of_words, np.cumsum(self.n_words) - self.n_words)


def _entropy(asked: Asked) -> Gains:
    """The entropy of a word's head, and that of the tree."""
    return Gains(asked.doubt.head_entropies, asked.doubt.tree_entropies)


def _errors(asked: Asked) -> Gains:
    """The expected number of wrong arcs, 1 - P(arc) of a word."""
    words = np.where(asked.unknown, 1.0 - asked.doubt.probabilities, 0.0)
    return Gains(words, asked.sums(words))


def _margin(asked: Asked) -> Gains:
    """How near the second most probable head comes, 1 - (P(proposed arc) - P(next)).

    A word between two heads is worth more than one between many, of which each is improbable.
    """
    doubt = asked.doubt
    words = 1.0 - (doubt.probabilities - doubt.runner_up_probabilities)
    words = np.where(asked.unknown, words, 0.0)
    return Gains(words, asked.sums(words))


def _disagreement(asked: Asked) -> Gains:
    """The number of words whose MAP and MBR heads differ; ties are decided by expected errors."""
    words = asked.doubt.differs + _TIE * (1.0 - asked.doubt.probabilities)
    words = np.where(asked.unknown, words, 0.0)
    return Gains(words, asked.sums(words))


def _random(asked: Asked) -> Gains:
    """Numbers that depend on the seed, the sentence's place in the pool, and the word."""
    words, values = [], []
    for i, n in enumerate(asked.n_words.tolist()):
        drawn = np.random.default_rng([asked.seed, asked.first_sentence + i]).random(n + 1)
        values.append(drawn[0])
        words.append(drawn[1:])
    cost = asked.sums(asked.unknown.astype(np.float64))
    return Gains(np.concatenate(words), np.array(values) * cost)  # per word, any length is as good


MEASURES: dict[str, Callable[[Asked], Gains]] = {
    "errors": _errors,
    "margin": _margin,
    "entropy": _entropy,
    "disagreement": _disagreement,
    "random": _random,
}


def measure_named(name: str) -> Callable[[Asked], Gains]:
    """The measure with this name."""
    if name not in MEASURES:
        raise ArgumentError(
            f"there is no measure {name!r} of what to annotate: choose one of "
            f"{', '.join(MEASURES)}."
        )
    return MEASURES[name]


def gains_of(
    by: str,
    doubt: Doubt,
    unknown: NDArray[np.bool_],
    n_words: NDArray[np.int64],
    first_sentence: int = 0,
    seed: int = 0,
) -> Gains:
    """The gains of all words and sentences of a block; those of known words do not count."""
    return measure_named(by)(Asked(doubt, unknown, n_words, first_sentence, seed))
