"""Parsed sentences: trees with their probabilities, log-probabilities and certificates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block, Sentence
from arbora.data.formats import layout_named
from arbora.models.decoding import Decoder, ParsedTrees
from arbora.options import ParseOptions
from arbora.types import FloatArray, IntArray

__all__ = ["ParsedBlock", "ParsedSentence", "ParserStage", "parse_block"]

# Comments and MISC entries that an earlier parse wrote.
_OF_OTHER_TREES = [
    "arbora.rank", "arbora.certified", "arbora.gap", "arbora.log_prob",
    "arbora.arc_probabilities", "arbora.label_probabilities", "ArcProb", "LabelProb",
]  # fmt: skip


class ParsedSentence(Sentence):
    """A sentence with a tree from a parser.

    `arc_probabilities` and `label_probabilities` (of the label given the arc) have one number per
    word. `log_prob` is the log-probability of the labelled tree. If probabilities were not
    computed, the arrays are empty and `log_prob` is None.
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

    def to_bytes(self, probabilities: bool, certificates: bool = False) -> bytes:
        """The block with HEAD and DEPREL replaced, and nothing else changed.

        Comments and MISC entries of an earlier parse are removed. Probabilities are written to
        MISC (ArcProb, LabelProb) and comments; in formats without MISC, to comments only.
        Certificates are written to comments.
        """
        names, labels = list(self.label_names), self.trees.labels
        if len(labels) and labels.min() < 0:
            names, labels = ["_"], np.zeros_like(labels)
        misc: dict[str, Any] = {}
        if probabilities and self.block.layout.universal:
            misc["ArcProb"] = self.trees.arc_probabilities
            if self.trees.labels.min(initial=0) >= 0:
                misc["LabelProb"] = self.trees.label_probabilities
        return self.block.render(
            heads=self.trees.heads, label_ids=labels, label_names=names, misc=misc,
            comments=self._comments(probabilities, certificates), sentences=self.sentences,
            forgotten=_OF_OTHER_TREES,
        )  # fmt: skip

    def to_block(self, probabilities: bool, certificates: bool = False) -> Block:
        """The same as a block again."""
        return self.block.reread(self.to_bytes(probabilities, certificates))

    def __iter__(self) -> Iterator[ParsedSentence]:
        block = self.to_block(False)
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
            if probabilities and not self.block.layout.universal:
                comments += self._probabilities(slice(start, start + count))
            lines.append("\n".join(comments))
            start += count
        return lines

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


def parse_block(decoder: Decoder, block: Block, options: ParseOptions) -> ParsedBlock:
    """Parses every sentence of a block."""
    model = decoder.model
    encoded = model.encoder.encode(block)
    if options.kbest is None and options.samples is None:
        sentences = np.arange(len(block))
        trees = decoder(encoded, options.probabilities)
        return ParsedBlock(block, sentences, None, trees, model.labels)
    pieces = [
        decoder.kbest_or_samples(encoded, sentences, options, block.first_sentence + sentences)
        for sentences in decoder.pieces(encoded)
    ]
    counts = np.concatenate([count for _, count in pieces])
    ranks = np.concatenate([np.arange(1, count + 1) for count in counts.tolist()])
    trees = ParsedTrees.joined([trees for trees, _ in pieces])
    return ParsedBlock(block, np.repeat(np.arange(len(block)), counts), ranks, trees, model.labels)


@dataclass(frozen=True)
class ParserStage:
    """A parser with its options as a `Stage`: HEAD and DEPREL of a block are replaced.

    Probabilities, ranks and certificates are written beside them if the options ask for them.
    """

    decoder: Decoder
    options: ParseOptions

    def __call__(self, block: Block, /) -> Block:
        """The block with trees; one without sentences stays as it is."""
        if not len(block):
            return block
        parsed = parse_block(self.decoder, block, self.options)
        return parsed.to_block(self.options.probabilities, self.options.certificates)
