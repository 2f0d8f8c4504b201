"""Trees under doubt about the tags: distributions averaged over drawn tags.

The distribution over a sentence's trees is a mixture, with one component for each drawing of the
tags (`inference/mixture.py` has the same for one sentence). Marginals are averaged, and the tree
with the most expected correct arcs is chosen by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.features import Encoded
from arbora.inference.engines import DecodedTrees, TreeLists
from arbora.inference.marginals import Marginals
from arbora.models.constraints import Constraints, obeying
from arbora.models.decoding import Decoder, Scored
from arbora.models.parsed_trees import ParsedTrees
from arbora.models.tag_draws import TagDraws
from arbora.models.uncertainty import runner_ups
from arbora.scores import Layout
from arbora.types import FloatArray, IntArray

__all__ = ["Averaged"]

_SMALLEST = 1e-300  # a probability that labels are weighted with


class _Draw(NamedTuple):
    """A drawing of the tags of some sentences of a piece, scored."""

    scored: Scored
    marginals: Marginals
    places: NDArray[np.int64]  # of its sentences in the piece
    cells: NDArray[np.int64]  # of its arcs in the piece
    words: NDArray[np.int64]  # of its words in the piece
    shares: FloatArray  # of each sentence

    def by_word(self) -> FloatArray:
        """The share of each word's sentence."""
        return np.repeat(self.shares, self.scored.summed.n_words)

    def arcs_at(self, heads: IntArray) -> FloatArray:
        """The marginals of the arcs from the given heads, by label if they have labels."""
        table = self.marginals.arcs.reshape(-1, self.marginals.scores.depth)
        return table[Layout(self.scored.summed.n_words).arcs(heads)]


@dataclass(frozen=True)
class Averaged:
    """A decoder whose trees and probabilities are averaged over drawn tags.

    Sentences without doubt are parsed as ever. `by_average` chooses trees by averaged marginals;
    otherwise the trees are those of the best tags, and only the labels and probabilities are
    averaged.
    """

    decoder: Decoder
    draws: TagDraws
    by_average: bool

    def __call__(
        self, encoded: Encoded, probabilities: bool, constraints: Constraints | None = None
    ) -> ParsedTrees:
        """The trees of all sentences; `encoded` are they with their best tags."""
        encoder = self.decoder.model.encoder
        drawn = [
            encoder.encode(block, sentences)
            for block, sentences in zip(self.draws.blocks, self.draws.sentences, strict=True)
        ]

        def parse(sentences: NDArray[np.int64], known: Constraints | None) -> ParsedTrees:
            if not self.draws.doubtful[sentences[0]]:
                return self.decoder.parse(encoded, sentences, probabilities, known)
            found = None
            if not self.by_average:
                found = self.decoder.best(self.decoder.score(encoded, sentences, known))
            heads = None if found is None else found.heads
            draws = [
                draw
                for k, one in enumerate(drawn)
                if (draw := self._draw(k, one, sentences, known, heads)) is not None
            ]
            if found is None:
                found = self._by_average(draws)
            return self._figures(draws, found, probabilities, known)

        return ParsedTrees.joined(
            [
                found
                for piece in self._pieces(encoded)
                for found in obeying(constraints, piece, parse)
            ]
        )

    def _pieces(self, encoded: Encoded) -> Iterator[NDArray[np.int64]]:
        """Sentences that are all in doubt, or none of them."""
        for piece in self.decoder.pieces(encoded, self.draws.count):
            changes = np.flatnonzero(np.diff(self.draws.doubtful[piece])) + 1
            yield from np.split(piece, changes)

    def _draw(
        self,
        k: int,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        known: Constraints | None,
        heads: IntArray | None,
    ) -> _Draw | None:
        """The k-th drawing, scored, with its marginals; None if no sentence needs it.

        `heads` are those of the decoded trees, if these do not depend on the drawings.
        """
        own = self.draws.sentences[k]
        first, last = np.searchsorted(own, (sentences[0], sentences[-1] + 1))
        if first == last:
            return None
        places = own[first:last] - sentences[0]
        constraints = None if known is None else known.of(places)
        scored = self.decoder.score(encoded, np.arange(first, last), constraints)
        n_words = self.draws.blocks[k].n_words[sentences]
        sizes, words = (n_words + 1) ** 2, _ranges(n_words, places)
        marginals = self.decoder.calibrated(
            scored, scale=self.decoder.model.averaging_scale,
            heads=None if heads is None else heads[words],
        )  # fmt: skip
        return _Draw(
            scored, marginals, places, _ranges(sizes, places), words,
            self.draws.shares[k][first:last] / self.draws.count,
        )  # fmt: skip

    def _by_average(self, draws: list[_Draw]) -> DecodedTrees:
        """The trees with the most expected correct arcs under the average."""
        average, scores = _average(draws), draws[0].scored.summed
        possible = np.zeros((len(average), scores.depth), dtype=bool)
        for draw in draws:
            arcs = draw.scored.summed.arcs.reshape(-1, scores.depth)
            possible[draw.cells] |= ~np.isneginf(arcs)
        values = np.where(possible, average, -np.inf).reshape(-1)
        return self.decoder.by_marginals(scores.arcs_only(values))

    def _figures(
        self,
        draws: list[_Draw],
        found: DecodedTrees,
        probabilities: bool,
        constraints: Constraints | None,
    ) -> ParsedTrees:
        """Labels by their averaged probabilities, and the figures of these trees if asked for."""
        heads, nothing = found.heads, np.empty(0)
        given = [self._label_table(draw, heads[draw.words]) for draw in draws]
        labels, given_arc = _best_labels(draws, given, heads)
        chosen = labels
        if constraints is not None:
            chosen, given_arc = constraints.with_labels(labels, given_arc)
        if not probabilities:
            return ParsedTrees(
                heads, chosen, nothing, nothing, nothing, found.certified, found.gaps
            )
        average = _average(draws).sum(axis=1)
        n_words = draws[0].scored.summed.n_words
        arcs = np.minimum(average[Layout(n_words).arcs(heads)], 1.0)
        log_probs = self._log_probs(draws, given, heads, labels)
        others = runner_ups(average, n_words, heads)
        return ParsedTrees(
            heads, chosen, arcs, given_arc, log_probs, found.certified, found.gaps, *others
        )

    def _label_table(self, draw: _Draw, heads: IntArray) -> FloatArray | None:
        """P(label | arc) under a drawing, (words, labels); None if there are no labels."""
        if draw.scored.summed.n_labels is not None:
            table = draw.arcs_at(heads)
            return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), _SMALLEST))
        batch = draw.scored.batch
        return self.decoder.model.labeller.given_tree(batch.encoded, batch.sentences, heads)

    def _log_probs(
        self,
        draws: list[_Draw],
        given: list[FloatArray | None],
        heads: IntArray,
        labels: IntArray,
    ) -> FloatArray:
        """The logarithms of the trees' averaged probabilities; empty if sums are approximate."""
        if not all(draw.marginals.exact for draw in draws):
            return np.empty(0)
        answer = np.full(len(draws[0].places), -np.inf)
        for draw, table in zip(draws, given, strict=True):
            own = labels[draw.words]
            of_labels = np.ones(len(own)) if table is None else table[np.arange(len(own)), own]
            trees = TreeLists(heads[draw.words], own, np.ones(len(draw.places), np.int64))
            *_, log_probs = self.decoder.probabilities(
                draw.scored, trees, of_labels, draw.marginals
            )
            terms = log_probs + np.log(draw.shares)
            answer[draw.places] = np.logaddexp(answer[draw.places], terms)
        return np.asarray(np.minimum(answer, 0.0))


