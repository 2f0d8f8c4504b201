"""Annotated sentences, ready to learn from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.features import Encoded, FeatureSettings, WordClusters
from arbora.scores import Layout
from arbora.losses import Gold
from arbora.types import IntArray

__all__ = ["Batch", "Treebank"]


@dataclass(frozen=True)
class Treebank:
    """Sentences of a block with heads and label numbers; -1 is unknown.

    Heads and labels are flat, one sentence after the other, and may differ from the block's: they
    are what is learnt.
    """

    encoded: Encoded
    heads: IntArray
    labels: IntArray

    @classmethod
    def from_block(
        cls,
        block: Block,
        settings: FeatureSettings,
        label_names: list[str],
        clusters: WordClusters | None = None,
        sentences: NDArray[np.int64] | None = None,
    ) -> Treebank:
        """All sentences of a block, or the given ones."""
        whole = cls(
            Encoded(block, settings, clusters, sentences), np.array(block.heads),
            block.label_ids(label_names),
        )  # fmt: skip
        if sentences is None:
            return whole
        counts = block.n_words
        words = _runs((np.cumsum(counts) - counts)[sentences], counts[sentences])
        return cls(whole.encoded, whole.heads[words], whole.labels[words])

    @cached_property
    def first_word(self) -> NDArray[np.int64]:
        """Where each sentence's words begin, and the end."""
        return np.concatenate([[0], np.cumsum(self.encoded.n_words)])

    def __len__(self) -> int:
        return len(self.encoded)

    def words(self, sentences: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of the chosen sentences' words in flat arrays."""
        return _runs(self.first_word[sentences], self.encoded.n_words[sentences])

    def heads_of(self, sentence: int) -> IntArray:
        return self.heads[self.first_word[sentence] : self.first_word[sentence + 1]]

    def with_heads(self, heads: IntArray) -> Treebank:
        return replace(self, heads=heads)

    def hiding_words(self, amount: float, seed: int) -> Treebank:
        """The same with some words unseen: `Encoded.hiding`."""
        return replace(self, encoded=self.encoded.hiding(amount, seed))

    def batch(self, sentences: NDArray[np.int64]) -> Batch:
        return Batch(self, sentences)


class Batch:
    """Some sentences of a treebank."""

    def __init__(self, treebank: Treebank, sentences: NDArray[np.int64]) -> None:
        words = treebank.words(sentences)
        self.encoded = treebank.encoded
        self.sentences = sentences
        self.n_words = treebank.encoded.n_words[sentences]
        self.heads = treebank.heads[words]
        self.labels = treebank.labels[words]

    def __len__(self) -> int:
        return len(self.sentences)

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.n_words)

    def gold(self, n_labels: int | None, hidden: bool = False) -> Gold:
        """The annotation for scores with so many outcomes per arc, hidden or annotated."""
        if n_labels is None:
            return Gold(self.layout, self.heads)
        labels = np.full_like(self.heads, -1) if hidden else self.labels
        return Gold(self.layout, self.heads, labels, n_labels)


def _runs(first: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """first[0], first[0] + 1, ... (counts[0] numbers), first[1], ..."""
    return np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
