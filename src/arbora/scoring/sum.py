"""A weighted sum of scorers: their distributions over trees multiply (Hinton 2002)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.features import Encoded, Encoder, FeatureSettings
from arbora.scores import PartKind, Scores
from arbora.scoring.batch import Batch
from arbora.scoring.labels import LabelScorer
from arbora.scoring.scorer import LabellingScorer, Parameters, Pullback, Scorer, Threaded
from arbora.types import FloatArray, IntArray

__all__ = ["Expert", "SumScorer"]


@dataclass(frozen=True, eq=False)
class Expert:
    """A scorer of a sum: what it scores is multiplied by `weight`.

    Its labels come from `labels`, or from itself if it has its own. `encoder` is its own where it
    differs from the model's. `label_places` has, for each label of the model, its place among the
    expert's, if the order differs.
    """

    scorer: Scorer
    weight: float
    labels: LabelScorer | None = None
    encoder: Encoder | None = None
    label_places: NDArray[np.int64] | None = None

    def encoded(self, encoded: Encoded) -> Encoded:
        """The sentences as this expert reads them; they are encoded once."""
        if self.encoder is None:
            return encoded
        found: Encoded | None = encoded.derived.get(self)
        if found is None:
            found = self.encoder.encode(encoded.block, encoded.places)
            encoded.derived[self] = found
        return found

    def scores(self, batch: Batch) -> Scores:
        """The scores of a batch, times the weight."""
        own = replace(batch, encoded=self.encoded(batch.encoded))
        scores = self.scorer.scores(own)[0].scaled(self.weight)
        if self.label_places is None or scores.n_labels is None:
            return scores
        table = scores.arcs.reshape(-1, scores.n_labels)[:, self.label_places]
        return scores.with_values(np.ascontiguousarray(table).reshape(-1))

    def label_scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray:
        """Log-probabilities of labels, times the weight."""
        own = self.encoded(encoded)
        if self.labels is not None:
            scores = self.labels.scores(own, sentences, heads)
        else:
            assert isinstance(self.scorer, LabellingScorer)
            scores = self.scorer.label_scores(own, sentences, heads)
        top = scores.max(axis=1, keepdims=True)
        sums = top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
        scores = self.weight * (scores - sums)
        return np.asarray(scores if self.label_places is None else scores[:, self.label_places])


class SumScorer:
    """Adds the scores of experts that were trained one by one."""

    kind: ClassVar[str] = "sum"

    def __init__(self, experts: Sequence[Expert]) -> None:
        self.experts = tuple(experts)

    @property
    def kinds(self) -> tuple[PartKind, ...]:
        """The kinds of parts that are scored besides arcs."""
        return self.experts[0].scorer.kinds

    @property
    def n_labels(self) -> int | None:
        """Number of labels per arc, None for plain arcs."""
        return self.experts[0].scorer.n_labels

    def scores(self, batch: Batch) -> tuple[Scores, Pullback]:
        """The sums of the experts' scores; a sum has no pullback."""
        first, *others = self.experts
        total = first.scores(batch)
        for expert in others:
            total = total + expert.scores(batch)
        return total, _refuse

    def label_scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray:
        """The sums of the experts' log-probabilities of labels, (words, labels)."""
        found = [one.label_scores(encoded, sentences, heads) for one in self.experts]
        return np.asarray(np.sum(found, axis=0))

    def with_weights(self, weights: Sequence[float]) -> Self:
        """The same experts with other weights."""
        other = copy(self)
        other.experts = tuple(
            replace(one, weight=weight) for one, weight in zip(self.experts, weights, strict=True)
        )
        return other

    def on_threads(self, threads: int) -> Self:
        """The same experts on another number of threads."""
        other, experts = copy(self), []
        for one in self.experts:
            scorer = one.scorer
            if isinstance(scorer, Threaded):
                scorer = scorer.on_threads(threads)
            labels = None if one.labels is None else one.labels.on_threads(threads)
            experts.append(replace(one, scorer=scorer, labels=labels))
        other.experts = tuple(experts)
        return other

    def parameters(self) -> Parameters:
        """The arrays of all experts; names begin with the number of the expert."""
        return {
            f"{number}.{name}": values
            for number, one in enumerate(self.experts)
            for name, values in one.scorer.parameters().items()
        }

    def with_parameters(self, parameters: Mapping[str, NDArray[Any]]) -> Self:
        """The same experts with other parameters."""
        other, experts = copy(self), []
        for number, one in enumerate(self.experts):
            prefix = f"{number}."
            own = {
                name.removeprefix(prefix): values
                for name, values in parameters.items()
                if name.startswith(prefix)
            }
            experts.append(replace(one, scorer=one.scorer.with_parameters(own)))
        other.experts = tuple(experts)
        return other

    def state(self) -> tuple[dict[str, Any], Parameters]:
        """Descriptions and arrays of the experts; arrays begin with the expert's number."""
        described, arrays = [], dict[str, NDArray[Any]]()
        for number, one in enumerate(self.experts):
            own, values = one.scorer.state()
            described.append({"kind": one.scorer.kind, "weight": one.weight, **own})
            arrays |= {f"{number}.{name}": value for name, value in values.items()}
        return {"experts": described}, arrays

    @classmethod
    def from_state(
        cls,
        description: dict[str, Any],  # noqa: ARG003  # of the interface
        arrays: Mapping[str, NDArray[Any]],  # noqa: ARG003  # likewise
        features: FeatureSettings,  # noqa: ARG003  # likewise
    ) -> NoReturn:
        """Not possible alone: the options of a model describe its linear expert."""
        raise ArgumentError("a sum of scorers is read with its model: use arbora.load.")


def _refuse(d_scores: Scores) -> NoReturn:  # noqa: ARG001  # of the interface
    raise ArgumentError("the scorers of a sum are trained one by one, before they are added.")
