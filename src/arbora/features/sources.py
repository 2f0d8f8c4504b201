"""The source of a sentence as a feature: every arc of a sentence is in the cluster of its source.

So that the features of arcs have weights for all sources together and for each alone, as Daumé III
(2007) suggests for domains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.data.treebank import sources_of
from arbora.errors import ArgumentError, ModelError
from arbora.features.edge_clusters import register_edge_clusters
from arbora.types import FloatArray

__all__ = ["SourceClusters"]


@register_edge_clusters
class SourceClusters:
    """Clusters of edges by the source of their sentence, from its comment `# arbora.source`.

    The last cluster is that of sentences without a source, or with one that was not in training: it
    is not trained, so these sentences have no feature of a source. `chosen` is the source of
    sentences without a comment.
    """

    kind: ClassVar[str] = "sources"

    def __init__(self, names: Sequence[str], chosen: str | None = None) -> None:
        self.names, self.chosen = tuple(names), chosen
        self._places = {name: place for place, name in enumerate(self.names)}
        if chosen is not None and chosen not in self._places:
            raise ArgumentError(
                f"the model has no source {chosen!r}: choose one of {', '.join(self.names)}."
            )

    @classmethod
    def of(cls, block: Block) -> SourceClusters | None:
        """The sources of a treebank; None if it has fewer than two."""
        found = sources_of(block, np.arange(len(block)))
        names = sorted({name for name in found if name is not None})
        return cls(names) if len(names) > 1 else None

    @property
    def n_clusters(self) -> int:
        """The number of sources, and one."""
        return len(self.names) + 1

    def choosing(self, name: str) -> SourceClusters:
        """The same for sentences of a source."""
        return SourceClusters(self.names, name)

    def shares(self, block: Block, sentences: NDArray[np.int64]) -> FloatArray:
        """1 for the source of the sentence, for all its edges, (cells, n_clusters)."""
        last = len(self.names)
        found = sources_of(block, sentences)
        places = [self._places.get(name or self.chosen or "", last) for name in found]
        cells = (np.asarray(block.n_words)[sentences] + 1) ** 2
        answer = np.zeros((int(cells.sum()), self.n_clusters))
        answer[np.arange(len(answer)), np.repeat(np.array(places, dtype=np.int64), cells)] = 1.0
        return answer

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The names."""
        return {"names": list(self.names)}, {}

    @classmethod
    def from_state(
        cls,
        description: dict[str, Any],
        arrays: Mapping[str, NDArray[Any]],  # noqa: ARG003  # there are none
    ) -> SourceClusters:
        """The clusters that `state` described."""
        names = description["names"]
        good = isinstance(names, list) and all(isinstance(one, str) and one for one in names)
        if not good or len(set(names)) != len(names):
            raise ModelError("the model's sources must be different names.")
        return cls(names)
