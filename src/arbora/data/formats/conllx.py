"""CoNLL-X (2006, 2007): ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL PHEAD PDEPREL.

PHEAD and PDEPREL are a projective tree beside the tree of HEAD and DEPREL.
"""

from __future__ import annotations

from arbora.data.block import Layout
from arbora.data.formats.column_format import ColumnFormat
from arbora.data.formats.lines import DEPS, ID, MISC, UPOS, XPOS, Items, Row, Words
from arbora.data.formats.protocols import Sign
from arbora.data.formats.ten_columns import ten_column_sign

__all__ = ["CONLLX"]

_ITEMS = ("ProjHead", "ProjDeprel")

_LAYOUT = Layout(
    "conllx", "CoNLL-X",
    ["ID", "FORM", "LEMMA", "CPOSTAG", "POSTAG", "FEATS", "HEAD", "DEPREL", "PHEAD", "PDEPREL"],
)  # fmt: skip


def _sign(beginning: bytes) -> Sign:
    return ten_column_sign(beginning, universal=False)


def _to_conllu(words: Words) -> Words:
    rows: list[Row] = []
    coarse = any(row[UPOS] != "_" for row in words.rows)
    for row in words.rows:
        items = Items()
        if not coarse and row[XPOS] != "_":
            items.put("CPos", "_")  # so that the reverse conversion does not invent one
        for key, value in zip(_ITEMS, row[DEPS:], strict=True):
            if value != "_":
                items.put(key, value.strip(" "))
        rows.append([*(value.strip(" ") for value in row[:DEPS]), "_", str(items)])
    return Words(rows, words.others)


def _from_conllu(words: Words) -> Words:
    # Tools for CoNLL-X expect a coarse tag; where there is none it is the fine one.
    coarse = UPOS if any(row[UPOS] != "_" for row in words.rows) else XPOS
    rows: list[Row] = []
    for row in words.rows:
        items = Items(row[MISC])
        coarse_tag = items.take("CPos") or row[coarse]
        projective = [items.take(key) or "_" for key in _ITEMS]
        rows.append([*row[ID:UPOS], coarse_tag, *row[XPOS:DEPS], *projective])
    return Words(rows)


CONLLX = ColumnFormat(_LAYOUT, _sign, _to_conllu, _from_conllu)
