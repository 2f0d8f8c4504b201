"""Parsed sentences: trees with their probabilities, log-probabilities and certificates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.arrays import as_count
from arbora.data import Block, Sentence
from arbora.data.formats import layout_named
from arbora.errors import ArgumentError
from arbora.models.averaging import Averaged
from arbora.models.constraints import Constraints, obeying
from arbora.models.decoding import Decoder
from arbora.models.enhanced import has_enhanced, without_enhanced
from arbora.models.limits import FALLBACKS
from arbora.models.parsed_trees import ParsedTrees
from arbora.models.tag_draws import TagDraws
from arbora.models.uncertainty import UncertainArc, least_certain
from arbora.options import ParseOptions
from arbora.scoring import softmax
from arbora.types import FloatArray, IntArray

__all__ = ["ParsedBlock", "ParsedSentence", "label_block", "parse_block"]

# Comments and MISC entries that an earlier parse wrote.
_OF_OTHER_TREES = [
    "arbora.rank", "arbora.fallback", "arbora.certified", "arbora.gap", "arbora.log_prob",
    "arbora.arc_probabilities", "arbora.label_probabilities", "arbora.probabilities", "ArcProb",
    "LabelProb", "arbora.head_sets", "HeadSet",
]  # fmt: skip


# The beginning of a document or a paragraph, in the comments of a copy that is not the first.
_BEGINS_AGAIN = re.compile(
    rb"^# new(?:doc|par)\b[^\n]*\n(?=(?:#[^\n]*\n)*?# arbora\.rank = (?!1\r?\n))", re.MULTILINE
)


class ParsedSentence(Sentence):
    """A sentence with a tree from a parser.

    `arc_probabilities` and `label_probabilities` (of the label given the arc) have one number per
    word. `log_prob` is the log-probability of the labelled tree. `runner_ups` are the words'
    likeliest other heads (-1 for none), with `runner_up_probabilities`; k-best trees and samples
    have none. If probabilities were not computed, the arrays are empty and `log_prob` is None.
    `source_of_probabilities` says where they are from if they are not the model's own exact ones: a
    model decoded by dual decomposition has those of its first-order pruner. `head_sets` has an
    array of heads for each word, the likeliest first, if they were asked for (`head_sets=0.95`).
    """

    __slots__ = (
        "arc_probabilities", "head_sets", "label_probabilities", "log_prob",
        "runner_up_probabilities", "runner_ups", "source_of_probabilities",
    )  # fmt: skip

    def __init__(
        self,
        block: Block,
        index: int,
        heads: IntArray,
        arc_probabilities: FloatArray,
        label_probabilities: FloatArray,
        log_prob: float | None,
        runner_ups: IntArray | None = None,
        runner_up_probabilities: FloatArray | None = None,
        source_of_probabilities: str | None = None,
        head_sets: tuple[IntArray, ...] = (),
    ) -> None:
        super().__init__(block, index, heads)
        self.arc_probabilities = arc_probabilities
        self.label_probabilities = label_probabilities
        self.log_prob = log_prob
        self.source_of_probabilities = source_of_probabilities
        self.head_sets = head_sets
        self.runner_ups = np.empty(0, np.int32) if runner_ups is None else runner_ups
        self.runner_up_probabilities = (
            np.empty(0) if runner_up_probabilities is None else runner_up_probabilities
        )

    def least_certain(self, count: int | None = None) -> list[UncertainArc]:
        """The arcs with the lowest probabilities, lowest first: `count` of them, or all."""
        n = len(self.heads)
        if len(self.runner_ups) != n:
            raise ArgumentError(
                "least_certain() requires probabilities: parse without probabilities=False, kbest "
                "or samples."
            )
        limit = n if count is None else as_count(count, "count")
        return least_certain(self._arcs(), limit)

    def _arcs(self) -> Iterator[UncertainArc]:
        names = ["ROOT", *self.forms]
        number, sent_id = self._block.first_sentence + self._index + 1, self.sent_id
        figures = zip(
            self.arc_probabilities.tolist(), self.heads.tolist(), self.labels,
            self.runner_ups.tolist(), self.runner_up_probabilities.tolist(), strict=True,
        )  # fmt: skip
        for word, (probability, head, label, other, chance) in enumerate(figures, 1):
            yield UncertainArc(
                probability, number, word, head, label, other, chance, names[word], names[head],
                names[other] if other >= 0 else "", sent_id,
            )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return _parsed_sentence, (
            bytes(self), self.format, self.arc_probabilities, self.label_probabilities,
            self.log_prob, self.runner_ups, self.runner_up_probabilities,
            self.source_of_probabilities, self.head_sets,
        )  # fmt: skip


def _parsed_sentence(text: bytes, file_format: str, *figures: Any) -> ParsedSentence:
    block = Block(text, layout_named(file_format))
    return ParsedSentence(block, 0, block.heads, *figures)


@dataclass(frozen=True)
class ParsedBlock:
    """Sentences of a block with their trees; k-best lists and samples repeat sentences."""

    block: Block
    sentences: NDArray[np.int64]  # the sentence of each tree
    ranks: NDArray[np.int64] | None  # of k-best lists and samples
    trees: ParsedTrees
    label_names: tuple[str, ...]
    source: str | None = None  # of the probabilities, if they are not the model's exact ones
    draws: TagDraws | None = None  # that the probabilities are averaged over
    keeps_trees: bool = False  # whether enhanced dependencies of unchanged trees stay
    copies: str = "k"  # what the copies of a sentence add to its sent_id, before the rank

    def to_bytes(self, probabilities: bool, certificates: bool = False) -> bytes:
        """The block with HEAD and DEPREL replaced.

        Enhanced dependencies belong to the tree of the input, so DEPS becomes `_` and empty nodes
        are removed, except where `keeps_trees` is set and the tree is the same. Comments and MISC
        entries of an earlier parse are removed. Probabilities are written to MISC (ArcProb,
        LabelProb) and comments; in formats without MISC, to comments only. Certificates are written
        to comments. Of several trees of a sentence, only the first begins a document or paragraph.
        """
        names, labels = list(self.label_names), self.trees.labels
        if len(labels) and labels.min() < 0:
            labels = np.where(labels < 0, len(names), labels).astype(np.int32)
            names.append("_")
        misc: dict[str, Any] = {}
        if probabilities and self.block.layout.universal:
            misc["ArcProb"] = self.trees.arc_probabilities
            if self.trees.labels.min(initial=0) >= 0:
                misc["LabelProb"] = self.trees.label_probabilities
        if self.block.layout.universal and len(self.trees.set_sizes):
            misc["HeadSet"] = [",".join(map(str, heads)) for heads in self._head_sets()]
        text = self.block.render(
            heads=self.trees.heads, label_ids=labels, label_names=names, misc=misc,
            comments=self._comments(probabilities, certificates), sentences=self.sentences,
            forgotten=_OF_OTHER_TREES,
        )  # fmt: skip
        if self.ranks is not None:
            text = _BEGINS_AGAIN.sub(b"", text)
        if not self.block.layout.universal or not has_enhanced(self.block):
            return text
        parsed, before = self.block.reread(text), self.block if self.keeps_trees else None
        return without_enhanced(parsed, before, self.sentences)

    def to_block(self, probabilities: bool, certificates: bool = False) -> Block:
        """The same as a block again."""
        return self.block.reread(self.to_bytes(probabilities, certificates))

    def __iter__(self) -> Iterator[ParsedSentence]:
        block = self.to_block(False)
        start = 0
        figures, sets = self.trees, self._head_sets()
        for i in range(len(block)):
            end = start + block.words(i)
            yield ParsedSentence(
                block, i, block.heads[start:end], figures.arc_probabilities[start:end],
                figures.label_probabilities[start:end],
                float(figures.log_probs[i]) if len(figures.log_probs) else None,
                figures.runner_ups[start:end], figures.runner_up_probabilities[start:end],
                self.source_of(i) if len(figures.arc_probabilities) else None,
                tuple(sets[start:end]),
            )  # fmt: skip
            start = end

    def _head_sets(self) -> list[IntArray]:
        """The head sets of all words, if there are any."""
        if not len(self.trees.set_sizes):
            return []
        return np.split(self.trees.set_heads, np.cumsum(self.trees.set_sizes)[:-1])

    def source_of(self, tree: int) -> str | None:
        """Where a tree's probabilities are from, if they are not the model's exact ones."""
        if self.draws is None or not self.draws.doubtful[self.sentences[tree]]:
            return self.source
        average = f"averaged over {self.draws.count} tag sequences"
        return average if self.source is None else f"{self.source}, {average}"

    def _comments(self, probabilities: bool, certificates: bool) -> list[str] | None:
        sets = [] if self.block.layout.universal else self._head_sets()
        marked = self.trees.fallbacks.any()
        asked = probabilities or certificates or self.ranks is not None
        if not asked and not sets and not marked:
            return None
        lines = []
        start = 0
        counts = self.block.n_words[self.sentences]
        for i, count in enumerate(counts.tolist()):
            comments = [] if self.ranks is None else self._rank(i)
            if marked and self.trees.fallbacks[i]:
                comments.append(f"# arbora.fallback = {FALLBACKS[self.trees.fallbacks[i]]}")
            if certificates:
                comments += self._certificate(i)
            if (probabilities or self.ranks is not None) and len(self.trees.log_probs):
                comments.append(f"# arbora.log_prob = {self.trees.log_probs[i]:.6f}")
            source = self.source_of(i) if probabilities else None
            if source is not None:
                comments.append(f"# arbora.probabilities = {source}")
            if probabilities and not self.block.layout.universal:
                comments += self._probabilities(slice(start, start + count))
            if sets:
                texts = (",".join(map(str, heads)) for heads in sets[start : start + count])
                comments.append(f"# arbora.head_sets = {' '.join(texts)}")
            lines.append("\n".join(comments))
            start += count
        return lines

    def _rank(self, i: int) -> list[str]:
        """The rank of a tree, and a sent_id of its own if the sentence has one."""
        assert self.ranks is not None
        own = Sentence(self.block, int(self.sentences[i]), np.empty(0, np.int32)).sent_id
        identity = [] if own is None else [f"# sent_id = {own}-{self.copies}{self.ranks[i]}"]
        return [*identity, f"# arbora.rank = {self.ranks[i]}"]

    def _probabilities(self, words: slice) -> list[str]:
        """The arc and label probabilities of a sentence as comments."""
        figures = {"arc": self.trees.arc_probabilities}
        if self.trees.labels.min(initial=0) >= 0:
            figures["label"] = self.trees.label_probabilities
        return [
            f"# arbora.{name}_probabilities = "
            + " ".join(f"{value:.4f}" for value in values[words])
            for name, values in figures.items()
        ]

    def _certificate(self, i: int) -> list[str]:
        """Comments on whether the tree is the best, and on the gap if not."""
        known = len(self.trees.certified) > 0
        certified = bool(self.trees.certified[i]) if known else True
        gap = 0.0 if certified else float(self.trees.gaps[i])
        return [f"# arbora.certified = {'yes' if certified else 'no'}", f"# arbora.gap = {gap:.6g}"]


def parse_block(
    decoder: Decoder,
    block: Block,
    options: ParseOptions,
    constraints: Constraints | None = None,
    draws: TagDraws | None = None,
) -> ParsedBlock:
    """Parses every sentence of a block; with `keep_heads`, its heads are constraints.

    With `draws`, the trees' distributions are averaged over them.
    """
    model = decoder.model
    encoded = model.encoder.encode(block)
    if options.keep_heads:
        constraints = Constraints.from_annotation(block, model.labels)
    names = model.labels if constraints is None else constraints.label_names
    source = model.source_of_probabilities
    if options.kbest is None and options.samples is None:
        sentences = np.arange(len(block))
        if draws is None:
            trees = decoder(encoded, options.probabilities, constraints)
        else:
            average = Averaged(decoder, draws, decoder.can_average(options))
            trees = average(encoded, options.probabilities, constraints)
        return ParsedBlock(block, sentences, None, trees, names, source, draws, options.keep_heads)

    def search(
        sentences: NDArray[np.int64], known: Constraints | None
    ) -> tuple[ParsedTrees, NDArray[np.int64]]:
        keys = block.first_sentence + sentences
        return decoder.kbest_or_samples(encoded, sentences, options, keys, known)

    pieces = [
        found
        for sentences in decoder.pieces(encoded)
        for found in obeying(constraints, sentences, search)
    ]
    counts = np.concatenate([count for _, count in pieces])
    ranks = np.concatenate([np.arange(1, count + 1) for count in counts.tolist()])
    trees = ParsedTrees.joined([trees for trees, _ in pieces])
    repeated = np.repeat(np.arange(len(block)), counts)
    copies = "s" if options.kbest is None else "k"
    return ParsedBlock(
        block, repeated, ranks, trees, names, source, None, options.keep_heads, copies
    )


def label_block(decoder: Decoder, block: Block, heads: IntArray) -> ParsedBlock:
    """Labels the given trees of all sentences, whatever class of trees the parser finds.

    Without their arcs' probabilities: given the tree, they are 1.
    """
    model = decoder.model
    if model.options.labels == "none":
        raise ArgumentError("this model has no labels: train one without labels='none'.")
    encoded, sentences = model.encoder.encode(block), np.arange(len(block))
    best: IntArray | None = None
    given = np.ones(len(heads))
    if model.scorer.n_labels is not None and not model.n_clusters:  # joint: independent given arcs
        scores = decoder.score(encoded, sentences, Constraints.of_heads(block, heads)).summed
        cells = scores.layout.arcs(heads)
        table = softmax(scores.arcs.reshape(-1, scores.depth)[cells] / model.temperature)
        best = table.argmax(axis=1).astype(np.int32)
        given = table.max(axis=1)
    labels, of_labels = model.labeller.label(encoded, sentences, heads, best)
    trees = ParsedTrees(
        heads, labels, np.ones(len(heads)), of_labels if best is None else given, np.empty(0)
    )
    return ParsedBlock(block, sentences, None, trees, model.labels, keeps_trees=True)
