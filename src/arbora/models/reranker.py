"""Reranking: the best of a first-order model's k best trees, under a model of larger parts.

The slides of Koo et al. (2007) name it as future work, after Hall (2007). The lists are exact, so
only trees that are not among the k best are lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.features import Encoded, Encoder
from arbora.inference.engines import FirstOrderEngine, TreeLists
from arbora.inference.tree_parts import list_parts
from arbora.options import FirstOrderOptions, GrandsiblingOptions, ParserOptions
from arbora.scores import Layout, PartKind, Scores
from arbora.scoring import Batch, LinearScorer
from arbora.types import FloatArray, IntArray

__all__ = ["Candidates", "Reranker", "best_places", "make_reranker"]

PARTS: tuple[PartKind, ...] = GrandsiblingOptions.automata


class Candidates(NamedTuple):
    """Lists of trees: sentence i has `counts[i]`, best first; heads are flat, tree after tree.

    `scores`, (trees,), are those of the first-order model. They are the log-probabilities of the
    trees but for a constant of the sentence, which changes no comparison within a list.
    """

    n_words: NDArray[np.int64]
    heads: IntArray
    counts: NDArray[np.int64]
    scores: FloatArray

    @classmethod
    def best(cls, engine: FirstOrderEngine, scores: Scores, k: int) -> Candidates:
        """The k best trees under first-order scores."""
        lists: TreeLists = engine.kbest(scores, k)
        return cls(scores.n_words, lists.heads, lists.counts, engine.tree_scores(scores, lists))

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """The lists of some sentences, then those of others."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    @property
    def layout(self) -> Layout:
        """The cells of the trees' arcs."""
        return Layout(self.n_words, self.counts)

    @property
    def first_tree(self) -> NDArray[np.int64]:
        """The place of each list's first tree."""
        return np.cumsum(self.counts) - self.counts

    def heads_at(self, trees: NDArray[np.int64]) -> IntArray:
        """The heads of the trees at some places, flat."""
        layout = self.layout
        first, sizes = layout.first_word[trees], layout.n_words[trees]
        runs = [self.heads[a : a + n] for a, n in zip(first.tolist(), sizes.tolist(), strict=True)]
        return np.concatenate(runs) if runs else self.heads[:0]

    def split(self) -> list[Candidates]:
        """The list of every sentence by itself."""
        words = np.cumsum(self.n_words * self.counts)[:-1]
        trees = np.cumsum(self.counts)[:-1]
        each = np.arange(1, len(self.counts))
        pieces = (
            np.split(self.n_words, each), np.split(self.heads, words), np.split(self.counts, each),
            np.split(self.scores, trees),
        )  # fmt: skip
        return [Candidates(*columns) for columns in zip(*pieces, strict=True)]


@dataclass(frozen=True)
class Reranker:
    """Scores whole trees: their arcs and parts, plus `base_weight` times the first-order score.

    Parts are consecutive siblings, grandparents and grandsiblings, over the arcs of the candidates.
    """

    scorer: LinearScorer
    candidates: int
    base_weight: float = 1.0

    def batch(
        self, encoded: Encoded, sentences: NDArray[np.int64], candidates: Candidates
    ) -> Batch:
        """The sentences with a mask of the arcs that some candidate has."""
        layout = candidates.layout
        kept = np.zeros(layout.size, dtype=np.uint8)
        kept[layout.arcs(candidates.heads)] = 1
        return Batch(encoded, sentences, kept=kept)

    def tree_scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], candidates: Candidates
    ) -> FloatArray:
        """The score of every candidate, (trees,)."""
        scores, _ = self.scorer.scores(self.batch(encoded, sentences, candidates))
        return self.scores_with(scores, candidates)

    def scores_with(self, scores: Scores, candidates: Candidates) -> FloatArray:
        """The score of every candidate, given those of arcs and parts."""
        nothing = np.zeros(len(candidates.scores))
        _, values = list_parts(
            scores, candidates.heads, candidates.counts, nothing, self.scorer.threads
        )
        return values + self.base_weight * candidates.scores

    def on_threads(self, threads: int) -> Reranker:
        """The same with another number of threads."""
        return replace(self, scorer=self.scorer.on_threads(threads))

    def with_parameters(self, parameters: Mapping[str, NDArray[Any]]) -> Reranker:
        """The same with other parameters: `weights`, and `base_weight` as an array of one."""
        scorer = self.scorer.with_parameters({"weights": parameters["weights"]})
        return replace(self, scorer=scorer, base_weight=float(parameters["base_weight"][0]))


def best_places(candidates: Candidates, values: FloatArray) -> NDArray[np.int64]:
    """The place of each list's best tree by `values`; of equal ones, the first."""
    firsts = candidates.first_tree.tolist()
    ends = np.cumsum(candidates.counts).tolist()
    found = [a + int(values[a:b].argmax()) for a, b in zip(firsts, ends, strict=True)]
    return np.array(found, dtype=np.int64)


def make_reranker(options: ParserOptions, encoder: Encoder, threads: int = 1) -> Reranker | None:
    """The untrained reranker of the options, which chooses the first candidate; None for none."""
    order = options.order
    if not isinstance(order, FirstOrderOptions) or not order.rerank:
        return None
    scorer = LinearScorer(encoder.settings, options.bits, kinds=PARTS, threads=threads)
    scorer.weights = np.zeros(scorer.size, dtype=np.float32)
    return Reranker(scorer, order.rerank)
