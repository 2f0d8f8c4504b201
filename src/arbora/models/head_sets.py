"""Sets of heads that contain the right one with a stated probability: split conformal prediction.

The score of a word is the probability of its right head. Calibration sorts the scores of words that
training has not seen. If k of n scores are at most the threshold, a new word's score is below it
with probability k / (n + 1), so all heads with at least that probability contain the right one in
a share 1 - k / (n + 1) of the words. Groups have thresholds of their own (Mondrian prediction).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError, ModelError
from arbora.options import HeadSetGroups, ParseOptions, spelled
from arbora.types import FloatArray, IntArray

__all__ = [
    "CARD",
    "HeadSetLevel",
    "HeadSets",
    "asked_level",
    "distance_groups",
    "heads_within",
    "places_of",
]

CARD = "head_sets"  # the name of the entry in a model's card

# The shares of misses whose thresholds are stored: fine where sets are asked for, coarse elsewhere.
_MISSES = (*(k / 1000 for k in range(1, 50)), *(k / 200 for k in range(10, 101)))
_FEWEST = 100  # words; smaller groups share one threshold
_REST = ""  # the name of the group of all smaller ones
_DISTANCES = (1, 2, 3, 7, 11)
_DISTANCE_NAMES = ("root", "1", "2", "3-6", "7-10", "11+")


def distance_groups(heads: IntArray, words: NDArray[np.int64]) -> list[str]:
    """The group of each word by the distance to its head in the tree; words count from 1."""
    distances = np.where(heads > 0, np.abs(words - heads), 0)
    places = np.searchsorted(_DISTANCES, distances, side="right")
    return [_DISTANCE_NAMES[place] for place in places.tolist()]


@dataclass(frozen=True)
class HeadSets:
    """The thresholds of a calibrated model, for all words and by group.

    Each list has a threshold for every share of misses in a fixed grid. `groups` has a table by
    label and one by distance of the predicted arc. `words` and `sentences` are the numbers of
    those that it was calibrated on, `own_tags` tells whether their tags were the model's.
    """

    words: int
    sentences: int
    own_tags: bool
    everything: tuple[float, ...]
    groups: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)

    @classmethod
    def calibrated(
        cls,
        scores: FloatArray,
        groups: Mapping[str, list[str]],
        sentences: int,
        own_tags: bool,
    ) -> HeadSets:
        """From the probabilities of right heads, and the groups of the words."""
        tables = {by: _tables(scores, names) for by, names in groups.items()}
        return cls(len(scores), sentences, own_tags, _thresholds(scores), tables)

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> HeadSets | None:
        """Those of a model's card, checked; None if it has none."""
        entry = card.get(CARD)
        if entry is None:
            return None
        try:
            words, sentences = entry["words"], entry["sentences"]
            groups = {
                by: {str(name): _checked(values) for name, values in entry[by].items()}
                for by in ("label", "distance")
            }
            if not all(type(count) is int and count > 0 for count in (words, sentences)):
                raise ValueError
            own_tags = entry["own_tags"] is True
            return cls(words, sentences, own_tags, _checked(entry["all"]), groups)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ModelError(f"the model's card has no valid thresholds in {CARD}.") from None

    def to_card(self) -> dict[str, Any]:
        """The entry of the card."""
        groups = {
            by: {name: list(values) for name, values in table.items()}
            for by, table in self.groups.items()
        }
        return {
            "words": self.words, "sentences": self.sentences, "own_tags": self.own_tags,
            "all": list(self.everything), **groups,
        }  # fmt: skip

    def at(self, level: float, by: HeadSetGroups = "all") -> HeadSetLevel:
        """The thresholds for sets that contain the right head with this probability.

        A level between two of the grid is rounded up.
        """
        place = int(np.searchsorted(_MISSES, 1.0 - level + 1e-9, side="right")) - 1
        if place < 0:
            raise ArgumentError(
                f"{spelled('head_sets')} must be at most {1 - _MISSES[0]:g}, not {level:g}."
            )
        table = {} if by == "all" else self.groups[by]
        own = {name: values[place] for name, values in table.items()}
        return HeadSetLevel(by, own.pop(_REST, self.everything[place]), own)


