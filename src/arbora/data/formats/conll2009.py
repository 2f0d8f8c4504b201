"""CoNLL-2009: gold columns, each with a predicted one beside it, and semantic roles.

ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED APRED1 ...

Lemmas, tags and features are read from the predicted columns, which are all that a parser has on
new text, or from the gold columns in sentences without predicted ones. Trees are read from HEAD and
DEPREL and written there, where the scorer of the shared task reads them.
"""

from __future__ import annotations

from arbora.data.block import Layout
from arbora.data.formats.column_format import ColumnFormat, columns_of, word_rows
from arbora.data.formats.lines import (
    DEPREL,
    FEATS,
    FORM,
    HEAD,
    ID,
    LEMMA,
    MISC,
    XPOS,
    Items,
    Row,
    Words,
    tags_of,
)  # fmt: skip
from arbora.data.formats.predicates import put_predicates, take_predicates
from arbora.data.formats.protocols import Sign

__all__ = ["CONLL2009"]

_COLUMNS = [
    "ID", "FORM", "LEMMA", "PLEMMA", "POS", "PPOS", "FEAT", "PFEAT", "HEAD", "PHEAD", "DEPREL",
    "PDEPREL", "FILLPRED", "PRED",
]  # fmt: skip
_HEAD, _PHEAD, _DEPREL, _PDEPREL, _FILLPRED, _PRED = range(8, 14)
_APREDS = 14
# Gold column, column of CoNLL-U, item of a prediction that differs, item of a missing gold value.
_PAIRS = (
    (2, LEMMA, "PLemma", "GoldLemma"), (4, XPOS, "PPos", "GoldPos"), (6, FEATS, "PFeat", "GoldFeat")
)  # fmt: skip

_LAYOUT = Layout(
    "conll2009", "CoNLL-2009", _COLUMNS, further="APRED",
    places=[0, 1, 3, -1, 5, 7, 8, 10, -1, -1],
    substitutes=[-1, -1, 2, -1, 4, 6, -1, -1, -1, -1],
)  # fmt: skip


def _sign(beginning: bytes) -> Sign:
    """Enough columns, numbers in HEAD and PHEAD and nothing but Y in FILLPRED.

    It is certain if there is a PHEAD, a Y, or a DEPREL for every HEAD.
    """
    if columns_of(beginning) < _APREDS:
        return Sign.no
    rows = [row for sentence in word_rows(beginning) for row in sentence]
    if not rows or min(map(len, rows)) < _APREDS:
        return Sign.no
    numbers = all((row[at] == b"_" or row[at].isdigit()) for row in rows for at in (_HEAD, _PHEAD))
    if not numbers or any(row[_FILLPRED] not in {b"_", b"-", b"Y"} for row in rows):
        return Sign.no
    attached = [row for row in rows if row[_HEAD] != b"_"]
    labelled = bool(attached) and all(row[_DEPREL] != b"_" for row in attached)
    marked = any(row[_PHEAD] != b"_" or row[_FILLPRED] == b"Y" for row in rows)
    return Sign.certain if labelled or marked else Sign.possible


def _to_conllu(words: Words) -> Words:
    misc = [Items() for _ in words.rows]
    rows: list[Row] = [["_"] * MISC for _ in words.rows]
    for row, new in zip(words.rows, rows, strict=True):
        new[ID], new[FORM], new[HEAD], new[DEPREL] = row[ID], row[FORM], row[_HEAD], row[_DEPREL]
    for gold, column, predicted_item, missing_item in _PAIRS:
        blind = all(row[gold] == "_" for row in words.rows)
        for row, new, items in zip(words.rows, rows, misc, strict=True):
            value, predicted = row[gold].strip(" "), row[gold + 1].strip(" ")
            new[column] = predicted if blind else value
            if blind and predicted != "_":
                items.put(missing_item, "_")
            elif value != predicted:
                items.put(predicted_item, predicted)
    for row, items in zip(words.rows, misc, strict=True):
        for key, value in (("PHead", row[_PHEAD]), ("PDeprel", row[_PDEPREL])):
            if value != "_":
                items.put(key, value.strip(" "))
        if row[_FILLPRED] != _fillpred(row[_PRED]):
            items.put("FillPred", row[_FILLPRED].strip(" "))
    predicates = [row[_PRED].strip(" ") for row in words.rows]
    arguments = [[value.strip(" ") for value in row[_APREDS:]] for row in words.rows]
    put_predicates(predicates, arguments, misc)
    return Words([[*new, str(items)] for new, items in zip(rows, misc, strict=True)])


def _from_conllu(words: Words) -> Words:
    misc = [Items(row[MISC]) for row in words.rows]
    predicates, arguments = take_predicates(misc)
    tags = tags_of(words)
    rows: list[Row] = []
    for i, (row, items, pred) in enumerate(zip(words.rows, misc, predicates, strict=True)):
        new = ["_"] * _APREDS
        new[ID], new[FORM], new[_HEAD], new[_DEPREL] = row[ID], row[FORM], row[HEAD], row[DEPREL]
        for gold, column, predicted_item, missing_item in _PAIRS:
            value = tags[i] if column == XPOS else row[column]
            missing = items.take(missing_item)
            new[gold] = value if missing is None else missing
            new[gold + 1] = items.take(predicted_item) or value
        new[_PHEAD] = items.take("PHead") or "_"
        new[_PDEPREL] = items.take("PDeprel") or "_"
        new[_PRED] = pred
        new[_FILLPRED] = items.take("FillPred") or _fillpred(pred)
        rows.append(new + arguments[i])
    return Words(rows)


def _fillpred(predicate: str) -> str:
    """FILLPRED marks the predicates."""
    return "_" if predicate == "_" else "Y"


CONLL2009 = ColumnFormat(_LAYOUT, _sign, _to_conllu, _from_conllu)
