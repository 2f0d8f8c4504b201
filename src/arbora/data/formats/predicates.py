"""The semantic columns that CoNLL-2008 and CoNLL-2009 share: a predicate, and arguments of each.

A sentence with k predicates has k columns of arguments, in the order of the predicates. In CoNLL-U
they are the items `Pred` and `Arg1`, `Arg2`, ... of MISC; `ArgColumns` of the first word is the
number of columns if it differs from the number of predicates.
"""

from __future__ import annotations

import re

from arbora.data.formats.lines import Items, Row

__all__ = ["put_predicates", "take_predicates"]

_MOST_COLUMNS = 10_000  # a limit on `ArgColumns`; sentences have far fewer predicates
_ARGUMENT = re.compile(r"Arg([1-9][0-9]{0,4})")


def put_predicates(predicates: list[str], arguments: list[Row], misc: list[Items]) -> None:
    """Writes predicates and the arguments of each word into MISC."""
    for pred, row, items in zip(predicates, arguments, misc, strict=True):
        if pred != "_":
            items.put("Pred", pred)
        for number, argument in enumerate(row, start=1):
            if argument != "_":
                items.put(f"Arg{number}", argument)
    if len(arguments[0]) != sum(pred != "_" for pred in predicates):
        misc[0].put("ArgColumns", str(len(arguments[0])))


def take_predicates(misc: list[Items]) -> tuple[list[str], list[Row]]:
    """Takes predicates and arguments out of MISC again: one predicate and row of each word."""
    predicates = [items.take("Pred") or "_" for items in misc]
    columns = sum(pred != "_" for pred in predicates)
    stated = misc[0].take("ArgColumns") or ""
    if stated.isdecimal() and len(stated) <= 5:
        columns = min(int(stated), _MOST_COLUMNS)
    numbers = [_numbers(items) for items in misc]
    columns = max([columns, *(number for found in numbers for number in found)])
    arguments = []
    for items, found in zip(misc, numbers, strict=True):
        row = ["_"] * columns
        for number in found:
            row[number - 1] = items.take(f"Arg{number}") or "_"
        arguments.append(row)
    return predicates, arguments


def _numbers(items: Items) -> list[int]:
    """The numbers of a word's arguments."""
    matches = [_ARGUMENT.fullmatch(key) for key in items.keys()]  # noqa: SIM118  # no mapping
    found = [int(match[1]) for match in matches if match]
    return [number for number in found if number <= _MOST_COLUMNS]
