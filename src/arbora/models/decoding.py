"""Decoding of encoded sentences: prune, score, infer, choose, label."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.features import Encoded
from arbora.inference.decoding import possible_marginals
from arbora.inference.engines import (
    DecodedTrees,
    SecondOrder,
    TreeLists,
    first_order_engine,
)
from arbora.inference.marginals import Marginals
from arbora.inference.packed import check_room
from arbora.inference.tree_checks import in_class
from arbora.models import limits
from arbora.models.calibrated import at_temperature
from arbora.models.components import FirstOrderPruner, JointLabels, SoftmaxLabels, with_root_labels
from arbora.models.constraints import Constraints, check_trees, obeying
from arbora.models.head_sets import HeadSetLevel, asked_level, heads_within
from arbora.models.model import Model
from arbora.models.parsed_trees import ParsedTrees
from arbora.models.reductions import (
    greedy_trees,
    label_uniforms,
    log_sum_exp,
    summed_over_labels,
)
from arbora.models.reranker import Candidates, best_places
from arbora.models.uncertainty import runner_ups
from arbora.options import DecodeName, ParseOptions, spelled
from arbora.scores import Layout, Scores
from arbora.scoring import Batch
from arbora.types import FloatArray, IntArray, TreeClass

__all__ = ["Decoder", "Scored"]

_CELLS_AT_ONCE = 1 << 20  # limits the memory of a call, independent of the number of sentences
_FEWEST_CELLS = 1 << 17  # if a cell has many labels
_BY_MARGINALS = ("mbr", "greedy-posterior")
_GREEDY = ("greedy", "greedy-posterior")
_SMALLEST = 1e-300  # a probability whose logarithm is taken


class Scored(NamedTuple):
    """Some sentences of the input with their scores.

    Trees are decoded from `scores`. Probabilities come from `summed` and the engine that sums over
    it: the model's own, or those of the first-order pruner if the model's inference has no sums.
    """

    batch: Batch
    scores: Scores
    summed: Scores
    summing: Any


class Decoder:
    """A model ready to parse encoded sentences."""

    def __init__(
        self,
        model: Model,
        threads: int,
        decode: DecodeName | None = None,
        trees: TreeClass | None = None,
    ) -> None:
        self.model = model.on_threads(threads)
        self.root_labels = model.root_labels
        labeller = self.model.labeller
        if isinstance(labeller, SoftmaxLabels):
            labeller = replace(labeller, of_root=self.root_labels)
            self.model = replace(self.model, labeller=labeller)
        self.threads = threads
        self.decode: DecodeName = decode or model.options.decode or "map"
        self.trees: TreeClass = trees or model.decode_trees
        self.engine = model.engine(threads, self.trees)
        self.time_limit: float | None = None
        self.first_order_from: int | None = None
        self.chooser = first_order_engine(self.trees, model.root, threads)
        self.head_sets: HeadSetLevel | None = None

    @classmethod
    def for_options(cls, model: Model, threads: int, options: ParseOptions) -> Decoder:
        """The decoder for a call of `parse`; unsupported options raise an error."""
        decoder = cls(model, threads, options.decode, options.trees)
        decoder.check(options)
        if options.head_sets is not None:
            same = decoder.trees == model.decode_trees
            decoder.head_sets = asked_level(model.head_sets, options, same_trees=same)
        limits.apply_limits(decoder, options)
        return decoder

    def check(self, options: ParseOptions) -> None:
        """Raises an error for options that the model's inference does not support."""
        if self.decode == "max-z" and not self.model.n_clusters:
            raise ArgumentError(f"{spelled('decode', 'max-z')} requires a model with clusters.")
        order = self.model.options.order
        engine: Any = getattr(order, "inference", None) or order
        if self.decode not in engine.decoders:
            raise ArgumentError(
                f"{spelled('decode', self.decode)} is not available with this model's inference "
                f"({engine.tag}): use {' or '.join(engine.decoders)}."
            )
        if self.model.reranker is not None:
            self._check_reranked(options)
        for name in ("kbest", "samples"):
            if getattr(options, name) is not None and not hasattr(self.engine, "kbest"):
                raise ArgumentError(
                    f"{spelled(name)} requires a first-order model or one with exact inference; "
                    f"this model's inference is {engine.tag}."
                )
        if isinstance(self.engine, SecondOrder) and self.trees != self.engine.trees:
            raise ArgumentError("this model's inference finds projective trees only.")
        if options.certificates and not hasattr(self.engine, "decode"):
            raise ArgumentError(
                f"{spelled('certificates')} requires a model that searches for the best tree; "
                "belief propagation gives no certificates."
            )

    def can_average(self, options: ParseOptions) -> bool:
        """Whether trees can be chosen by averaged marginals, and no other choice is asked for."""
        own = hasattr(self.engine, "infer") and self.model.reranker is None
        return own and (options.decode is None or options.decode in _BY_MARGINALS)

    def _check_reranked(self, options: ParseOptions) -> None:
        if self.decode != "map":
            raise ArgumentError(
                f"{spelled('decode', self.decode)} is not available with a model that reranks: use "
                "map."
            )
        if options.certificates:
            raise ArgumentError(
                f"{spelled('certificates')} requires a model that searches all trees; this one "
                "reranks some of them."
            )

    @property
    def depth(self) -> int:
        """The number of scores per arc."""
        return self.model.scorer.n_labels or 1

    def __call__(
        self,
        encoded: Encoded,
        probabilities: bool = False,
        constraints: Constraints | None = None,
    ) -> ParsedTrees:
        """The trees of all sentences."""

        def parse(sentences: NDArray[np.int64], known: Constraints | None) -> ParsedTrees:
            return self.parse(encoded, sentences, probabilities, known)

        pieces = self.pieces(encoded)
        return ParsedTrees.joined(
            [found for one in pieces for found in obeying(constraints, one, parse)]
        )

    def pieces(self, encoded: Encoded, copies: int = 1) -> Iterator[NDArray[np.int64]]:
        """Batches of sentences whose scores take a bounded amount of memory.

        `copies` is the number of scores that are held of each sentence.
        """
        cells = np.cumsum((encoded.n_words + 1) ** 2)
        at_once = max(_CELLS_AT_ONCE // self.depth, _FEWEST_CELLS) // copies
        start = 0
        while start < len(cells):
            before = cells[start - 1] if start else 0
            end = int(np.searchsorted(cells, before + at_once, side="right"))
            end = max(end, start + 1)
            yield from limits.by_length(self, np.arange(start, end), encoded.n_words)
            start = end

    def score(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        constraints: Constraints | None = None,
    ) -> Scored:
        """The scores of some sentences; hidden clusters are summed over or maximised.

        With `constraints`, those of these sentences, arcs that they exclude have no score.
        """
        check_room(int(((encoded.n_words[sentences] + 1) ** 2).sum()) * self.depth)
        batch, pruner = Batch(encoded, sentences), self.model.pruner
        companion = None
        if isinstance(pruner, FirstOrderPruner):
            if constraints is None:
                companion = pruner.first_order(batch)
            else:
                companion = constraints.apply(constraints.score(pruner.scorer, batch))
                check_trees(companion, pruner.engine)
            kept = pruner.pruning(companion).kept
            batch = replace(batch, kept=kept if constraints is None else constraints.kept(kept))
        if constraints is None:
            scores, _ = self.model.scorer.scores(batch)
        else:
            scores = constraints.score(self.model.scorer, batch)
        if isinstance(self.model.labeller, JointLabels) and self.root_labels is not None:
            known = None if constraints is None else constraints.labels
            scores = with_root_labels(scores, self.root_labels, known)
        summed: Scores = scores
        if self.model.n_clusters:
            table = scores.arcs.reshape(-1, self.model.n_clusters)
            summed = Scores(log_sum_exp(table), scores.n_words)
            scores = Scores(table.max(axis=1), scores.n_words) if self.decode == "max-z" else summed
        if constraints is not None:
            same = scores is summed
            scores = constraints.apply(scores)
            summed = scores if same else constraints.apply(summed)
            check_trees(summed.arcs_only(), self.chooser)
        if companion is not None and self.has_companion:
            assert isinstance(pruner, FirstOrderPruner)
            return Scored(batch, scores, companion, pruner.engine)
        return Scored(batch, scores, summed, self.engine)

    def parse(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        probabilities: bool,
        constraints: Constraints | None,
    ) -> ParsedTrees:
        """The trees of some sentences under their constraints."""
        # Decoding uses uncalibrated scores (Smith & Smith 2007, section 4); the temperature only
        # calibrates the probabilities that are reported.
        longest = self.first_order_from
        if longest is not None and encoded.n_words[sentences[0]] >= longest:  # and all others
            other = limits.first_order_decoder(self)
            return other.parse(encoded, sentences, probabilities, constraints).as_fallback(
                limits.FIRST_ORDER
            )
        began = time.perf_counter()
        scored = self.score(encoded, sentences, constraints)
        marginals = self._decoding_marginals(scored)
        late = limits.no_marks(self, len(sentences))
        if self.time_limit is None or constraints is not None:
            found = self._found(scored, marginals)
        else:
            spent = time.perf_counter() - began
            found, late = limits.decode_in_time(self, scored, self.time_limit, spent)
        late = limits.with_long(self.engine, found, late)
        labels, given_arc = self.model.labeller.label(
            encoded, sentences, found.heads, found.labels,
            probabilities=probabilities or self.head_sets is not None,
        )  # fmt: skip
        chosen = labels
        if constraints is not None:
            chosen, given_arc = constraints.with_labels(labels, given_arc)
        if not probabilities and self.head_sets is None:
            nothing = np.empty(0)
            return ParsedTrees(
                found.heads, chosen, nothing, nothing, nothing, found.certified, found.gaps,
                fallbacks=late,
            )  # fmt: skip
        trees = TreeLists(found.heads, labels, np.ones(len(sentences), np.int64))
        marginals = self.calibrated(scored, marginals, heads=found.heads)
        arcs, given_arc, log_probs = self.probabilities(scored, trees, given_arc, marginals)
        if constraints is not None:
            _, given_arc = constraints.with_labels(labels, given_arc)
        every, n_words = summed_over_labels(marginals), scored.summed.n_words
        set_heads = set_sizes = np.empty(0, dtype=np.int32)
        if self.head_sets is not None:
            names = [self.model.labels[k] if k >= 0 else "_" for k in labels.tolist()]
            least = self.head_sets.thresholds(found.heads, n_words, names)
            set_heads, set_sizes = heads_within(every, n_words, least)
        return ParsedTrees(
            found.heads, chosen, arcs, given_arc, log_probs, found.certified, found.gaps,
            *runner_ups(every, n_words, found.heads), set_heads, set_sizes, late,
        )  # fmt: skip

    def _decoding_marginals(self, scored: Scored) -> Marginals | None:
        """The marginals that trees are chosen by, at temperature 1."""
        return self.engine.infer(scored.scores) if self.decode in _BY_MARGINALS else None

    def best(self, scored: Scored) -> DecodedTrees:
        """The trees that the decoder chooses."""
        return self._found(scored, self._decoding_marginals(scored))

    def _found(self, scored: Scored, marginals: Marginals | None) -> DecodedTrees:
        if self.model.reranker is None:
            return self._choose(scored.scores, marginals)
        return self._reranked(scored)

    def by_marginals(self, values: Scores) -> DecodedTrees:
        """The trees of the least risk under marginals, -inf for arcs that are not allowed."""
        return greedy_trees(values) if self.decode in _GREEDY else self.chooser.decode(values)

    def _choose(self, scores: Scores, marginals: Marginals | None) -> DecodedTrees:
        """The best trees by score, or by marginals with minimum Bayes risk."""
        if marginals is not None:
            scores = possible_marginals(scores, marginals.arcs)
        if self.decode in _GREEDY:
            return greedy_trees(scores)
        if marginals is None:
            best: DecodedTrees = limits.for_length(self.engine, scores.n_words).decode(scores)
            return best
        found = self.chooser.decode(scores)
        if marginals.exact:
            return found
        count = len(scores)  # approximate marginals give no certificates
        return found._replace(
            certified=np.zeros(count, dtype=np.bool_), bounds=np.full(count, np.inf)
        )

    def candidates(self, scored: Scored, k: int) -> Candidates:
        """The k best trees of some sentences under first-order scores."""
        return Candidates.best(self.engine, scored.scores, k)

    def _reranked(self, scored: Scored) -> DecodedTrees:
        """The reranker's best candidates; they need not be the best of all trees."""
        reranker, batch = self.model.reranker, scored.batch
        assert reranker is not None
        found = self.candidates(scored, reranker.candidates)
        values = reranker.tree_scores(batch.encoded, batch.sentences, found)
        best, count = best_places(found, values), len(batch)
        return DecodedTrees(
            found.n_words, found.heads_at(best), None, values[best], np.full(count, np.inf),
            np.zeros(count, dtype=np.bool_), np.ones(count, dtype=np.int64),
        )  # fmt: skip

    def calibrated(
        self,
        scored: Scored,
        marginals: Marginals | None = None,
        scale: float = 1.0,
        heads: IntArray | None = None,
    ) -> Marginals:
        """The marginals at the model's temperature; `marginals` are those at 1, if known.

        The temperature is multiplied by `scale`. `heads` are those of the decoded trees, whose arcs
        get the model's bonus.
        """
        scores, temperature = scored.summed, self.model.temperature * scale
        bonus = self.model.tree_bonus if heads is not None and self.has_companion else 0.0
        if marginals is not None and temperature == 1.0 and marginals.scores is scores:
            return marginals
        found: Marginals = scored.summing.infer(at_temperature(scores, temperature, bonus, heads))
        return found

    @property
    def has_companion(self) -> bool:
        """Whether probabilities are those of the first-order pruner."""
        return not hasattr(self.engine, "infer")

    def probabilities(
        self, scored: Scored, trees: TreeLists, given_arc: FloatArray, marginals: Marginals
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P(arc), P(label | arc) and log P(tree) of given trees.

        Approximate marginals give arc probabilities, but no log-probabilities of trees.
        """
        scores = marginals.scores
        layout = Layout(scores.n_words, trees.counts)
        cells = layout.arcs(trees.heads)
        if scores.n_labels is None:
            arcs = marginals.arcs[cells]
        else:
            assert trees.labels is not None
            table = marginals.arcs.reshape(-1, scores.n_labels)[cells]
            arcs = table.sum(axis=1)
            given_arc = table[np.arange(len(cells)), trees.labels] / np.maximum(arcs, _SMALLEST)
        log_probs = np.empty(0)
        if marginals.exact:
            log_probs = scored.summing.tree_scores(scores, trees)
            log_probs = log_probs - np.repeat(marginals.log_partition, trees.counts)
            if scores.n_labels is None:
                of_labels = np.log(np.maximum(given_arc, _SMALLEST))
                log_probs = log_probs + layout.per_sentence(of_labels)
            if self.decode in _GREEDY:
                log_probs = np.where(self._are_trees(layout, trees.heads), log_probs, -np.inf)
        return np.minimum(arcs, 1.0), np.minimum(given_arc, 1.0), log_probs

    def _are_trees(self, layout: Layout, heads: IntArray) -> NDArray[np.bool_]:
        """Which of the sentences have trees; greedy heads need not form trees."""
        ends = np.cumsum(layout.n_words)
        rows = [heads[None, end - n : end] for n, end in zip(layout.n_words, ends, strict=True)]
        answers = [in_class(row.astype(np.int64), self.trees, self.model.root) for row in rows]
        return np.concatenate(answers)

    def kbest_or_samples(
        self,
        encoded: Encoded,
        sentences: NDArray[np.int64],
        options: ParseOptions,
        keys: NDArray[np.int64],
        constraints: Constraints | None = None,
    ) -> tuple[ParsedTrees, NDArray[np.int64]]:
        """k-best lists or samples of some sentences, and the number of trees of each.

        `keys` are the numbers of the sentences in their file. Samples depend on these, not on the
        batch.
        """
        scored, uniforms = self.score(encoded, sentences, constraints), None
        if options.kbest is not None:
            found = self.engine.kbest(scored.scores, options.kbest)
        else:
            count = options.samples or 1
            calibrated = scored.summed.scaled(1.0 / self.model.temperature)
            found = self.engine.sample(calibrated, count, options.seed, keys)
            uniforms = label_uniforms(encoded.n_words[sentences], keys, options.seed, count)
        repeated = np.repeat(sentences, found.counts)
        labels, given_arc = self.model.labeller.label(
            encoded, repeated, found.heads, found.labels, uniforms
        )
        chosen = labels
        if constraints is not None:
            chosen, given_arc = constraints.with_labels(labels, given_arc, found.counts)
        found = found._replace(labels=labels)
        figures = self.probabilities(scored, found, given_arc, self.calibrated(scored))
        return ParsedTrees(found.heads, chosen, *figures), found.counts
