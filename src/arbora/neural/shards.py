"""Sentences of similar length that the network reads at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.neural.vocabulary import FIRST, UNKNOWN, NeuralVocabulary, Numbered, Numbers
from arbora.types import FloatArray, IntArray

__all__ = ["Shard", "make_shard", "shards_of"]

_WORDS_IN_TRAINING = 400  # of a shard; smaller ones waste time, larger ones leave cores idle
_WORDS_IN_PARSING = 1600
_FEWEST = 2  # shards of a batch in training


@dataclass(frozen=True, eq=False)
class Shard:
    """Some sentences of a batch, the longest first, in the order that recurrent networks read.

    Tokens are packed: the roots of all sentences, then their first words, then the second ones,
    and so on. `counts` has the number of sentences that have a token at each step. `padded` has
    the packed place of each token, (sentences, longest + 1), and 0 beyond a sentence's end.
    """

    members: NDArray[np.int64]  # places in the batch
    sentences: NDArray[np.int64]  # their numbers in the block
    places: NDArray[np.int64]  # of the tokens among those of the block
    lengths: NDArray[np.int64]  # words and the root symbol
    counts: NDArray[np.int64]
    padded: NDArray[np.int64]
    tokens: dict[str, Numbers]
    spellings: Numbers  # rows of `characters`
    characters: Numbers
    features: Numbers  # rows of `feats`
    feats: Numbers
    given: Numbers  # rows of the vectors of a file

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which cells of `padded` are tokens."""
        return np.asarray(np.arange(self.padded.shape[1]) < self.lengths[:, None])

    @property
    def cells(self) -> NDArray[np.bool_]:
        """Which cells of padded arc scores are arcs, in the order of flat scores."""
        inside = self.inside
        return np.asarray(inside[:, :, None] & inside[:, None, :])


def shards_of(n_words: NDArray[np.int64], training: bool) -> Iterator[NDArray[np.int64]]:
    """Places of sentences of similar lengths; they depend on the lengths alone.

    So the sums over a batch do not depend on the number of threads.
    """
    order = np.argsort(-n_words, kind="stable")
    sizes = n_words[order] + 1
    total = int(sizes.sum())
    limit = _WORDS_IN_TRAINING if training else _WORDS_IN_PARSING
    count = max(-(-total // limit), _FEWEST if training else 1)
    ends = np.cumsum(sizes)
    marks = np.searchsorted(ends, total * np.arange(1, count) / count, side="left") + 1
    for piece in np.split(order, np.unique(marks)):
        if len(piece):
            yield piece


def make_shard(
    numbered: Numbered, sentences: NDArray[np.int64], members: NDArray[np.int64]
) -> Shard:
    """The shard of some sentences, which come longest first."""
    first = numbered.first[sentences]
    lengths = numbered.first[sentences + 1] - first
    steps = int(lengths[0])
    inside = np.arange(steps)[:, None] < lengths  # (steps, sentences)
    counts = inside.sum(axis=1)
    places = (np.arange(steps)[:, None] + first)[inside]  # packed
    padded = np.zeros((len(sentences), steps), dtype=np.int64)
    padded.T[inside] = np.arange(len(places))
    characters, spellings = _used(numbered.characters, numbered.spellings[places])
    feats, features = numbered.feats[:0], numbered.features[:0]
    if len(numbered.features):
        feats, features = _used(numbered.feats, numbered.features[places])
    tokens = {name: numbers[places] for name, numbers in numbered.tokens.items()}
    return Shard(
        members, sentences, places, lengths, counts, padded, tokens, spellings, characters,
        features, feats,
        numbered.given[places] if len(numbered.given) else numbered.given,
    )  # fmt: skip


def hide_words(
    shard: Shard, vocabulary: NeuralVocabulary, amount: float, random: np.random.Generator
) -> dict[str, Numbers]:
    """The tokens, where a form or lemma that occurs c times is hidden by amount / (amount + c)."""
    tokens = dict(shard.tokens)
    for name, counts in vocabulary.counts.items():
        numbers = tokens[name]
        chance = amount / (amount + counts[numbers])
        hidden = (numbers >= FIRST) & (random.random(len(numbers)) < chance)
        tokens[name] = np.where(hidden, np.int32(UNKNOWN), numbers)
    return tokens


def arcs_into_words(shard: Shard, heads: IntArray, starts: NDArray[np.int64]) -> IntArray:
    """The packed places of all words of the shard and their heads, (2, words).

    `heads` are flat over the batch's words, `starts` has the first word of each sentence; words
    without a head have the place -1 as head's.
    """
    pieces = []
    for row, member, length in zip(
        shard.padded, shard.members.tolist(), shard.lengths.tolist(), strict=True
    ):
        own = heads[starts[member] : starts[member] + length - 1]
        pieces.append(np.stack([row[1:length], np.where(own >= 0, row[own], -1)]))
    return np.concatenate(pieces, axis=1).astype(np.int32)


def _used(table: Numbers, rows: Numbers) -> tuple[Numbers, Numbers]:
    """The rows of a table that are used, without columns that are empty, and their new numbers."""
    used, numbers = np.unique(rows, return_inverse=True)
    small = table[used]
    width = int((small >= 0).any(axis=0).sum())
    return small[:, : max(width, 1)], numbers.astype(np.int32)


def flat_starts(n_words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the words of each sentence begin in flat arrays, and their number."""
    return np.concatenate([[0], np.cumsum(n_words)])


def scatter_arcs(shard: Shard, padded: FloatArray, pieces: list[FloatArray]) -> None:
    """Puts the arc scores of a shard's sentences into a list by sentence of the batch, flat."""
    for values, member, length in zip(
        padded, shard.members.tolist(), shard.lengths.tolist(), strict=True
    ):
        pieces[member] = np.ascontiguousarray(values[:length, :length]).reshape(-1)
