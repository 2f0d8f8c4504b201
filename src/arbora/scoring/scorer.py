"""The interface between scorers, learners and inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from arbora.features import Encoded, FeatureSettings
from arbora.scores import PartKind, Scores
from arbora.scoring.batch import Batch
from arbora.types import FloatArray, IntArray

__all__ = [
    "SCORERS",
    "InnerProducts",
    "LabellingScorer",
    "Parameters",
    "Pullback",
    "Scorer",
    "Threaded",
    "register_scorer",
]

Parameters = dict[str, NDArray[Any]]
# From d loss / d scores to the gradient of the parameters: arrays by the parameters' names, or
# the type that the scorer's own update rules take.
Pullback: TypeAlias = Callable[[Scores], Any]


@runtime_checkable
class Scorer(Protocol):
    """Scores arcs and parts of sentences; its parameters can be learnt.

    `kind` is its name in model files, `kinds` are the kinds of parts that it scores besides arcs.
    `n_labels` is the number of labels or hidden clusters of an arc, None for plain arcs.
    """

    kind: ClassVar[str]

    @property
    def kinds(self) -> tuple[PartKind, ...]:
        """The kinds of parts that are scored besides arcs."""
        ...

    @property
    def n_labels(self) -> int | None:
        """Number of labels or hidden clusters per arc, None for plain arcs."""
        ...

    def scores(self, batch: Batch) -> tuple[Scores, Pullback]:
        """The scores of a batch, and their pullback.

        The pullback takes the gradient of a loss by the scores (a `Scores` of the same shape) and
        returns the gradient by the parameters: arrays by the names that `parameters` gives.
        """
        ...

    def parameters(self) -> Parameters:
        """The learnt arrays by name, not copies: update rules change them in place."""
        ...

    def with_parameters(self, parameters: Mapping[str, NDArray[Any]]) -> Self:
        """The same scorer with other parameters, for instance rounded ones."""
        ...

    def state(self) -> tuple[dict[str, Any], Parameters]:
        """The contents of a model file: a description for JSON, and arrays."""
        ...

    @classmethod
    def from_state(
        cls,
        description: dict[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        features: FeatureSettings,
    ) -> Self:
        """The scorer that `state` described; `features` are those of the model's encoder."""
        ...


@runtime_checkable
class LabellingScorer(Scorer, Protocol):
    """Scorers that also label trees, with parameters that trees and labels share.

    The pullback of an annotated batch adds the gradient of the labels' loss.
    """

    def label_scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray:
        """Scores of the labels of given trees' arcs, (words, labels)."""
        ...


@runtime_checkable
class Threaded(Protocol):
    """Scorers that use several threads."""

    def on_threads(self, threads: int) -> Any:
        """The same scorer on `threads` threads."""
        ...


@runtime_checkable
class InnerProducts(Protocol):
    """Linear scorers, whose gradients MIRA compares: inner products of feature differences."""

    def inner_products(self, batch: Batch, d_scores: FloatArray, count: int = 1) -> FloatArray:
        """Inner products of the feature vectors of `count` differences per sentence."""
        ...

    def squared_norms(self, batch: Batch, d_scores: Scores) -> FloatArray:
        """Squared norm of the feature vector of each sentence's difference."""
        ...


# Scorers that model files can name. Loading runs no code from a file: a user-defined scorer must be
# in this table before its models are loaded.
SCORERS: dict[str, type[Scorer]] = {}


def register_scorer(scorer: type[Scorer]) -> type[Scorer]:
    """Adds a scorer to the table; usable as a decorator."""
    SCORERS[scorer.kind] = scorer
    return scorer


def as_float32(parameters: Mapping[str, NDArray[Any]]) -> Parameters:
    """Parameters rounded as in model files."""
    return {name: np.asarray(values, dtype=np.float32) for name, values in parameters.items()}
