"""The interface of stages, which fill in columns of sentences."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from arbora.data.block import Block

__all__ = ["Stage"]


@runtime_checkable
class Stage(Protocol):
    """Sentences in, the same sentences out with some columns filled in.

    A parser is one: called with a block it returns a block with heads and labels. Stages can be
    called one after the other. A stage keeps all other columns byte for byte, as
    `Block.with_columns` does. A stage may return a sentence several times (k best trees).
    """

    def __call__(self, block: Block, /) -> Block: ...
