"""Components of a model around its scorer: pruners and labellers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from arbora.features import Encoded
from arbora.inference.engines import FirstOrderEngine
from arbora.inference.pruning import Pruning, likely_arcs
from arbora.scores import Scores
from arbora.scoring import Batch, LabellingScorer, LabelScorer, LinearScorer, softmax
from arbora.types import FloatArray, IntArray

__all__ = [
    "EveryArc",
    "FirstOrderPruner",
    "JointLabels",
    "LabelledArcs",
    "Labeller",
    "OwnLabels",
    "Pruner",
    "SoftmaxLabels",
    "StagedLabels",
    "Unlabelled",
    "with_root_labels",
]


class Pruner(Protocol):
    """Chooses the arcs of a batch that are scored."""

    def prune(self, batch: Batch) -> Batch:
        """The batch with a mask of the arcs to score (`Batch.kept`)."""
        ...

    def on_threads(self, threads: int) -> Pruner:
        """The same with another number of threads."""
        ...


@dataclass(frozen=True)
class EveryArc:
    """Keeps every arc."""

    def prune(self, batch: Batch) -> Batch:
        """The batch itself."""
        return batch

    def on_threads(self, threads: int) -> EveryArc:
        """The same, as it needs no threads."""
        return self


@dataclass(frozen=True)
class FirstOrderPruner:
    """A first-order model that keeps the probable arcs for a higher-order model.

    It also provides the probabilities if the higher-order model's inference has no sums.
    """

    scorer: LinearScorer
    engine: FirstOrderEngine
    threshold: float
    heads: int

    def prune(self, batch: Batch) -> Batch:
        """The batch with a mask of the probable arcs."""
        return replace(batch, kept=self.pruning(self.first_order(batch)).kept)

    def first_order(self, batch: Batch) -> Scores:
        """First-order scores of all arcs."""
        return self.scorer.scores(replace(batch, heads=batch.heads[:0]))[0]

    def pruning(self, scores: Scores) -> Pruning:
        """The arcs to keep, given first-order scores."""
        return likely_arcs(scores, self.engine, self.threshold, self.heads)

    def on_threads(self, threads: int) -> FirstOrderPruner:
        """The same with another number of threads."""
        engine = replace(self.engine, threads=threads)
        return replace(self, scorer=self.scorer.on_threads(threads), engine=engine)


class LabelledArcs(NamedTuple):
    """A label for each arc (-1 for none) and its probability given the arc."""

    labels: IntArray
    given_arc: FloatArray


class Labeller(Protocol):
    """Labels the arcs of trees."""

    def label(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        heads: IntArray,
        labels: IntArray | None,
        uniforms: FloatArray | None = None,
        *,
        probabilities: bool = True,
    ) -> LabelledArcs:
        """The best labels, or labels drawn with uniform numbers in [0, 1).

        `labels` are the labels that inference has chosen with the tree. Probabilities are computed
        only if they are asked for.
        """
        ...

    def given_tree(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray | None:
        """P(label | tree) of all labels, (words, labels); None if it chooses no labels."""
        ...

    def on_threads(self, threads: int) -> Labeller:
        """The same with another number of threads."""
        ...


class _WithoutTable:
    """What labellers have in common that choose no labels themselves."""

    def given_tree(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray | None:
        """None: there is no table of labels."""
        return None

    def on_threads(self, threads: int) -> Self:
        """The same, as it needs no threads."""
        return self


@dataclass(frozen=True)
class Unlabelled(_WithoutTable):
    """No labels."""

    def label(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray,
        labels: IntArray | None, uniforms: FloatArray | None = None, *, probabilities: bool = True,
    ) -> LabelledArcs:  # fmt: skip
        """No labels: -1 for every arc."""
        return LabelledArcs(np.full(len(heads), -1, dtype=np.int32), np.ones(len(heads)))


@dataclass(frozen=True)
class JointLabels(_WithoutTable):
    """Labels that inference chooses together with the tree."""

    def label(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray,
        labels: IntArray | None, uniforms: FloatArray | None = None, *, probabilities: bool = True,
    ) -> LabelledArcs:  # fmt: skip
        """The labels that inference has chosen."""
        assert labels is not None
        return LabelledArcs(labels, np.ones(len(heads)))


@dataclass(frozen=True)
class SoftmaxLabels(ABC):
    """Labels chosen after the tree, each by a softmax.

    `of_root` marks the labels that arcs from the root have, and other arcs have not.
    """

    scorer: Any
    of_root: NDArray[np.bool_] | None = None

    def label(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        heads: IntArray,
        labels: IntArray | None,
        uniforms: FloatArray | None = None,
        *,
        probabilities: bool = True,
    ) -> LabelledArcs:
        """The best label of every arc, or a sampled one."""
        scores = self._scores(encoded, sentences, heads)
        if uniforms is None and not probabilities:
            return LabelledArcs(scores.argmax(axis=1).astype(np.int32), np.empty(0))
        given = softmax(scores)
        chosen = scores.argmax(axis=1) if uniforms is None else _drawn(given, uniforms)
        return LabelledArcs(chosen.astype(np.int32), given[np.arange(len(chosen)), chosen])

    def given_tree(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray | None:
        """A softmax over the labels of each arc."""
        return softmax(self._scores(encoded, sentences, heads))

    def _scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray:
        """The scores of labels for each arc, -inf for those that it cannot have."""
        scores = self._all_scores(encoded, sentences, heads)
        if self.of_root is not None:
            scores[(heads == 0)[:, None] != self.of_root] = -np.inf
        return scores

    @abstractmethod
    def _all_scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray:
        """The scores of all labels for each arc."""


@dataclass(frozen=True)
class StagedLabels(SoftmaxLabels):
    """Labels by a linear scorer of its own, with the tree as context."""

    scorer: LabelScorer

    def _all_scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray:
        return self.scorer.scores(encoded, sentences, heads)

    def on_threads(self, threads: int) -> StagedLabels:
        """The same with another number of threads."""
        return replace(self, scorer=self.scorer.on_threads(threads))


@dataclass(frozen=True)
class OwnLabels(SoftmaxLabels):
    """Labels by the scorer of trees, which was trained for both."""

    scorer: LabellingScorer

    def _all_scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray:
        return self.scorer.label_scores(encoded, sentences, heads)

    def on_threads(self, threads: int) -> OwnLabels:
        """The same: `Model.on_threads` exchanges the scorer."""
        return self


def _drawn(given: FloatArray, uniforms: FloatArray) -> NDArray[np.int64]:
    """Labels sampled with uniform numbers, one per word."""
    below = np.cumsum(given, axis=1) <= uniforms[:, None]
    return np.asarray(np.minimum(below.sum(axis=1), given.shape[1] - 1))


def with_root_labels(scores: Scores, of_root: NDArray[np.bool_], known: IntArray | None) -> Scores:
    """The scores without labels of the root on other arcs, and the reverse.

    Words whose labels are known keep all of theirs.
    """
    arcs = scores.arcs.reshape(-1, scores.depth).copy()
    start = word = 0
    for n in scores.n_words.tolist():
        table = arcs[start : start + (n + 1) ** 2].reshape(n + 1, n + 1, -1)
        free = np.ones(n + 1, dtype=np.bool_)
        if known is not None:
            free[1:] = known[word : word + n] < 0
        table[0][np.ix_(free, ~of_root)] = -np.inf
        table[np.ix_(np.arange(1, n + 1), free, of_root)] = -np.inf
        start, word = start + (n + 1) ** 2, word + n
    return scores.with_values(arcs.reshape(-1))
