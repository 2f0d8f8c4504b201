"""CoNLL-2008: tokens that are split into words, and semantic roles.

ID FORM LEMMA GPOS PPOS SPLIT_FORM SPLIT_LEMMA PPOSS HEAD DEPREL PRED ARG1 ...

The words are in SPLIT_FORM, SPLIT_LEMMA and PPOSS. FORM, LEMMA, GPOS and PPOS describe the token
before it was split; they stand on the line of its first word, and its other words have `_` there.
Such a token is a multiword token in CoNLL-U.
"""

from __future__ import annotations

from arbora.data.block import Layout
from arbora.data.formats.column_format import ColumnFormat, columns_of, word_rows
from arbora.data.formats.lines import (
    DEPREL,
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

__all__ = ["CONLL2008"]

_COLUMNS = [
    "ID", "FORM", "LEMMA", "GPOS", "PPOS", "SPLIT_FORM", "SPLIT_LEMMA", "PPOSS", "HEAD", "DEPREL",
    "PRED",
]  # fmt: skip
_TOKEN = slice(1, 5)
_SPLIT_FORM, _SPLIT_LEMMA, _PPOSS, _HEAD, _DEPREL, _PRED, _ARGS = range(5, 12)
_FEWEST_2009 = 14
_TOKEN_ITEMS = ("TokenForm", "TokenLemma", "GPos", "TokenPos")
_NOTHING = ["_"] * 4

_LAYOUT = Layout(
    "conll2008", "CoNLL-2008", _COLUMNS, further="ARG",
    places=[0, 5, 6, -1, 7, -1, 8, 9, -1, -1],
)  # fmt: skip


def _sign(beginning: bytes) -> Sign:
    """More than ten columns, a number in HEAD and none in DEPREL.

    Files of CoNLL-2009 have at least 14 columns, and PHEAD where this one has DEPREL. Without any
    DEPREL such a file is possible only if every sentence has a column for each predicate.
    """
    if columns_of(beginning) < _ARGS:
        return Sign.no
    sentences = word_rows(beginning)
    rows = [row for sentence in sentences for row in sentence]
    if not rows or min(map(len, rows)) < _ARGS:
        return Sign.no
    if any(row[_DEPREL].isdigit() for row in rows):
        return Sign.no
    if not all(row[_HEAD] == b"_" or row[_HEAD].isdigit() for row in rows):
        return Sign.no
    if min(map(len, rows)) < _FEWEST_2009 or any(row[_DEPREL] != b"_" for row in rows):
        return Sign.certain
    consistent = all(
        len(sentence[0]) - _ARGS == sum(row[_PRED] != b"_" for row in sentence)
        for sentence in sentences
    )
    return Sign.possible if consistent else Sign.no


def _to_conllu(words: Words) -> Words:
    old = [[value.strip(" ") for value in row] for row in words.rows]
    misc = [Items() for _ in old]
    put_predicates([row[_PRED] for row in old], [row[_ARGS:] for row in old], misc)
    rows: list[Row] = []
    others: list[list[Row]] = [[] for _ in range(len(old) + 1)]
    split = _split_tokens(old)
    inside = {word for first, last in split for word in range(first, last + 1)}
    for first, last in split:
        items = Items()
        token = old[first][_TOKEN]
        for key, value in list(zip(_TOKEN_ITEMS, token, strict=True))[1:]:
            if value != "_":
                items.put(key, value)
        name = f"{first + 1}-{last + 1}"
        others[first].append([name, token[0], *["_"] * 7, str(items)])
    for i, (row, items) in enumerate(zip(old, misc, strict=True)):
        new = ["_"] * MISC
        new[ID], new[FORM], new[LEMMA], new[XPOS] = row[ID], *row[_SPLIT_FORM:_HEAD]
        new[HEAD], new[DEPREL] = row[_HEAD], row[_DEPREL]
        if i not in inside:
            for key, value, usual in zip(_TOKEN_ITEMS, row[_TOKEN], _usual(new), strict=True):
                if value != usual:
                    items.put(key, value)
        rows.append([*new, str(items)])
    return Words(rows, others)


def _from_conllu(words: Words) -> Words:
    misc = [Items(row[MISC]) for row in words.rows]
    predicates, arguments = take_predicates(misc)
    tags = tags_of(words)
    tokens = _multiword_tokens(words)
    rows: list[Row] = []
    for i, (row, items, pred) in enumerate(zip(words.rows, misc, predicates, strict=True)):
        tagged = [*row[:XPOS], tags[i]]
        token = tokens.get(i)
        if token is None:
            usual = zip(_TOKEN_ITEMS, _usual(tagged), strict=True)
            token = [items.take(key) or value for key, value in usual]
        split = [row[FORM], row[LEMMA], tags[i]]
        rows.append([row[ID], *token, *split, row[HEAD], row[DEPREL], pred, *arguments[i]])
    return Words(rows)


def _usual(row: Row) -> Row:
    """The token columns of a word that was not split: its own form, lemma and tag."""
    return [row[FORM], row[LEMMA], row[XPOS], row[XPOS]]


def _split_tokens(rows: list[Row]) -> list[tuple[int, int]]:
    """First and last word of every token that was split."""
    found: list[tuple[int, int]] = []
    first = 0
    for i in range(1, len(rows) + 1):
        if i < len(rows) and rows[i][_TOKEN] == _NOTHING and rows[first][FORM] != "_":
            continue
        if i - first > 1:
            found.append((first, i - 1))
        first = i
    return found


def _multiword_tokens(words: Words) -> dict[int, Row]:
    """The token columns of the words of multiword tokens, by word."""
    found: dict[int, Row] = {}
    for others in words.others:
        for row in others:
            first, dash, last = row[ID].partition("-")
            if dash:
                items = Items(row[MISC])
                token = [row[FORM], *(items.take(key) or "_" for key in _TOKEN_ITEMS[1:])]
                found |= dict.fromkeys(range(int(first), int(last)), _NOTHING)
                found[int(first) - 1] = token
    return found


CONLL2008 = ColumnFormat(_LAYOUT, _sign, _to_conllu, _from_conllu)
