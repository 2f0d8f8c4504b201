"""Comparison of gold and system words, by the rules of the CoNLL-2018 scorer."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import zip_longest
from typing import Protocol

from arbora.data import Sentence

__all__ = ["first_difference"]


class HasForms(Protocol):
    @property
    def forms(self) -> Sequence[str]: ...


def first_difference(gold: HasForms, system: HasForms) -> int | None:
    """The number (from 1) of the first word that differs, or None.

    Spaces inside a form are ignored. So is case inside a multiword token of both, because the
    words of such a token are an analysis, not part of the text.
    """
    if list(gold.forms) == list(system.forms):
        return None
    analysed = _inside_multiword_tokens(gold) & _inside_multiword_tokens(system)
    for word, (ours, theirs) in enumerate(zip_longest(gold.forms, system.forms), start=1):
        if ours == theirs:
            continue
        if ours is None or theirs is None:
            return word
        as_seen = str.lower if word in analysed else _without_spaces
        if as_seen(ours) != as_seen(theirs):
            return word
    return None


def _without_spaces(form: str) -> str:
    return "".join(c for c in form if unicodedata.category(c) != "Zs")


def _inside_multiword_tokens(sentence: HasForms) -> set[int]:
    words: set[int] = set()
    if isinstance(sentence, Sentence):
        for line in sentence.to_conllu().removeprefix("\ufeff").split("\n"):
            first, dash, last = line.partition("\t")[0].partition("-")
            if dash and first.isdecimal() and last.isdecimal():
                words.update(range(int(first), int(last) + 1))
    return words
