"""What a sentence of a file tells about its drawing: tags, probabilities, tokens, identifier."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ArcFile",
    "comment_value",
    "multiword_tokens",
    "sentence_name",
    "stored_probabilities",
    "tags_of",
]

_RANGE = re.compile(r"^(\d+)-(\d+)\t([^\t\r\n]*)", re.MULTILINE)


class ArcFile(Protocol):
    """The columns of a `Sentence` that are drawn."""

    @property
    def forms(self) -> list[str]:
        """The FORM column."""
        ...

    @property
    def heads(self) -> NDArray[np.int32]:
        """The HEAD column."""
        ...

    @property
    def labels(self) -> list[str]:
        """The DEPREL column."""
        ...

    @property
    def upos(self) -> list[str]:
        """The UPOS column."""
        ...

    @property
    def xpos(self) -> list[str]:
        """The XPOS column."""
        ...

    @property
    def misc(self) -> list[str]:
        """The MISC column."""
        ...

    @property
    def comments(self) -> list[str]:
        """The comment lines."""
        ...

    @property
    def format(self) -> str:
        """The name of the format."""
        ...

    @property
    def text(self) -> str:
        """The text of the sentence."""
        ...

    def to_conllu(self) -> str:
        """The lines of the sentence."""
        ...


def tags_of(sentence: ArcFile) -> list[str] | None:
    """UPOS, or XPOS if all of UPOS is empty; None if both are."""
    for column in (sentence.upos, sentence.xpos):
        if any(tag != "_" for tag in column):
            return ["" if tag == "_" else tag for tag in column]
    return None


def stored_probabilities(sentence: ArcFile) -> Sequence[float]:
    """The arc probabilities in MISC or in a comment; empty if there are none."""
    found = [_arc_probability(misc) for misc in sentence.misc]
    if not np.isnan(found).all():
        return found
    numbers = comment_value(sentence, "arbora.arc_probabilities").split()
    found = [_number(text) for text in numbers]
    return found if len(found) == len(sentence.forms) else []


def _arc_probability(misc: str) -> float:
    for item in misc.split("|"):
        key, _, value = item.partition("=")
        if key == "ArcProb":
            return _number(value)
    return np.nan


def _number(text: str) -> float:
    """A probability that was written as text; NaN if it is none."""
    try:
        value = float(text)
    except ValueError:
        return np.nan
    return value if 0 <= value <= 1 else np.nan


def multiword_tokens(sentence: ArcFile) -> list[tuple[int, int, str]]:
    """The multiword tokens of a CoNLL-U sentence."""
    if sentence.format != "conllu":
        return []
    lines = _RANGE.findall(sentence.to_conllu())
    return [(int(first), int(last), form) for first, last, form in lines]


def sentence_name(sentence: ArcFile) -> str:
    """The value of the comment `# sent_id = `, or nothing."""
    return comment_value(sentence, "sent_id")


def comment_value(sentence: ArcFile, wanted: str) -> str:
    """The value of a comment like `# key = value`, or nothing."""
    for comment in sentence.comments:
        key, equals, value = comment.lstrip("#").partition("=")
        if equals and key.strip() == wanted:
            return value.strip()
    return ""
