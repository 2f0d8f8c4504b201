"""Learns from multiword tokens the rules that split a token into words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from arbora.segmentation.letters import lowered

__all__ = ["SplitRule", "general_rule", "learn_rules", "own_rule"]

# left, right, words, core, before, after: the rows of split_rules.hpp.
SplitRule = tuple[str, str, tuple[str, ...], int, str, str]

_LONGEST_END = 8  # letters of a token that a general rule cuts off at either end
_MOST_NEW = 3  # letters that a general rule puts around what it copies


def own_rule(form: str, words: tuple[str, ...]) -> SplitRule:
    """The rule of one form: nothing is copied."""
    return (form, "", words, -1, "", "")


def general_rule(form: str, words: tuple[str, ...]) -> SplitRule | None:
    """The rule that copies the longest stretch that a word shares with the form, if it is general.

    `didn't` as `did` and `n't` gives: cut off `n't`, copy the rest, then `n't`. Of stretches of the
    same length the first counts.
    """
    best = (0, 0, 0, 0)  # length, word, place in the form, place in the word
    for number, word in enumerate(words):
        for start in range(len(form)):
            for place in range(len(word)):
                length = 0
                while (
                    start + length < len(form)
                    and place + length < len(word)
                    and form[start + length] == word[place + length]
                ):
                    length += 1
                if length > best[0]:
                    best = (length, number, start, place)
    length, number, start, place = best
    left, right = form[:start], form[start + length :]
    before, after = words[number][:place], words[number][place + length :]
    if length == 0 or max(len(left), len(right)) > _LONGEST_END:
        return None
    if len(before) + len(after) > _MOST_NEW or not (left or right):
        return None
    others = tuple("" if i == number else word for i, word in enumerate(words))
    return (left, right, others, number, before, after)


def learn_rules(
    tokens: Iterable[tuple[str, tuple[str, ...]]],
) -> tuple[list[SplitRule], dict[tuple[str, tuple[str, ...]], int]]:
    """The rules of multiword tokens, and the number of the rule of each (form, words).

    A general rule is kept if it explains two forms or more; other forms have a rule of their own.
    Everything is in small letters.
    """
    known = sorted({(lowered(form), tuple(map(lowered, words))) for form, words in tokens})
    general = {one: general_rule(*one) for one in known}
    forms: dict[SplitRule, set[str]] = defaultdict(set)
    for (form, _), rule in general.items():
        if rule is not None:
            forms[rule].add(form)
    chosen: dict[tuple[str, tuple[str, ...]], SplitRule] = {}
    for one, rule in general.items():
        chosen[one] = rule if rule is not None and len(forms[rule]) > 1 else own_rule(*one)
    rules = sorted(set(chosen.values()))
    numbers = {rule: number for number, rule in enumerate(rules)}
    return rules, {one: numbers[rule] for one, rule in chosen.items()}
