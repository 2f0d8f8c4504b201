"""All sentences of a file, or of a list, in one block, for training."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from arbora.arrays import as_list
from arbora.data.block import CONLLU_LAYOUT, Block
from arbora.data.blocks import MAX_SENTENCE_BYTES, OnError, read_blocks
from arbora.data.folders import treebank_name
from arbora.data.formats import layout_named
from arbora.data.sentence import Sentence
from arbora.data.source import ReadPath, source_name
from arbora.errors import ArgumentError, DataError

__all__ = ["TreebankSource", "is_file", "read_treebank", "several_files", "sources_of"]

TreebankSource = ReadPath | Sequence[ReadPath] | Block | Iterable[Sentence]

_WHOLE = (1 << 31) - 1
_SOURCE = "# arbora.source = "
_SOURCE_LINE = re.compile(rb"^# *arbora\.source *= *(\S.*?)\s*$", re.MULTILINE)


def read_treebank(
    source: TreebankSource,
    format: str | None = None,  # noqa: A002  # the public name
    *,
    skip_bad: bool = False,
    on_error: OnError | None = None,
    trees: bool = False,
) -> Block:
    """One block with everything; options as in `read_conllu`.

    Several files are joined: each CoNLL-U sentence gets the comment `# arbora.source = NAME` with
    the name of its file (`treebank_name`), unless it has such a comment.
    """
    if isinstance(source, Block):
        return source
    if (files := several_files(source)) is not None:
        reading = {"skip_bad": skip_bad, "on_error": on_error, "trees": trees}
        return _joined(files, [read_treebank(one, format, **reading) for one in files])  # type: ignore[arg-type]  # the same keywords
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
            raise DataError("a treebank for training must have at most 2 GB", source_name(path), 1)
    if len(blocks) < 2:
        return blocks[0] if blocks else Block(b"", CONLLU_LAYOUT)
    return blocks[0].reread(b"".join(block.texts(0, len(block)) for block in blocks))


def several_files(source: object) -> list[ReadPath] | None:
    """The files of a list of paths or open files; None for anything else."""
    if not isinstance(source, list | tuple) or not source or not all(map(is_file, source)):
        return None
    return list(source)


def _joined(files: list[ReadPath], blocks: list[Block]) -> Block:
    """All sentences, with their sources."""
    first = blocks[0]
    for file, block in zip(files, blocks, strict=True):
        if block.layout.name != first.layout.name and len(block):
            raise ArgumentError(
                f"{source_name(files[0])} is {first.layout.title} and {source_name(file)} is "
                f"{block.layout.title}: convert them to one format."
            )
    if len(files) == 1:
        return first
    return first.reread(b"".join(map(_with_source, files, blocks)))


def _with_source(file: ReadPath, block: Block) -> bytes:
    if not block.layout.universal:
        return _complete(block.texts(0, len(block)))
    name = treebank_name(file) if isinstance(file, str | os.PathLike) and file != "-" else ""
    name = "".join(c if c.isprintable() else "?" for c in name)
    sources = sources_of(block, np.arange(len(block)))
    line = f"{_SOURCE}{name}\n".encode(errors="replace") if name else b""
    return b"".join(
        (line if source is None else b"") + _complete(block.texts(i, i + 1)).lstrip(b"\r\n")
        for i, source in enumerate(sources)
    )


def _complete(text: bytes) -> bytes:
    """The sentences with a blank line at their end."""
    return text if text.endswith(b"\n\n") or not text else text.rstrip(b"\r\n") + b"\n\n"


def sources_of(block: Block, sentences: NDArray[np.int64]) -> list[str | None]:
    """The sources of some sentences, from their comments `# arbora.source = NAME`."""
    if not block.layout.universal:
        return [None] * len(sentences)
    found = (_SOURCE_LINE.search(block.texts(i, i + 1)) for i in sentences.tolist())
    return [None if one is None else one[1].decode(errors="replace") for one in found]


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
        texts.append(_complete(text))
        layouts[sentence.format] = layout_named(sentence.format)
    if len(layouts) > 1:
        raise ArgumentError("the sentences are in two formats; convert them to one.")
    return Block(b"".join(texts), *layouts.values() or (CONLLU_LAYOUT,))