def _average(draws: list[_Draw]) -> FloatArray:
    """The averaged marginals of a piece, (cells, labels)."""
    first = draws[0].marginals  # of every sentence
    depth = first.scores.depth
    answer = np.zeros((len(first.arcs) // depth, depth))
    for draw in draws:
        shares = np.repeat(draw.shares, (draw.scored.summed.n_words + 1) ** 2)
        answer[draw.cells] += shares[:, None] * draw.marginals.arcs.reshape(-1, depth)
    return answer


def _best_labels(
    draws: list[_Draw], given: list[FloatArray | None], heads: IntArray
) -> tuple[IntArray, FloatArray]:
    """The likeliest label of each arc and its probability given the arc.

    A drawing counts as much as the arc is likely under it.
    """
    if given[0] is None:
        return np.full(len(heads), -1, dtype=np.int32), np.ones(len(heads))
    table, total = np.zeros_like(given[0]), np.zeros(len(heads))
    for draw, of_labels in zip(draws, given, strict=True):
        arcs = np.maximum(draw.arcs_at(heads[draw.words]).sum(axis=1), _SMALLEST)
        weights = draw.by_word() * arcs
        table[draw.words] += weights[:, None] * of_labels
        total[draw.words] += weights
    labels = table.argmax(axis=1).astype(np.int32)
    return labels, np.minimum(table[np.arange(len(heads)), labels] / total, 1.0)


def _ranges(sizes: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of some pieces of the given sizes that follow one another."""
    ends = np.cumsum(sizes)
    own = sizes[places]
    starts = np.repeat(ends[places] - own, own)
    return starts + np.arange(len(starts)) - np.repeat(np.cumsum(own) - own, own)
