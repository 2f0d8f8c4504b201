"""Linear scores with features of edge clusters from outside."""

from __future__ import annotations

from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.features import EdgeClusters, FeatureSettings, WordClusters, checked_shares
from arbora.scores import Scores
from arbora.scoring.batch import Batch
from arbora.scoring.linear import Feature, Gradient, LinearScorer
from arbora.scoring.scorer import Pullback
from arbora.types import FloatArray

__all__ = ["SoftClusterScorer"]


class SoftClusterScorer(LinearScorer):
    """Linear scores of arcs, plus the sum over z of q(z | x, arc) times w_z . f(x, arc).

    q comes from an outside model and is not learnt; the posterior of each cluster is a feature,
    alone and with tags, words, direction and distance (Smith & Smith 2007, section 5.1).
    """

    kind: ClassVar[str] = "soft-clusters"

    def __init__(
        self,
        settings: FeatureSettings,
        bits: int,
        edge_clusters: EdgeClusters,
        *,
        row_bits: int,
        arc_filter: NDArray[np.uint16] | None = None,
        threads: int = 1,
    ) -> None:
        super().__init__(
            settings, bits, outcomes="soft", row_bits=row_bits, width=edge_clusters.n_clusters,
            arc_filter=arc_filter, threads=threads,
        )  # fmt: skip
        self.edge_clusters = edge_clusters

    def with_edge_clusters(self, edge_clusters: EdgeClusters) -> SoftClusterScorer:
        """The same weights with as many other clusters."""
        other = copy(self)
        other.edge_clusters = edge_clusters
        return other

    @property
    def n_labels(self) -> None:
        """None: the scores are those of plain arcs."""
        return

    def scores(self, batch: Batch) -> tuple[Scores, Pullback]:
        """Scores of a batch; arcs that training may need are never filtered."""
        # Weights of arcs are part of every cluster's score; since shares sum to 1, they count once.
        of_clusters = self._numbers(batch).reshape(-1, self.width)
        scored = of_clusters[:, 0] > -np.inf
        shares = self._shares(batch, scored)
        arcs = np.full(len(scored), -np.inf)
        arcs[scored] = np.einsum("az,az->a", of_clusters[scored], shares[scored])

        def pullback(d_scores: Scores) -> Gradient:
            return self._expanded(batch, (shares * d_scores.arcs[:, None]).reshape(-1))

        return Scores(arcs, batch.n_words), pullback

    def inner_products(self, batch: Batch, d_scores: FloatArray, count: int = 1) -> FloatArray:
        """Inner products of the gradients of `count` vectors per sentence, (sentences, k, k)."""
        cells = (batch.n_words + 1) ** 2
        shares = self._shares(batch, _are_arcs(batch.n_words))
        pieces, start, first = [], 0, 0
        for size in cells.tolist():
            own = d_scores[start : start + size * count].reshape(count, size, 1)
            pieces.append((own * shares[first : first + size]).reshape(-1))
            start, first = start + size * count, first + size
        return super().inner_products(batch, np.concatenate(pieces), count)

    def _shares(self, batch: Batch, scored: NDArray[np.bool_]) -> FloatArray:
        places = batch.encoded.places[batch.sentences]
        return checked_shares(self.edge_clusters, batch.encoded.block, places, scored)

    def explain_arc(
        self,
        block: Block,
        clusters: WordClusters | None,
        head: int,
        modifier: int,
        outcome: int = 0,  # noqa: ARG002  # plain arcs have no outcomes
    ) -> list[Feature]:
        """Every feature of the score of an arc of a block's first sentence.

        Features of a cluster have its number as their last atom and are multiplied by its share.
        """
        side = block.words(0) + 1
        shares = self.edge_clusters.shares(block, np.array([0])).reshape(side, side, -1)
        found: list[Feature] = []
        for z, share in enumerate(shares[head, modifier].tolist()):
            features = super().explain_arc(block, clusters, head, modifier, z)
            found += [one for one in features if z == 0 and not one[3]]
            found += [
                (name, [*atoms, f"cluster {z + 1}"], variant, False, share * value)
                for name, atoms, variant, of_cluster, value in features
                if of_cluster and share > 0.0
            ]
        return found


def _are_arcs(n_words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which cells of some sentences are arcs: not column 0, not the diagonal."""
    masks = [np.ones((n + 1, n + 1), dtype=np.bool_) for n in n_words.tolist()]
    for mask in masks:
        mask[:, 0] = False
        np.fill_diagonal(mask, False)
    return np.concatenate([mask.reshape(-1) for mask in masks])
