"""From sentences to trees with a trained model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.features import Encoded
from arbora.inference.decoding import greedy_heads, risk_scores
from arbora.inference.layout import Layout
from arbora.inference.packed import Packed, check_room
from arbora.inference.tree_checks import in_class
from arbora.parsers.higher_order import PartDecoder
from arbora.parsers.model import Model
from arbora.parsers.settings import Decoder
from arbora.parts import PackedParts
from arbora.scoring import ArcScorer, LabelScorer
from arbora.training.labeller import softmax
from arbora.types import FloatArray, IntArray, TreeClass

__all__ = ["BlockDecoder", "Decoded"]

_CELLS_AT_ONCE = 1 << 20  # bounds the memory of a call, whatever the number of sentences
_FEWEST_CELLS = 1 << 17  # if a cell has many labels
_BY_POSTERIOR = ("mbr", "greedy-posterior")
_GREEDY = ("greedy", "greedy-posterior")


@dataclass(frozen=True)
class Decoded:
    """Trees of many sentences, flat; label numbers are -1 without labels.

    Probabilities are empty unless asked for: of each arc, of its label given the arc, and the
    log-probability of each tree. Models of higher order say of each tree whether it is certainly
    the best, and by how much at most another may be better.
    """

    heads: IntArray
    labels: IntArray
    arc_probabilities: FloatArray
    label_probabilities: FloatArray
    log_probs: FloatArray
    certified: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    gaps: FloatArray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def joined(cls, parts: Sequence[Decoded]) -> Decoded:
        """One after the other."""
        if not parts:
            nothing, none = np.empty(0), np.empty(0, dtype=np.int32)
            return cls(none, none, nothing, nothing, nothing)
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class BlockDecoder:
    """A model ready to parse encoded sentences."""

    def __init__(
        self,
        model: Model,
        threads: int,
        decode: Decoder | None = None,
        trees: TreeClass | None = None,
    ) -> None:
        self.model = model
        self.threads = threads
        self.decode: Decoder = decode or model.settings.decode or "map"
        self.trees: TreeClass = trees or model.decode_trees
        self._first_order = model.pruner or model
        self._arcs: ArcScorer = self._first_order.arc_scorer(threads)
        self._parts = None if model.pruner is None else PartDecoder(model, threads, self.trees)
        self._labels: LabelScorer | None = model.label_scorer(threads) if model.staged else None

    @property
    def depth(self) -> int:
        """How many numbers the model gives to an arc."""
        return self._arcs.n_labels or 1

    def __call__(self, encoded: Encoded, probabilities: bool = False) -> Decoded:
        """The trees of all sentences."""
        parts = [
            self._decode(encoded, sentences, probabilities) for sentences in self.pieces(encoded)
        ]
        return Decoded.joined(parts)

    def pieces(self, encoded: Encoded) -> Iterator[NDArray[np.int64]]:
        """Runs of sentences whose scores take a bounded amount of memory."""
        cells = np.cumsum((encoded.n_words + 1) ** 2)
        at_once = max(_CELLS_AT_ONCE // (self._arcs.n_labels or 1), _FEWEST_CELLS)
        start = 0
        while start < len(cells):
            before = cells[start - 1] if start else 0
            end = int(np.searchsorted(cells, before + at_once, side="right"))
            end = max(end, start + 1)
            yield np.arange(start, end)
            start = end

    def distribution(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        temperature: float = 1.0,
        *,
        best_cluster: bool = False,
    ) -> Packed:
        """Scores of the sentences as a pack: arcs, or labelled arcs for joint models.

        Hidden clusters are summed over, which makes probabilities, or each arc has its best. Of a
        model of higher order, they are the scores of the first-order model inside it.
        """
        # Clusters are summed over before the temperature, as when it was fitted.
        scale = 1.0 if self.model.hidden else 1.0 / temperature
        check_room(int(((encoded.n_words[sentences] + 1) ** 2).sum()) * self.depth)
        scores = self._arcs.scores(self._first_order.weights, encoded, sentences, scale=scale)
        n_labels = self._arcs.n_labels
        if self.model.hidden and n_labels is not None:
            table = scores.reshape(-1, n_labels)
            scores = (table.max(axis=1) if best_cluster else _log_sum_exp(table)) / temperature
            n_labels = None
        n_words = encoded.n_words[sentences]
        trees = self.trees if self._parts is None else self._first_order.decode_trees
        return Packed(scores, n_words, n_labels, trees, self.model.root, self.threads)

    def label_scores(
        self, encoded: Encoded, sentences: NDArray[np.int64], heads: IntArray
    ) -> FloatArray | None:
        """(words, labels) for given trees; None if the model does not label after the tree."""
        if self._labels is None:
            return None
        return self._labels.scores(self.model.label_weights, encoded, sentences, heads)

    def _decode(
        self, encoded: Encoded, sentences: NDArray[np.int64], probabilities: bool
    ) -> Decoded:
        # Decoding takes scores for log-probabilities as they are (Smith & Smith 2007, section 4);
        # the temperature only makes the probabilities honest that are reported.
        trees = self.distribution(encoded, sentences, best_cluster=self.decode == "max-z")
        certificates: dict[str, Any] = {}
        parts = None
        if self._parts is not None:
            parts = self._parts.parts(encoded, sentences, trees)
            answers = self._parts.best(parts, self.decode)
            heads, labels = answers.heads, np.full(len(answers.heads), -1, np.int32)
            certificates = {"certified": answers.certified, "gaps": answers.gaps}
        else:
            if self.decode in _BY_POSTERIOR:
                trees = risk_scores(trees, trees.sums(marginals=True).marginals)
            heads, labels = self._choose(trees)
            if self.decode in _GREEDY:  # which need not even make a tree
                count = len(trees)
                certificates = {"certified": np.zeros(count, bool), "gaps": np.full(count, np.inf)}
        label_scores = self.label_scores(encoded, sentences, heads)
        if label_scores is not None:
            labels = label_scores.argmax(axis=1).astype(np.int32)
        if not probabilities:
            nothing = np.empty(0)
            return Decoded(heads, labels, nothing, nothing, nothing, **certificates)
        given_arc = None
        if label_scores is not None:
            given_arc = softmax(label_scores)[np.arange(len(labels)), labels]
        answer = self.with_probabilities(encoded, sentences, heads, labels, given_arc, parts=parts)
        return replace(answer, **certificates)

    def _choose(self, trees: Packed) -> tuple[IntArray, IntArray]:
        """The best by score, or by whatever takes the scores' place."""
        if self.decode in _GREEDY:
            answers = [greedy_heads(trees.scores(i)) for i in range(len(trees))]
            heads = np.concatenate([answer[0] for answer in answers])
            labels = [answer[1] for answer in answers if answer[1] is not None]
        else:
            found = trees.argmax()
            heads = np.concatenate([tree.heads for tree in found])
            labels = [tree.labels for tree in found if tree.labels is not None]
        return heads, np.concatenate(labels) if labels else np.full(len(heads), -1, np.int32)

    def with_probabilities(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        heads: IntArray,
        labels: IntArray,
        label_given_arc: FloatArray | None,
        counts: NDArray[np.int64] | None = None,
        parts: PackedParts | None = None,
    ) -> Decoded:
        """Given trees with their probabilities under the model at its temperature.

        `counts` says how many trees each sentence has, one after the other; by default one. `parts`
        are the scores of a model of higher order, if they are there already.
        """
        if self._parts is not None and self._parts.infer is not None:
            if parts is None:
                parts = self.summed_parts(encoded, sentences)
                assert parts is not None
            else:
                parts = parts.scaled(np.full(len(parts), 1.0 / self.model.temperature))
            return self._second_order_probabilities(
                self._parts, parts, heads, labels, label_given_arc, counts
            )
        trees = self.distribution(encoded, sentences, self.model.temperature)
        sums = trees.sums(marginals=True)
        layout = Layout(trees.n_words, counts)
        cells = layout.arcs(heads)
        log_partition = sums.log_partition
        if counts is not None:
            log_partition = np.repeat(log_partition, counts)
        if trees.n_labels is None:
            arcs = sums.marginals[cells]
            log_probs = layout.per_sentence(trees.flat[cells]) - log_partition
            given_arc = label_given_arc if label_given_arc is not None else np.ones(len(heads))
            if label_given_arc is not None:
                log_probs = log_probs + layout.per_sentence(np.log(np.maximum(given_arc, 1e-300)))
        else:
            labelled = cells * trees.n_labels + labels
            arcs = sums.marginals.reshape(-1, trees.n_labels)[cells].sum(axis=1)
            given_arc = sums.marginals[labelled] / np.maximum(arcs, 1e-300)
            log_probs = layout.per_sentence(trees.flat[labelled]) - log_partition
        if self.decode in _GREEDY and counts is None:  # whose heads need not be a tree
            ends = np.cumsum(trees.n_words)
            rows = [heads[None, end - n : end] for n, end in zip(trees.n_words, ends, strict=True)]
            is_tree = [in_class(row.astype(np.int64), self.trees, self.model.root) for row in rows]
            log_probs = np.where(np.concatenate(is_tree), log_probs, -np.inf)
        return Decoded(heads, labels, np.minimum(arcs, 1.0), np.minimum(given_arc, 1.0), log_probs)

    def _second_order_probabilities(
        self,
        decoder: PartDecoder,
        parts: PackedParts,
        heads: IntArray,
        labels: IntArray,
        label_given_arc: FloatArray | None,
        counts: NDArray[np.int64] | None,
    ) -> Decoded:
        """Probabilities of a model of higher order that has sums, given its scores.

        Beliefs are probabilities of arcs; no tree has a log-probability by them.
        """
        sums, layout = decoder.sums(parts), Layout(parts.n_words, counts)
        given_arc = np.ones(len(heads)) if label_given_arc is None else label_given_arc
        log_probs = np.empty(0)
        if decoder.exact:
            log_partition = sums.log_partition
            if counts is not None:
                log_partition = np.repeat(log_partition, counts)
            log_probs = decoder.tree_scores(parts, heads, counts) - log_partition
            log_probs = log_probs + layout.per_sentence(np.log(np.maximum(given_arc, 1e-300)))
        arcs = np.minimum(sums.marginals.arcs[layout.arcs(heads)], 1.0)
        return Decoded(heads, labels, arcs, np.minimum(given_arc, 1.0), log_probs)

    def second_order_trees(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        kbest: int | None,
        samples: int,
        seed: int,
        keys: NDArray[np.int64],
    ) -> tuple[IntArray, NDArray[np.int64]] | None:
        """k best trees or draws of an exact model of higher order; None of other models.

        Heads of all trees, and how many each sentence has; `keys` are the sentences' own numbers.
        """
        if self._parts is None or not self._parts.exact:
            return None
        parts = self.summed_parts(encoded, sentences)
        assert parts is not None
        if kbest is not None:
            return self._parts.kbest(parts, kbest)
        heads = self._parts.sample(parts, samples, seed, keys)
        return heads, np.full(len(sentences), samples, dtype=np.int64)

    def summed_parts(self, encoded: Encoded, sentences: NDArray[np.int64]) -> PackedParts | None:
        """Scores of a model of higher order that has sums, at its temperature; None of others."""
        if self._parts is None or self._parts.infer is None:
            return None
        first_order = self.distribution(encoded, sentences)
        return self._parts.parts(encoded, sentences, first_order, self.model.temperature)

    def arc_marginals(
        self, encoded: Encoded, sentences: NDArray[np.int64]
    ) -> tuple[Callable[[float], FloatArray], float]:
        """How probable every arc is at a temperature, and the spread of the scores."""
        trees = self.distribution(encoded, sentences)
        if self._parts is not None and self._parts.infer is not None:
            decoder, parts = self._parts, self._parts.parts(encoded, sentences, trees)

            def of_parts(temperature: float) -> FloatArray:
                tables = {kind: table / temperature for kind, table in parts.tables.items()}
                scaled = parts.with_scores(parts.arcs / temperature, tables)
                return decoder.sums(scaled).marginals.arcs

            return of_parts, _spread(parts.arcs)
        depth = trees.n_labels or 1

        def of_arcs(temperature: float) -> FloatArray:
            scaled = trees.with_scores(trees.flat / temperature)
            marginals = scaled.sums(marginals=True).marginals
            return np.asarray(marginals.reshape(-1, depth).sum(axis=1))

        return of_arcs, _spread(trees.flat)


def _spread(scores: FloatArray) -> float:
    return float(scores[np.isfinite(scores)].std())


def _log_sum_exp(table: FloatArray) -> FloatArray:
    top = table.max(axis=1)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(table - safe[:, None]).sum(axis=1)))
