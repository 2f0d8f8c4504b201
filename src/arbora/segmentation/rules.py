"""Learns from multiword tokens the rules that split a token into words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from arbora.segmentation.letters import lowered

__all__ = ["SplitRule", "general_rules", "learn_rules", "own_rule"]

# left, right, words, core, before, after: the rows of split_rules.hpp.
SplitRule = tuple[str, str, tuple[str, ...], int, str, str]

_LONGEST_END = 8  # letters of a token that a general rule cuts off at either end
_MOST_NEW = 3  # letters that a general rule puts around what it copies


def own_rule(form: str, words: tuple[str, ...]) -> SplitRule:
    """The rule of one form: nothing is copied."""
    return (form, "", words, -1, "", "")


def general_rules(form: str, words: tuple[str, ...]) -> list[SplitRule]:
    """For each word the rule that copies the longest stretch it shares with the form, if general.

    `didn't` as `did` and `n't` gives: cut off `n't`, copy the rest, then `n't`; and: cut off `did`,
    then `did`, copy the rest. Of stretches of the same length the first counts.
    """
    found = []
    for number, word in enumerate(words):
        length, start, place = _longest_shared(form, word)
        left, right = form[:start], form[start + length :]
        before, after = word[:place], word[place + length :]
        if length == 0 or max(len(left), len(right)) > _LONGEST_END or not (left or right):
            continue
        if len(before) + len(after) <= _MOST_NEW:
            others = tuple("" if i == number else other for i, other in enumerate(words))
            found.append((left, right, others, number, before, after))
    return found


def _longest_shared(form: str, word: str) -> tuple[int, int, int]:
    """The longest stretch that is in both: its length, and its place in each."""
    best = (0, 0, 0)
    for start in range(len(form)):
        for place in range(len(word)):
            length = 0
            for a, b in zip(form[start:], word[place:], strict=False):
                if a != b:
                    break
                length += 1
            if length > best[0]:
                best = (length, start, place)
    return best


def learn_rules(
    tokens: Iterable[tuple[str, tuple[str, ...]]],
) -> tuple[list[SplitRule], dict[tuple[str, tuple[str, ...]], int]]:
    """The rules of multiword tokens, and the number of the rule of each (form, words).

    Of the general rules of a token the one that explains most forms is taken, if it explains two
    or more; other forms have a rule of their own. Everything is in small letters.
    """
    known = sorted({(lowered(form), tuple(map(lowered, words))) for form, words in tokens})
    general = {one: general_rules(*one) for one in known}
    forms: dict[SplitRule, set[str]] = defaultdict(set)
    for (form, _), some in general.items():
        for rule in some:
            forms[rule].add(form)
    chosen: dict[tuple[str, tuple[str, ...]], SplitRule] = {}
    for one, some in general.items():
        best = max(some, key=lambda rule: len(forms[rule]), default=None)
        chosen[one] = own_rule(*one) if best is None or len(forms[best]) < 2 else best
    rules = sorted(set(chosen.values()))
    numbers = {rule: number for number, rule in enumerate(rules)}
    return rules, {one: numbers[rule] for one, rule in chosen.items()}
