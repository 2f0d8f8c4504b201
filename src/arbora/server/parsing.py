"""Work for the threads: texts of several requests parsed at once, piece by piece."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arbora.data import Block, TextJoiner
from arbora.data.blocks import read_blocks
from arbora.data.treebank import read_treebank
from arbora.errors import ArboraError, ArgumentError, TooLargeError
from arbora.models.decoding import Decoder
from arbora.models.output import ParsedBlock, parse_block
from arbora.names import Root
from arbora.options import ParseOptions
from arbora.pipeline import Pipeline
from arbora.server.metrics import Metrics
from arbora.server.models import with_root

__all__ = ["Parse", "one_sentence", "parse_together", "sentence_blocks", "text_block"]

_PIECE = 1 << 16  # bytes of sentences that are parsed at once


@dataclass(frozen=True)
class Parse:
    """How some sentences are parsed; requests that agree in it are parsed together.

    `tag` and `parse` say which stages run, as in UDPipe: tags are replaced with `retag`.
    """

    pipeline: Pipeline
    options: ParseOptions
    root: Root | None = None
    tag: bool = True
    parse: bool = True

    def __call__(self, block: Block) -> ParsedBlock | Block:
        """The block with trees, or with tags only, or as it is."""
        if not self.parse:
            how = ParseOptions(retag=self.options.retag, allow_missing=True)
            return self.pipeline.prepare(block, how) if self.tag else block
        model = with_root(self.pipeline.model, self.root)
        decoder = Decoder.for_options(model, self.pipeline.threads, self.options)
        return parse_block(decoder, self.pipeline.prepare(block, self.options), self.options)


def text_block(pipeline: Pipeline, text: str, *, ranges: bool = False) -> Block:
    """The sentences of a text."""
    if pipeline.segmenter is None:
        raise ArgumentError("this model takes no text, because it has no segmenter: send CoNLL-U.")
    return pipeline.segmenter.segment(text, ranges=ranges).block


def sentence_blocks(text: str, file_format: str | None = None) -> Iterator[Block]:
    """The sentences of a text in some format, which is recognised unless it is given."""
    for chunk in read_blocks(io.BytesIO(text.encode()), file_format, chunk_size=_PIECE):
        yield chunk.block


def one_sentence(text: str, max_words: int) -> Block:
    """The block of a text that has one sentence."""
    block = read_treebank(io.BytesIO(text.encode()))
    if len(block) != 1:
        raise ArgumentError(f"this has {len(block)} sentences: send one at a time.")
    check_words(block, max_words)
    return block


def check_words(block: Block, limit: int) -> None:
    """Refuses sentences that are too long."""
    if len(block) and int(block.n_words.max()) > limit:
        raise TooLargeError(
            f"a sentence has {int(block.n_words.max()):,} words, and the limit is {limit:,}: split "
            "it, or start the server with a larger --max-words."
        )


def parse_together(
    how: Parse,
    blocks: Sequence[Sequence[Block]],
    answer: Callable[[ParsedBlock | Block], Sequence[Any]],
    check: Callable[[], None],
    metrics: Metrics,
) -> list[list[Any] | ArboraError]:
    """For each request the answers for its sentences, from blocks of all requests together.

    `answer` makes a list with one entry per sentence of what was parsed. If sentences of one
    request cannot be parsed, each request is parsed alone.
    """
    counts = [sum(len(block) for block in own) for own in blocks]
    every = [block for own in blocks for block in own if len(block)]
    try:
        made = _parsed(how, every, answer, check, metrics)
    except ArboraError as error:
        if len(blocks) == 1:
            return [error]
        return [parse_together(how, [own], answer, check, metrics)[0] for own in blocks]
    ends = np.cumsum(counts).tolist()
    return [made[end - count : end] for end, count in zip(ends, counts, strict=True)]


def _parsed(
    how: Parse,
    blocks: Sequence[Block],
    answer: Callable[[ParsedBlock | Block], Sequence[Any]],
    check: Callable[[], None],
    metrics: Metrics,
) -> list[Any]:
    made: list[Any] = []
    for block in _pieces(blocks):
        check()
        made += answer(how(block))
        metrics.count("arbora_sentences_total", len(block))
        metrics.count("arbora_words_total", int(block.n_words.sum()))
        time.sleep(0)  # lets the event loop have the interpreter
    return made


def _pieces(blocks: Sequence[Block]) -> Iterator[Block]:
    """Small blocks joined and large ones cut, so that neither costs too much."""
    if not blocks:
        return
    join, waiting, size, layout = TextJoiner(), list[bytes](), 0, blocks[0].layout
    for block in blocks:
        for first, last in _cuts(block):
            text = block.texts(first, last)
            if waiting and (size + len(text) > _PIECE or block.layout.name != layout.name):
                yield Block(b"".join(waiting), layout)
                join, waiting, size = TextJoiner(), [], 0
            layout = block.layout
            waiting.append(join(text))
            size += len(text)
    yield Block(b"".join(waiting), layout)


def _cuts(block: Block) -> Iterator[tuple[int, int]]:
    """Ranges of sentences of about the size of a piece."""
    words = np.cumsum(block.n_words)
    step = _PIECE // 60  # words
    first = 0
    while first < len(block):
        before = int(words[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(words, before + step, side="right")))
        yield first, last
        first = last
