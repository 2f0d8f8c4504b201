"""One bracketed tree: its words, their tags, and their heads by a table of head rules."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from arbora.data.head_rules import HeadRules

__all__ = ["BadTree", "DependencyTree", "read_tree"]

_TOKEN = re.compile(rb"[()]|[^\s()]+")
_EMPTY_ELEMENT = "-NONE-"


class BadTree(Exception):  # noqa: N818  # never seen outside of this package
    """A malformed tree: the offset of the fault, and what is wrong."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


@dataclass
class DependencyTree:
    """The words of a bracketed tree; heads are numbers of words, 0 is the root.

    `lost` counts what the columns do not hold: phrases, function tags and indices, empty elements.
    `unknown` is a phrase that the head rules do not know, if there is one.
    """

    forms: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    unknown: str = ""
    end: int = 0  # the offset of the text after it


@dataclass
class _Bracket:
    """An open bracket: what has been read of it."""

    start: int
    label: str | None = None
    word: str | None = None
    parts: list[str] = field(default_factory=list)  # labels of what is in it
    heads: list[int] = field(default_factory=list)  # words that head what is in it
    emptied: bool = False  # it has had something in it that was removed


def read_tree(text: bytes, start: int, end: int, rules: HeadRules) -> DependencyTree | None:
    """The tree whose bracket opens at `start`; None if it is not closed before `end`."""
    tree = DependencyTree()
    open_brackets: list[_Bracket] = []
    for token in _TOKEN.finditer(text, start, end):
        here = token.start()
        if token[0] == b"(":
            if open_brackets:
                outer = open_brackets[-1]
                if outer.label is None and len(open_brackets) > 1:
                    raise _unlabelled(text, outer.start, start)
                _check_room(outer, here)
            open_brackets.append(_Bracket(here))
        elif token[0] == b")":
            _close(open_brackets.pop(), open_brackets[-1] if open_brackets else None, tree, rules)
            if not open_brackets:
                tree.end = token.end()
                return tree
        else:
            _add_text(open_brackets[-1], token[0], here)
    return None


def _unlabelled(text: bytes, offset: int, start: int) -> BadTree:
    """The fault of a tree that begins at `start` if a bracket inside of it has no label."""
    if text[offset - 1 : offset] == b"\n":  # it looks like the next tree
        return BadTree(start, "a bracket is not closed; write )")
    return BadTree(offset, "a bracket has no label; write (LABEL or remove it")


def _check_room(outer: _Bracket, here: int) -> None:
    """Raises if a bracket may not open inside another one."""
    if outer.word is not None:
        raise BadTree(here, f"a bracket follows the word {outer.word!r}; put tag and word only")
    if outer.label is None:
        outer.label = ""


def _add_text(bracket: _Bracket, token: bytes, here: int) -> None:
    """Adds a label or a word to the bracket that it stands in."""
    try:
        text = token.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadTree(here, "the line is not UTF-8; convert the file") from error
    if bracket.label is None:
        bracket.label = text
    elif bracket.word is None and not bracket.parts and not bracket.emptied and bracket.label:
        bracket.word = text
    else:
        raise BadTree(here, f"{text!r} is not in a bracket of its own; write (TAG {text})")


def _close(
    bracket: _Bracket, outer: _Bracket | None, tree: DependencyTree, rules: HeadRules
) -> None:
    """Adds a whole bracket to its tree and to the bracket around it."""
    label = bracket.label
    if label is None or (bracket.word is None and not bracket.parts and not bracket.emptied):
        raise BadTree(bracket.start, "a bracket is empty; write (TAG word)")
    base = _base(label)
    if bracket.word is None:
        if label:
            tree.lost["phrases"] += 1
            tree.lost["function tags"] += label != base
        head = _attach(bracket, base, tree, rules)
    elif label == _EMPTY_ELEMENT:
        tree.lost["empty elements"] += 1
        head = 0
    else:
        tree.forms.append(bracket.word)
        tree.tags.append(label)
        tree.heads.append(0)
        head = len(tree.forms)
    if outer is not None and head:
        outer.parts.append(base)
        outer.heads.append(head)
    elif outer is not None:
        outer.emptied = True


def _attach(bracket: _Bracket, base: str, tree: DependencyTree, rules: HeadRules) -> int:
    """Attaches the parts of a phrase to its head, and returns it; 0 if nothing is left of it."""
    if not bracket.parts:
        return 0
    if len(bracket.parts) > 1 and base not in rules.rows:
        tree.unknown = tree.unknown or base
    head = bracket.heads[rules.head(base, bracket.parts)]
    for part in bracket.heads:
        if part != head:
            tree.heads[part - 1] = head
    return head


@lru_cache(maxsize=4096)
def _base(label: str) -> str:
    """A label without function tags, indices and alternatives: NP of NP-SBJ-1, NP=2 and NP|NX.

    A label that begins with a hyphen, like -LRB-, is a whole tag.
    """
    return label if label.startswith("-") else re.split(r"(?!^)[-=|]", label, maxsplit=1)[0]
