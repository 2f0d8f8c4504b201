"""Parsed blocks: trees written into their sentences, with what was asked for beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block, Sentence
from arbora.data.whole import block_from_bytes
from arbora.errors import ArgumentError
from arbora.features import Encoded
from arbora.inference.packed import Packed
from arbora.parsers.decoding import BlockDecoder, Decoded
from arbora.parsers.lengths import LONGEST_SENTENCE
from arbora.parsers.settings import Decoder, is_whole
from arbora.training.labeller import softmax
from arbora.types import FloatArray, IntArray, TreeClass

__all__ = ["ParseOptions", "ParsedBlock", "ParsedSentence", "parse_block"]

# What an earlier parse said of its own tree, in comments and in MISC.
_OF_OTHER_TREES = [
    "arbora.rank", "arbora.certified", "arbora.gap", "arbora.log_prob",
    "arbora.arc_probabilities", "arbora.label_probabilities", "ArcProb", "LabelProb",
]  # fmt: skip


@dataclass(frozen=True)
class ParseOptions:
    """How to parse. `kbest` and `samples` repeat every sentence with a tree each.

    `certificates` says in comments whether a tree is certainly the best. A sentence of more than
    `max_words` words is refused: time grows with the cube of its length, memory with the square.
    """

    decode: Decoder | None = None
    trees: TreeClass | None = None
    probabilities: bool = False
    kbest: int | None = None
    samples: int | None = None
    seed: int = 0
    certificates: bool = False
    max_words: int = LONGEST_SENTENCE

    @classmethod
    def checked(cls, **options: Any) -> ParseOptions:
        """The same from options whose names nobody has checked."""
        for name in options:
            if name not in cls.__dataclass_fields__:
                known = ", ".join(cls.__dataclass_fields__)
                raise ArgumentError(f"parsing has no option {name!r}; the options are {known}.")
        return cls(**options)

    def __post_init__(self) -> None:
        for name, choices in (("decode", get_args(Decoder)), ("trees", get_args(TreeClass))):
            value = getattr(self, name)
            if not isinstance(value, str | None) or value not in (None, *choices):
                raise ArgumentError(f"{name} is one of {', '.join(choices)}, not {value!r}.")
        if not is_whole(self.seed) or not 0 <= self.seed < 1 << 63:
            raise ArgumentError(f"seed is a whole number from 0 to 2^63 - 1, not {self.seed!r}.")
        if self.kbest is not None and self.samples is not None:
            raise ArgumentError("kbest and samples are two different lists of trees: choose one.")
        if self.certificates and (self.kbest is not None or self.samples is not None):
            raise ArgumentError(
                "certificates say that a tree is the best: leave kbest and samples out."
            )
        if not is_whole(self.max_words) or self.max_words < 1:
            raise ArgumentError(f"max_words is a number of words, not {self.max_words!r}.")
        for name in ("kbest", "samples"):
            value = getattr(self, name)
            if value is not None and (not is_whole(value) or value < 1):
                raise ArgumentError(f"{name} is a number of trees, at least 1, not {value!r}.")


class ParsedSentence(Sentence):
    """A sentence with the tree that a parser gave it.

    `arc_probabilities` and `label_probabilities` (of the label given the arc) have one number per
    word; `log_prob` is that of the whole tree with its labels. Without probabilities the arrays
    are empty and `log_prob` is None.
    """

    __slots__ = ("arc_probabilities", "label_probabilities", "log_prob")

    def __init__(
        self,
        block: Block,
        index: int,
        heads: IntArray,
        arc_probabilities: FloatArray,
        label_probabilities: FloatArray,
        log_prob: float | None,
    ) -> None:
        super().__init__(block, index, heads)
        self.arc_probabilities = arc_probabilities
        self.label_probabilities = label_probabilities
        self.log_prob = log_prob

    def __reduce__(self) -> tuple[Any, ...]:
        return _parsed_sentence, (
            bytes(self), self.format, self.arc_probabilities, self.label_probabilities,
            self.log_prob,
        )  # fmt: skip


def _parsed_sentence(text: bytes, file_format: Any, *figures: Any) -> ParsedSentence:
    block = block_from_bytes(text, file_format)
    return ParsedSentence(block, 0, block.heads, *figures)


@dataclass(frozen=True)
class ParsedBlock:
    """Sentences of a block (some of them several times) with their trees."""

    block: Block
    sentences: NDArray[np.int64]  # which sentence of the block each tree is of
    ranks: NDArray[np.int64] | None  # of k-best lists and samples
    trees: Decoded
    label_names: tuple[str, ...]

    def to_bytes(self, probabilities: bool, certificates: bool = False) -> bytes:
        """The block with HEAD and DEPREL replaced, and nothing else changed.

        What an earlier parse wrote of its own trees is left out.
        Probabilities go into MISC (ArcProb, LabelProb) and into comments; a file of CoNLL-X, which
        has no MISC, gets them as comments. Certificates go into comments.
        """
        names, labels = list(self.label_names), self.trees.labels
        if len(labels) and labels.min() < 0:
            names, labels = ["_"], np.zeros_like(labels)
        misc: dict[str, Any] = {}
        if probabilities and self.block.format == 0:
            misc["ArcProb"] = self.trees.arc_probabilities
            if self.trees.labels.min(initial=0) >= 0:
                misc["LabelProb"] = self.trees.label_probabilities
        return self.block.render(
            heads=self.trees.heads, label_ids=labels, label_names=names, misc=misc,
            comments=self._comments(probabilities, certificates), sentences=self.sentences,
            forgotten=_OF_OTHER_TREES,
        )  # fmt: skip

    def __iter__(self) -> Iterator[ParsedSentence]:
        block = block_from_bytes(self.to_bytes(False), "conllx" if self.block.format else "conllu")
        start = 0
        figures = self.trees
        for i in range(len(block)):
            end = start + block.words(i)
            yield ParsedSentence(
                block, i, block.heads[start:end], figures.arc_probabilities[start:end],
                figures.label_probabilities[start:end],
                float(figures.log_probs[i]) if len(figures.log_probs) else None,
            )  # fmt: skip
            start = end

    def _comments(self, probabilities: bool, certificates: bool) -> list[str] | None:
        if self.ranks is None and not probabilities and not certificates:
            return None
        lines = []
        start = 0
        counts = self.block.n_words[self.sentences]
        for i, count in enumerate(counts.tolist()):
            comments = [] if self.ranks is None else [f"# arbora.rank = {self.ranks[i]}"]
            if certificates:
                comments += self._certificate(i)
            if len(self.trees.log_probs):
                comments.append(f"# arbora.log_prob = {self.trees.log_probs[i]:.6f}")
            if probabilities and self.block.format == 1:
                comments += self._probabilities(slice(start, start + count))
            lines.append("\n".join(comments))
            start += count
        return lines

    def _probabilities(self, words: slice) -> list[str]:
        """The probabilities of a sentence as comments: of its arcs and, if it has them, labels."""
        figures = {"arc": self.trees.arc_probabilities}
        if self.trees.labels.min(initial=0) >= 0:
            figures["label"] = self.trees.label_probabilities
        return [
            f"# arbora.{name}_probabilities = "
            + " ".join(f"{value:.4f}" for value in values[words])
            for name, values in figures.items()
        ]

    def _certificate(self, i: int) -> list[str]:
        """Whether no tree is better, and by how much one may be; first-order decoding is exact."""
        known = len(self.trees.certified) > 0
        certified = bool(self.trees.certified[i]) if known else True
        gap = 0.0 if certified else float(self.trees.gaps[i])
        return [f"# arbora.certified = {'yes' if certified else 'no'}", f"# arbora.gap = {gap:.6g}"]


def parse_block(
    decoder: BlockDecoder, block: Block, options: ParseOptions, first: int = 0
) -> ParsedBlock:
    """Parses every sentence of a block, the first of which has this number in its file."""
    model = decoder.model
    encoded = Encoded(block, model.features, model.word_clusters)
    if options.kbest is None and options.samples is None:
        sentences = np.arange(len(block))
        trees = decoder(encoded, options.probabilities)
        return ParsedBlock(block, sentences, None, trees, model.labels)
    return _many_trees(decoder, block, encoded, options, first)


def _many_trees(
    decoder: BlockDecoder, block: Block, encoded: Encoded, options: ParseOptions, first: int
) -> ParsedBlock:
    """k-best lists or samples: every sentence as often as it has trees."""
    counts, parts = [], []
    for sentences in decoder.pieces(encoded):
        heads, labels, lengths = _lists_of_trees(decoder, encoded, sentences, options, first)
        counts.append(lengths)
        uniforms = _uniforms(encoded.n_words[sentences], first + sentences, options)
        parts.append(_with_labels(decoder, encoded, sentences, heads, labels, lengths, uniforms))
    all_counts = np.concatenate(counts)
    ranks = np.concatenate([np.arange(1, count + 1) for count in all_counts.tolist()])
    return ParsedBlock(
        block, np.repeat(np.arange(len(block)), all_counts), ranks, Decoded.joined(parts),
        decoder.model.labels,
    )  # fmt: skip


def _lists_of_trees(
    decoder: BlockDecoder,
    encoded: Encoded,
    sentences: NDArray[np.int64],
    options: ParseOptions,
    first: int,
) -> tuple[IntArray, IntArray | None, NDArray[np.int64]]:
    """Heads of all trees of the sentences, labels for joint models, and how many trees each has.

    Draws are keyed by a sentence's number in its file, so that blocks and pieces do not matter.
    """
    second_order = decoder.second_order_trees(
        encoded, sentences, options.kbest, options.samples or 1, options.seed, first + sentences
    )
    if second_order is not None:
        return second_order[0], None, second_order[1]
    temperature = decoder.model.temperature if options.samples is not None else 1.0
    best_cluster = decoder.decode == "max-z" and options.kbest is not None
    trees = decoder.distribution(encoded, sentences, temperature, best_cluster=best_cluster)
    if options.kbest is not None:
        found = trees.kbest(options.kbest)
        heads = [tree.heads for one in found for tree in one]
        labels = [tree.labels for one in found for tree in one if tree.labels is not None]
        counts = np.array([len(one) for one in found], dtype=np.int64)
    else:
        keyed = _keyed_by(trees, first + sentences)
        drawn = keyed.sample(options.samples or 1, options.seed)
        heads = [rows.reshape(-1) for rows, _ in drawn]
        labels = [rows.reshape(-1) for _, rows in drawn if rows is not None]
        counts = np.full(len(sentences), options.samples or 1, dtype=np.int64)
    return np.concatenate(heads), np.concatenate(labels) if labels else None, counts


def _keyed_by(trees: Packed, sentences: NDArray[np.int64]) -> Packed:
    return Packed(
        trees.flat, trees.n_words, trees.n_labels, trees.trees, trees.root, trees.threads, sentences
    )


def _with_labels(
    decoder: BlockDecoder,
    encoded: Encoded,
    sentences: NDArray[np.int64],
    heads: IntArray,
    labels: IntArray | None,
    counts: NDArray[np.int64],
    uniforms: FloatArray | None,
) -> Decoded:
    """The trees with labels: their best ones, or those that uniform numbers draw."""
    given_arc = None
    if labels is None:
        scores = decoder.label_scores(encoded, np.repeat(sentences, counts), heads)
        if scores is None:
            labels = np.full(len(heads), -1, dtype=np.int32)
        else:
            given = softmax(scores)
            chosen = scores.argmax(axis=1) if uniforms is None else _drawn(given, uniforms)
            labels = np.asarray(chosen, dtype=np.int32)
            given_arc = given[np.arange(len(labels)), labels]
    return decoder.with_probabilities(encoded, sentences, heads, labels, given_arc, counts)


def _drawn(given: FloatArray, uniforms: FloatArray) -> NDArray[np.int64]:
    """The labels that uniform numbers choose, one per word."""
    below = np.cumsum(given, axis=1) <= uniforms[:, None]
    return np.asarray(np.minimum(below.sum(axis=1), given.shape[1] - 1))


def _uniforms(
    n_words: NDArray[np.int64], numbers: NDArray[np.int64], options: ParseOptions
) -> FloatArray | None:
    """For draws: a number in [0, 1) for each word's label, keyed by (seed, sentence, draw)."""
    if options.samples is None:
        return None
    streams = [
        np.random.default_rng([options.seed, number, draw]).random(n)
        for n, number in zip(n_words.tolist(), numbers.tolist(), strict=True)
        for draw in range(options.samples)
    ]
    return np.concatenate(streams)
