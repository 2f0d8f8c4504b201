"""CoNLL-U: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC."""

from __future__ import annotations

from arbora.data.block import CONLLU_LAYOUT
from arbora.data.formats.column_format import ColumnFormat
from arbora.data.formats.lines import Words
from arbora.data.formats.protocols import Sign
from arbora.data.formats.ten_columns import ten_column_sign

__all__ = ["CONLLU"]


def _sign(beginning: bytes) -> Sign:
    return ten_column_sign(beginning, universal=True)


def _same(words: Words) -> Words:
    return words


CONLLU = ColumnFormat(CONLLU_LAYOUT, _sign, _same, _same)
