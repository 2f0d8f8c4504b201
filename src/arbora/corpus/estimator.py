"""Expected numbers of matches in the sentences of a block, under a model's distribution of trees.

Per sentence, for the number N of matches:

- `expected`: E[N]. Patterns of one or two arcs by sums over all trees (`exact_sums`), corrected by
  what the drawn trees say of labels and of unlikely pairs; others by the mean over the draws, with
  the labels' probabilities given the tree.
- `variance`: Var[N], the doubt of the parser, from drawn trees with drawn labels.
- `noise`: the variance of the estimate of E[N] that is due to drawing.
- `best`: N in the tree that the parser would choose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.corpus.drawn_labels import LabelsOfDraws, labels_of_draws
from arbora.corpus.exact_sums import (
    LEAST,
    WeightedMatches,
    arc_matches,
    first_arc,
    pair_matches,
    without_labels,
)
from arbora.corpus.matching import Forest, find_matches
from arbora.corpus.pattern import Pattern, column_texts
from arbora.data import Block
from arbora.features import Encoded
from arbora.inference.engines import FirstOrderEngine
from arbora.models.decoding import Decoder
from arbora.models.draws import Draws, draw_trees, is_weighted
from arbora.types import FloatArray, IntArray

__all__ = ["Estimator", "Grouping", "Rows", "count_annotated"]

_CELLS = 1 << 19  # of score matrices at a time
_LABEL_CELLS = 1 << 22  # words x draws x labels at a time
_ALL = ""  # the group of patterns without grouping


@dataclass(frozen=True)
class Grouping:
    """Counts by a column of one of the pattern's words."""

    place: int
    column: str


@dataclass(frozen=True)
class Rows:
    """Figures of a block's sentences and groups, one row each; sentences without any are left out.

    `sentences` are places in the block. `likely` is P(N > 0), `effective` the effective number of
    draws. `matched` are the words of the likeliest match, counted from 1, 0 for none.
    """

    sentences: NDArray[np.int64]
    groups: list[str]
    expected: FloatArray
    variance: FloatArray
    noise: FloatArray
    best: FloatArray
    likely: FloatArray
    effective: FloatArray
    matched: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: list[Rows], n_words: int) -> Rows:
        """The rows of several pieces of a block."""
        nothing = np.empty(0)
        if not parts:
            none = np.empty(0, np.int64)
            return cls(
                none, [], nothing, nothing, nothing, nothing, nothing, nothing,
                none.reshape(0, n_words),
            )  # fmt: skip
        arrays = [
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("expected", "variance", "noise", "best", "likely", "effective", "matched")
        ]
        groups = [group for part in parts for group in part.groups]
        return cls(np.concatenate([part.sentences for part in parts]), groups, *arrays)


@dataclass(frozen=True)
class _Found:
    """Matches in trees: the sentence, the group, the tree and a value of each."""

    sentences: NDArray[np.int64]
    groups: NDArray[np.int64]
    trees: NDArray[np.int64]
    positions: NDArray[np.int64]
    values: FloatArray


