"""Clusters of edges from outside: q(z | x, edge) of another model.

Smith & Smith (2007, section 5.1) suggest them as features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block, Sentence
from arbora.errors import ArgumentError
from arbora.types import FloatArray

__all__ = [
    "EDGE_CLUSTERS",
    "EdgeClusterFunction",
    "EdgeClusters",
    "StoredEdgeClusters",
    "checked_shares",
    "register_edge_clusters",
]

_CLOSE_TO_ONE = 1e-6


class EdgeClusters(Protocol):
    """Clusters of edges that are known before the parser is trained.

    Each edge of a sentence belongs to each of `n_clusters` clusters with a share q(z | x, edge);
    the shares of an edge sum to 1.
    """

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        ...

    def shares(self, block: Block, sentences: NDArray[np.int64]) -> FloatArray:
        """The shares of all edges of some of a block's sentences, (cells, n_clusters).

        The cells are the (n+1) x (n+1) pairs `[head, modifier]` of each sentence in turn; column 0
        and the diagonal are never read.
        """
        ...


@runtime_checkable
class StoredEdgeClusters(EdgeClusters, Protocol):
    """Clusters of edges that model files can hold, by the name `kind`."""

    kind: ClassVar[str]

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The contents of a model file: a description for JSON, and arrays."""
        ...

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The clusters that `state` described."""
        ...


# Clusters that model files can name. Loading runs no code from a file.
EDGE_CLUSTERS: dict[str, type[StoredEdgeClusters]] = {}


def register_edge_clusters(clusters: type[StoredEdgeClusters]) -> type[StoredEdgeClusters]:
    """Adds a class of clusters to the table; usable as a decorator."""
    EDGE_CLUSTERS[clusters.kind] = clusters
    return clusters


class EdgeClusterFunction:
    """Clusters from a function of a sentence, which returns shares (n+1, n+1, n_clusters).

    Models with them cannot be saved, since a model file holds no code.
    """

    def __init__(self, function: Callable[[Sentence], FloatArray], n_clusters: int) -> None:
        self.function, self.n_clusters = function, n_clusters

    def shares(self, block: Block, sentences: NDArray[np.int64]) -> FloatArray:
        """The shares of all edges of some of a block's sentences, (cells, n_clusters)."""
        ends, rows = np.cumsum(block.n_words), [np.zeros((0, self.n_clusters))]
        for i in sentences.tolist():
            side = block.words(i) + 1
            sentence = Sentence(block, i, block.heads[ends[i] - side + 1 : ends[i]])
            part = np.asarray(self.function(sentence), dtype=np.float64)
            if part.shape != (side, side, self.n_clusters):
                raise ArgumentError(
                    f"the shares of a sentence of {side - 1} words must have the shape "
                    f"({side}, {side}, {self.n_clusters}), not {part.shape}."
                )
            rows.append(part.reshape(-1, self.n_clusters))
        return np.concatenate(rows)


def checked_shares(
    clusters: EdgeClusters, block: Block, sentences: NDArray[np.int64], scored: NDArray[np.bool_]
) -> FloatArray:
    """The shares of the edges that are scored, 0 for all others; raises unless they sum to 1."""
    shares = np.asarray(clusters.shares(block, sentences), dtype=np.float64)
    if shares.shape != (len(scored), clusters.n_clusters):
        raise ArgumentError(
            f"the edge clusters gave shares of the shape {shares.shape} instead of "
            f"({len(scored)}, {clusters.n_clusters})."
        )
    shares = np.where(scored[:, None], shares, 0.0)
    sums = shares.sum(axis=1)
    wrong = (np.abs(sums - scored) > _CLOSE_TO_ONE) | (shares < 0.0).any(axis=1) | np.isnan(sums)
    if wrong.any():
        raise ArgumentError(
            f"the shares of an edge must be at least 0 and sum to 1, not "
            f"{sums[wrong][0]:.6g}: check the edge clusters."
        )
    return shares
