"""All sentences of a file, or of a list, in one block, for training."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import cast

from arbora.arrays import as_list
from arbora.data.block import CONLLU_LAYOUT, Block
from arbora.data.blocks import MAX_SENTENCE_BYTES, OnError, read_blocks
from arbora.data.formats import layout_named
from arbora.data.sentence import Sentence
from arbora.data.source import ReadPath
from arbora.errors import ArgumentError, DataError

__all__ = ["TreebankSource", "is_file", "read_treebank"]

TreebankSource = ReadPath | Block | Iterable[Sentence]

_WHOLE = (1 << 31) - 1


def read_treebank(
    source: TreebankSource,
    format: str | None = None,  # noqa: A002  # the public name
    *,
    skip_bad: bool = False,
    on_error: OnError | None = None,
    trees: bool = False,
) -> Block:
    """One block with everything; options as in `read_conllu`."""
    if isinstance(source, Block):
        return source
    if not is_file(source):
        return _of_sentences(cast("Iterable[Sentence]", source))
    path = cast("ReadPath", source)
    blocks, size = [], 0
    # In pieces, so that a file that is no treebank is rejected before it is fully decompressed.
    longest = MAX_SENTENCE_BYTES
    for chunk in read_blocks(path, format, skip_bad, on_error, trees, longest, longest):
        blocks.append(chunk.block)
        size += chunk.block.size
        if size > _WHOLE:
            raise DataError("a treebank for training must have at most 2 GB", _name(source), 1)
    if len(blocks) < 2:
        return blocks[0] if blocks else Block(b"", CONLLU_LAYOUT)
    return blocks[0].reread(b"".join(block.texts(0, len(block)) for block in blocks))


def is_file(source: object) -> bool:
    """Whether it is a path or an open file, rather than sentences."""
    return isinstance(source, str | os.PathLike) or hasattr(source, "read")


def _of_sentences(sentences: Iterable[Sentence]) -> Block:
    texts, layouts = [], {}
    for sentence in as_list(sentences, "sentences must be a path, an open file or a list"):
        if not isinstance(sentence, Sentence):
            raise ArgumentError(
                f"a treebank must be a list of Sentence, not of {type(sentence).__name__}."
            )
        text = bytes(sentence)
        texts.append(text if text.endswith(b"\n\n") else text.rstrip(b"\r\n") + b"\n\n")
        layouts[sentence.format] = layout_named(sentence.format)
    if len(layouts) > 1:
        raise ArgumentError("the sentences are in two formats; convert them to one.")
    return Block(b"".join(texts), *layouts.values() or (CONLLU_LAYOUT,))


def _name(source: object) -> str:
    return str(getattr(source, "name", source))