@dataclass(frozen=True)
class Estimator:
    """Figures of a pattern under a model; `draws` trees are drawn of each sentence."""

    decoder: Decoder
    pattern: Pattern
    draws: int = 16
    seed: int = 0
    grouping: Grouping | None = None
    temperature: float | None = None  # of importance weights

    def __call__(self, block: Block, first_key: int) -> Rows:
        """The figures of a block; draws depend on the numbers of sentences from `first_key` on."""
        candidates = self.pattern.candidates(block)
        possible = _possible(self.pattern, candidates, block.n_words)
        if not len(possible):
            return Rows.joined([], len(self.pattern.words))
        words = _Words(self.pattern, block, candidates, self.grouping)
        if not self.pattern.arcs:
            return _certain_rows(words, possible)
        encoded = self.decoder.model.encoder.encode(block)
        parts = [
            self._rows(words, encoded, piece, first_key + piece)
            for piece in self._pieces(possible, block.n_words)
        ]
        return Rows.joined(parts, len(self.pattern.words))

    def _pieces(
        self, sentences: NDArray[np.int64], n_words: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int64]]:
        """Sentences at a time whose scores and draws take a bounded amount of memory."""
        depth = self.decoder.depth
        labels = max(1, len(self.decoder.model.labels))
        cost = np.maximum(
            (n_words[sentences] + 1) ** 2 * depth / _CELLS,
            n_words[sentences] * self.draws * labels / _LABEL_CELLS,
        )
        piece = np.floor(np.cumsum(cost))
        for number in np.unique(piece):
            yield sentences[piece == number]

    def _rows(
        self, words: _Words, encoded: Encoded, piece: NDArray[np.int64], keys: NDArray[np.int64]
    ) -> Rows:
        decoder, pattern = self.decoder, self.pattern
        drawn = draw_trees(decoder, encoded, piece, self.draws, self.seed, keys, self.temperature)
        allowed = pattern.allowed(decoder.model.labels)
        labels = labels_of_draws(decoder, encoded, drawn, allowed, keys, self.seed)
        in_draws = words.matches(piece, drawn.heads, self.draws)
        chances, counted = in_draws.with_labels(pattern, labels)
        exact = self._exact(words, drawn, piece)
        best = self._best(words, encoded, piece, drawn, allowed)
        expected_exact = None
        residual = chances
        if exact is not None:
            matches, marginals, leading = exact
            arcs = labels.arcs
            halves = [arcs.of_arcs(half, matches.cells) for half in (0, 1)]
            values = matches.chances * (halves[0] + halves[1]) / 2.0
            expected_exact = words.found(piece, matches.sentences, matches.positions, values)
            cells = in_draws.cells(pattern, drawn)
            first = in_draws.trees % self.draws < self.draws // 2
            predicted = np.where(first, arcs.of_arcs(1, cells), arcs.of_arcs(0, cells))
            if leading is not None:
                predicted *= marginals[cells[:, leading]] >= LEAST
            residual = chances - predicted
        return _figures(
            words, piece, drawn, in_draws.found(words, piece), chances, counted, residual,
            expected_exact, best,
        )  # fmt: skip

    def _exact(
        self, words: _Words, drawn: Draws, piece: NDArray[np.int64]
    ) -> tuple[WeightedMatches, FloatArray, int | None] | None:
        """The matches of one or two arcs with exact probabilities, and the marginals of arcs."""
        pattern, decoder = self.pattern, self.decoder
        in_arcs = {word for arc in pattern.arcs for word in (arc.head, arc.modifier)}
        if is_weighted(decoder) or len(pattern.arcs) > 2 or len(in_arcs) != len(pattern.words):
            return None
        first_order = isinstance(decoder.engine, FirstOrderEngine)
        if len(pattern.arcs) == 2 and not first_order:
            return None
        calibrated = drawn.scored.summed.scaled(1.0 / decoder.model.temperature)
        scores = without_labels(calibrated) if first_order else calibrated
        marginals = decoder.engine.infer(scores).arcs
        whole = scores.arcs_only(marginals)
        masks = [words.mask(int(sentence)) for sentence in piece]
        if len(pattern.arcs) == 1:
            return arc_matches(pattern, whole, masks), marginals, None
        leading = first_arc(pattern, words.candidates)
        found = pair_matches(pattern, decoder.engine, scores, whole, masks, leading)
        return found, marginals, leading

    def _best(
        self, words: _Words, encoded: Encoded, piece: NDArray[np.int64], drawn: Draws,
        allowed: NDArray[np.bool_],
    ) -> _Found:  # fmt: skip
        """The matches in the trees that the parser chooses."""
        found = self.decoder.best(drawn.scored)
        labels, _ = self.decoder.model.labeller.label(
            encoded, piece, found.heads, found.labels, probabilities=False
        )
        return words.in_trees(piece, found.heads, labels, allowed)


def count_annotated(pattern: Pattern, block: Block, grouping: Grouping | None = None) -> Rows:
    """The matches in the trees that a block has; words without a head have no arc."""
    candidates = pattern.candidates(block)
    possible = _possible(pattern, candidates, block.n_words)
    words = _Words(pattern, block, candidates, grouping)
    if not len(possible):
        return Rows.joined([], len(pattern.words))
    names = sorted({label for i in range(len(block)) for label in block.column(i, 7)})
    places = {name: place for place, name in enumerate(names)}
    flat = [places[label] for i in possible.tolist() for label in block.column(i, 7)]
    heads = np.concatenate([block.heads[words.of_sentence(i)] for i in possible.tolist()])
    found = words.in_trees(possible, heads, np.array(flat), pattern.allowed(names))
    return _plain_rows(words, possible, found)


