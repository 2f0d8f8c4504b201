"""Evaluation rules: which words count, and which part of a label is compared.

| Rule | Excluded words | Labels |
| --- | --- | --- |
| `conllx` | forms that consist of Unicode punctuation (category P*) | full |
| `conll2018` | none | up to the first ":" |
| `conll2009` | none | full |
| `ptb` | gold tags `` '' : , . | full |
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.evaluation.alignment import AnnotatedSentence

__all__ = ["RULES", "EvaluationRule", "is_punctuation", "rule_for"]

PTB_PUNCTUATION = frozenset({"``", "''", ":", ",", "."})


@lru_cache(maxsize=1 << 16)
def is_punctuation(form: str) -> bool:
    """Whether all characters are Unicode punctuation; "$", "+" and "=" are symbols."""
    return bool(form) and all(unicodedata.category(c).startswith("P") for c in form)


def _punctuation_forms(sentence: AnnotatedSentence) -> list[bool]:
    return [is_punctuation(form) for form in sentence.forms]


def _punctuation_tags(sentence: AnnotatedSentence) -> list[bool]:
    return [tag in PTB_PUNCTUATION for tag in sentence.xpos]


@dataclass(frozen=True)
class EvaluationRule:
    """Which words and labels count.

    `punctuation` marks the punctuation of a gold sentence, which is excluded unless `everything`
    is set. Labels are compared in full if `subtypes` is set. The official scorer of a
    `single_root` rule refuses trees with several roots.
    """

    name: str
    description: str
    punctuation: Callable[[AnnotatedSentence], Sequence[bool]]
    everything: bool = False
    subtypes: bool = True
    single_root: bool = False

    def label(self, label: str) -> str:
        """The part of a label that is compared."""
        return label if self.subtypes else label.split(":", 1)[0]


RULES = {
    rule.name: rule
    for rule in (
        EvaluationRule(
            "conllx", "words that consist of punctuation are excluded", _punctuation_forms
        ),
        EvaluationRule(
            "conll2018",
            "every word counts, labels without subtypes",
            _punctuation_forms,
            everything=True,
            subtypes=False,
            single_root=True,
        ),
        EvaluationRule("conll2009", "every word counts", _punctuation_forms, everything=True),
        EvaluationRule("ptb", "gold tags `` '' : , . are excluded", _punctuation_tags),
    )
}
RULE_OF_FORMAT = {"conllx": "conllx", "conll2008": "conll2009", "conll2009": "conll2009"}


def rule_for(name: str | None, file_format: str) -> EvaluationRule:
    """The rule with this name; by default the rule of the file format."""
    chosen = RULE_OF_FORMAT.get(file_format, "conll2018") if name is None else name
    if not isinstance(chosen, str) or chosen not in RULES:
        known = ", ".join(repr(rule) for rule in RULES)
        raise ArgumentError(f"there is no evaluation rule {chosen!r}: choose one of {known}.")
    return RULES[chosen]
