"""The clusters of a trained model with hidden clusters: p(z | x, edge)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.errors import ArgumentError, ModelError
from arbora.features import no_arc_filter, register_edge_clusters
from arbora.models.model import Model
from arbora.models.model_file import from_bytes, to_bytes
from arbora.scoring import Batch, LinearScorer, softmax
from arbora.types import FloatArray

__all__ = ["HiddenClusters"]


@register_edge_clusters
class HiddenClusters:
    """The posteriors p(z | x, edge) of a model that was trained with `clusters`.

    They do not depend on the tree, since the cluster of each edge is independent of the others
    (Smith & Smith 2007, section 5.1). As `edge_clusters`, they are features of another model, which
    keeps a copy of this one in its file.
    """

    kind: ClassVar[str] = "hidden-clusters"

    def __init__(self, model: Model) -> None:
        if not model.n_clusters:
            raise ArgumentError("this model has no hidden clusters: train it with clusters.")
        assert isinstance(model.scorer, LinearScorer)
        self.model = model
        # The posteriors are also known for arcs that the model's filter drops.
        self._scorer = model.scorer.with_filter(no_arc_filter())

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self.model.n_clusters

    def shares(self, block: Block, sentences: NDArray[np.int64]) -> FloatArray:
        """The posteriors of all edges of some of a block's sentences, (cells, n_clusters).

        Column 0 and the diagonal, where there are no edges, are 0.
        """
        encoded = self.model.encoder.encode(block, sentences)
        scores, _ = self._scorer.scores(Batch(encoded, np.arange(len(sentences))))
        table = scores.arcs.reshape(-1, self.n_clusters)
        edges = table[:, 0] > -np.inf
        answer = np.zeros_like(table)
        answer[edges] = softmax(table[edges])
        return answer

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The contents of a model file: the other model's file."""
        contents = np.frombuffer(to_bytes(self.model), dtype=np.uint8)
        return {"n_clusters": self.n_clusters}, {"model": contents}

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The clusters that `state` described."""
        found = cls(from_bytes(arrays["model"].tobytes()))
        if found.n_clusters != description["n_clusters"]:
            raise ModelError("the model's edge clusters do not fit its description.")
        return found
