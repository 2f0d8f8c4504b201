"""CoNLL-U: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC."""

from __future__ import annotations

from arbora._core import data as _core
from arbora.data.block import CONLLU_LAYOUT
from arbora.data.formats.column_format import ColumnFormat, columns_of
from arbora.data.formats.lines import Words
from arbora.data.formats.protocols import Sign

__all__ = ["CONLLU"]


def _sign(beginning: bytes) -> Sign:
    """The rule is written in the core's `block.hpp` and in docs/treebanks.md."""
    if columns_of(beginning) != 10:
        return Sign.no
    universal, certain = _core.guess_format(beginning)
    return Sign.no if not universal else Sign.certain if certain else Sign.possible


def _same(words: Words) -> Words:
    return words


CONLLU = ColumnFormat(CONLLU_LAYOUT, _sign, _same, _same)
