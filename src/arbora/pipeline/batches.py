"""Several texts at a time: the stages and the parser are called once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.data.block import CONLLU_LAYOUT
from arbora.models.output import ParsedBlock, ParsedSentence
from arbora.pipeline.document import Document
from arbora.segmentation import Segmented

__all__ = ["SegmentedText", "joined", "separate"]


@dataclass(frozen=True)
class SegmentedText:
    """A text and its sentences."""

    text: str
    found: Segmented

    @property
    def n_sentences(self) -> int:
        """The number of sentences; 0 for a text without words."""
        return len(self.found.block)


def joined(texts: Sequence[SegmentedText]) -> Block:
    """The sentences of all texts, which must have some."""
    blocks = [one.found.block for one in texts if one.n_sentences]
    if len(blocks) == 1:
        return blocks[0]
    return Block(b"".join(block.texts(0, len(block)) for block in blocks), CONLLU_LAYOUT)


def separate(texts: Sequence[SegmentedText], parsed: ParsedBlock | None) -> Iterator[Document]:
    """The documents of the texts, from the parse of what `joined` made of them.

    The sentences are as if each text had been parsed alone.
    """
    sentences = iter(()) if parsed is None else iter(parsed)
    for one in texts:
        own = [next(sentences) for _ in range(one.n_sentences)]
        yield Document(one.text, tuple(_alone(own)), _places(one.found))


def _alone(sentences: Sequence[ParsedSentence]) -> Iterable[ParsedSentence]:
    """The same sentences in a block of their own, so that they are counted from its beginning."""
    if not sentences:
        return ()
    block = Block(b"".join(map(bytes, sentences)), CONLLU_LAYOUT)
    ends = np.cumsum(block.n_words)
    return [
        ParsedSentence(
            block, i, block.heads[ends[i] - len(one) : ends[i]], one.arc_probabilities,
            one.label_probabilities, one.log_prob, one.runner_ups, one.runner_up_probabilities,
            one.source_of_probabilities, one.head_sets,
        )
        for i, one in enumerate(sentences)
    ]  # fmt: skip


def _places(found: Segmented) -> tuple[NDArray[np.int64], ...]:
    """For each sentence, the start and end of its words in the text."""
    if not len(found.block):
        return ()
    tokens = np.repeat(np.arange(len(found.starts)), found.n_words)
    both = np.stack([found.starts[tokens], found.ends[tokens]], axis=1)
    return tuple(np.split(both, np.cumsum(found.block.n_words)[:-1]))