@dataclass(frozen=True)
class HeadSetLevel:
    """The least probability of a head in its word's set, by group and for all other words."""

    by: HeadSetGroups
    other: float
    of_group: Mapping[str, float]

    def thresholds(
        self, heads: IntArray, n_words: NDArray[np.int64], labels: list[str]
    ) -> FloatArray:
        """The threshold of each word, given the predicted heads and labels."""
        if self.by == "all":
            return np.full(len(heads), self.other)
        groups = labels if self.by == "label" else distance_groups(heads, places_of(n_words))
        return np.array([self.of_group.get(group, self.other) for group in groups])


def asked_level(found: HeadSets | None, options: ParseOptions, *, same_trees: bool) -> HeadSetLevel:
    """The thresholds that a call of `parse` asks for; raises an error if the model has none."""
    if found is None:
        raise ArgumentError(
            f"{spelled('head_sets')} requires a calibrated model: calibrate this one on "
            "annotated sentences that it was not trained on (arbora calibrate MODEL TREEBANK), "
            "or train one with calibration_share (--calibration-share)."
        )
    if not same_trees:
        raise ArgumentError(
            f"{spelled('head_sets')} requires the class of trees that the model was calibrated "
            f"with: leave out {spelled('trees')}."
        )
    assert options.head_sets is not None
    return found.at(options.head_sets, options.head_sets_by)


def places_of(n_words: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each word in its sentence, from 1, flat."""
    first = np.repeat(np.cumsum(n_words) - n_words, n_words)
    return np.arange(len(first)) - first + 1


def heads_within(
    marginals: FloatArray, n_words: NDArray[np.int64], thresholds: FloatArray
) -> tuple[IntArray, IntArray]:
    """The heads of each word with at least a probability, likeliest first, and their numbers.

    No set is empty: the likeliest head is always in it. A threshold of 0 lets in every head, also
    those that the model excludes. `marginals` are flat, (n+1)^2 numbers per sentence, and so is the
    first answer.
    """
    heads, sizes = [], []
    cell = word = 0
    for n in n_words.tolist():
        table = marginals[cell : cell + (n + 1) ** 2].reshape(n + 1, n + 1)[:, 1:]
        inside = table >= thresholds[word : word + n]
        inside[table.argmax(axis=0), np.arange(n)] = True
        inside[np.arange(1, n + 1), np.arange(n)] = False  # a word is not its own head
        order = np.argsort(-np.where(inside, table, -1.0), axis=0, kind="stable")
        counts = inside.sum(axis=0)
        ranks = np.arange(n + 1)[:, None] < counts
        heads.append(order.T[ranks.T].astype(np.int32))
        sizes.append(counts.astype(np.int32))
        cell, word = cell + (n + 1) ** 2, word + n
    return np.concatenate(heads), np.concatenate(sizes)


def _tables(scores: FloatArray, names: list[str]) -> dict[str, tuple[float, ...]]:
    """The thresholds of every group that has enough words, and of all others together."""
    found = np.array(names)
    kinds, counts = np.unique(found, return_counts=True)
    large = kinds[counts >= _FEWEST]
    tables = {str(kind): _thresholds(scores[found == kind]) for kind in large}
    rest = scores[~np.isin(found, large)]
    if len(rest) >= _FEWEST:
        tables[_REST] = _thresholds(rest)
    return tables


def _thresholds(scores: FloatArray) -> tuple[float, ...]:
    """For every share of misses, the k-th lowest score with k / (n + 1) at most that share."""
    ordered = np.sort(scores)
    answers = []
    for miss in _MISSES:
        k = math.floor(miss * (len(ordered) + 1) + 1e-9)
        answers.append(_rounded_down(float(ordered[k - 1])) if k else 0.0)
    return tuple(answers)


def _rounded_down(value: float) -> float:
    """Four digits; a lower threshold only makes sets larger."""
    if value <= 1e-12:
        return 0.0
    digit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return float(f"{math.floor(value / digit) * digit:.4g}")


def _checked(values: Any) -> tuple[float, ...]:
    numbers = tuple(float(value) for value in values)
    rising = all(low <= high for low, high in pairwise(numbers))
    if len(numbers) != len(_MISSES) or not rising or not 0.0 <= numbers[0] <= numbers[-1] <= 1.0:
        raise ValueError
    return numbers