class _Words:
    """The words of a block as a pattern sees them: candidates, and the texts of the groups."""

    def __init__(
        self, pattern: Pattern, block: Block, candidates: NDArray[np.bool_],
        grouping: Grouping | None,
    ) -> None:  # fmt: skip
        self.pattern, self.block, self.candidates = pattern, block, candidates
        self.ends = np.cumsum(block.n_words)
        self.starts = self.ends - block.n_words
        self.place = None if grouping is None else grouping.place
        self.names = [_ALL]
        self._codes = np.zeros(block.total_words, dtype=np.int64)
        if grouping is not None:
            texts = column_texts(block, grouping.column)
            self.names = sorted(set(texts))
            codes = {name: code for code, name in enumerate(self.names)}
            self._codes = np.array([codes[text] for text in texts], dtype=np.int64)

    def of_sentence(self, i: int) -> slice:
        return slice(int(self.starts[i]), int(self.ends[i]))

    def mask(self, i: int) -> NDArray[np.bool_]:
        """The candidates of a sentence, (pattern words, n+1), with the root symbol first."""
        own = self.candidates[:, self.of_sentence(i)]
        root = np.array([[word.is_root] for word in self.pattern.words])
        return np.concatenate([root, own], axis=1)

    def matches(self, piece: NDArray[np.int64], heads: IntArray, count: int) -> _InTrees:
        """The matches, whatever the labels, in `count` trees of each sentence of a piece."""
        sizes = self.block.n_words[piece]
        forest = Forest(np.repeat(sizes, count), heads)
        columns = np.concatenate(
            [np.tile(np.arange(self.starts[i], self.ends[i]), count) for i in piece.tolist()]
        )
        return _InTrees(
            forest, find_matches(self.pattern, forest, self.candidates[:, columns]), count
        )

    def in_trees(
        self, piece: NDArray[np.int64], heads: IntArray, labels: IntArray,
        allowed: NDArray[np.bool_],
    ) -> _Found:  # fmt: skip
        """The matches in one labelled tree of each sentence of a piece."""
        found = self.matches(piece, heads, 1)
        fits = np.ones(len(found.nodes), dtype=np.bool_)
        for arc, row in zip(self.pattern.arcs, allowed, strict=True):
            if arc.label is not None:
                fits &= row[labels[found.word(arc.modifier)]]
        return _InTrees(found.forest, found.nodes[fits], 1).found(self, piece)

    def found(
        self, piece: NDArray[np.int64], sentences: NDArray[np.int64],
        positions: NDArray[np.int64], values: FloatArray, trees: NDArray[np.int64] | None = None,
    ) -> _Found:  # fmt: skip
        """Matches with their groups; `sentences` are places in the piece."""
        groups = np.zeros(len(sentences), dtype=np.int64)
        if self.place is not None and len(sentences):
            groups = self._codes[self.starts[piece[sentences]] + positions[:, self.place] - 1]
        return _Found(sentences, groups, sentences if trees is None else trees, positions, values)


@dataclass(frozen=True)
class _InTrees:
    """Matches in trees, `count` of each sentence, as nodes of a forest."""

    forest: Forest
    nodes: NDArray[np.int64]
    count: int

    @property
    def trees(self) -> NDArray[np.int64]:
        return self.forest.tree[self.nodes[:, 0]]

    def word(self, place: int) -> NDArray[np.int64]:
        """The number of a matched word among the words of all trees."""
        nodes = self.nodes[:, place]
        return np.asarray(nodes - self.forest.tree[nodes] - 1)

    def positions(self) -> NDArray[np.int64]:
        """The matched words' places in their sentences."""
        return np.asarray(self.nodes - self.forest.starts[self.trees][:, None])

    def found(self, words: _Words, piece: NDArray[np.int64]) -> _Found:
        trees = self.trees
        return words.found(piece, trees // self.count, self.positions(), np.ones(len(trees)), trees)

    def with_labels(self, pattern: Pattern, labels: LabelsOfDraws) -> tuple[FloatArray, FloatArray]:
        """For each match, the probability of its labels given the tree, and if they were drawn."""
        chances, counted = np.ones(len(self.nodes)), np.ones(len(self.nodes))
        for number, arc in enumerate(pattern.arcs):
            word = self.word(arc.modifier)
            chances *= labels.chances[number, word]
            counted *= labels.drawn[number, word]
        return chances, counted

    def cells(self, pattern: Pattern, drawn: Draws) -> NDArray[np.int64]:
        """The places of the matches' arcs in the flat scores, (matches, pattern arcs)."""
        sides = drawn.scored.batch.n_words + 1
        firsts = np.cumsum(sides * sides) - sides * sides
        sentences, positions = self.trees // self.count, self.positions()
        return np.column_stack(
            [
                firsts[sentences]
                + positions[:, arc.head] * sides[sentences]
                + positions[:, arc.modifier]
                for arc in pattern.arcs
            ]
        )


def _possible(
    pattern: Pattern, candidates: NDArray[np.bool_], n_words: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The sentences that have a candidate for each word of the pattern."""
    if not len(n_words):
        return np.empty(0, dtype=np.int64)
    starts = np.cumsum(n_words) - n_words
    possible = np.ones(len(n_words), dtype=np.bool_)
    for word, row in zip(pattern.words, candidates, strict=True):
        if not word.is_root:
            possible &= np.logical_or.reduceat(row, starts)
    return np.flatnonzero(possible)


def _figures(
    words: _Words, piece: NDArray[np.int64], drawn: Draws, in_draws: _Found, chances: FloatArray,
    counted: FloatArray, residual: FloatArray, exact: _Found | None, best: _Found,
) -> Rows:  # fmt: skip
    """The rows of a piece, from its matches in draws, in sums over all trees, and in best trees."""
    size = len(words.names)
    lists = [in_draws, best] if exact is None else [in_draws, best, exact]
    cells = np.unique(np.concatenate([one.sentences * size + one.groups for one in lists]))
    place = {id(one): np.searchsorted(cells, one.sentences * size + one.groups) for one in lists}
    sentences, count = cells // size, drawn.count
    slots = place[id(in_draws)] * count + in_draws.trees % count

    def by_draw(values: FloatArray) -> FloatArray:
        flat = np.bincount(slots, weights=values, minlength=len(cells) * count)
        return np.asarray(flat.reshape(-1, count))

    weights, effective = drawn.weights[sentences], drawn.effective[sentences]
    given, numbers, moved = by_draw(chances), by_draw(counted), by_draw(residual)
    mean = (weights * moved).sum(axis=1)
    noise = (weights**2 * (moved - mean[:, None]) ** 2).sum(axis=1)
    centre = (weights * numbers).sum(axis=1)
    spread = (weights * (numbers - centre[:, None]) ** 2).sum(axis=1)
    spread *= effective / np.maximum(effective - 1.0, 0.5)
    expected = mean
    if exact is not None:
        expected = mean + np.bincount(place[id(exact)], weights=exact.values, minlength=len(cells))
    none = np.exp(by_draw(np.log1p(-np.minimum(chances, 1.0 - 1e-15))))  # P(no match | tree)
    some, simple = (weights * (1.0 - none)).sum(axis=1), (weights * given).sum(axis=1)
    ratio = np.where(simple > 0, some / np.maximum(simple, 1e-300), 1.0)
    return Rows(
        piece[sentences], [words.names[code] for code in (cells % size).tolist()], expected, spread,
        noise, np.bincount(place[id(best)], minlength=len(cells)).astype(np.float64),
        np.clip(expected * ratio, 0.0, 1.0), effective,
        _likeliest(cells, words, [(in_draws, chances / count, place[id(in_draws)])]
                   + ([] if exact is None else [(exact, exact.values, place[id(exact)])])),
    )  # fmt: skip


def _likeliest(
    cells: NDArray[np.int64],
    words: _Words,
    lists: list[tuple[_Found, FloatArray, NDArray[np.int64]]],
) -> NDArray[np.int64]:
    """For each row, the words of the match with the highest value; 0 where there is none."""
    answer = np.zeros((len(cells), len(words.pattern.words)), dtype=np.int64)
    for found, values, places in lists:
        if not len(values):
            continue
        keys = np.column_stack([places, found.positions])
        unique, inverse = np.unique(keys, axis=0, return_inverse=True)
        total = np.bincount(inverse.reshape(-1), weights=values, minlength=len(unique))
        order = np.argsort(total, kind="stable")  # the last assignment, the highest, stays
        answer[unique[order, 0]] = unique[order, 1:]
    return answer


def _plain_rows(words: _Words, piece: NDArray[np.int64], found: _Found) -> Rows:
    """Rows without doubt, from the matches in one tree of each sentence."""
    size = len(words.names)
    keys = found.sentences * size + found.groups
    cells, first, counts = np.unique(keys, return_index=True, return_counts=True)
    number, zero = counts.astype(np.float64), np.zeros(len(cells))
    return Rows(
        piece[cells // size], [words.names[code] for code in (cells % size).tolist()], number, zero,
        zero, number, np.ones(len(cells)), np.full(len(cells), np.inf), found.positions[first],
    )  # fmt: skip


def _certain_rows(words: _Words, possible: NDArray[np.int64]) -> Rows:
    """The matches of a pattern without arcs, which no tree changes."""
    heads = np.full(int(words.block.n_words[possible].sum()), -1, dtype=np.int32)
    return _plain_rows(words, possible, words.matches(possible, heads, 1).found(words, possible))
