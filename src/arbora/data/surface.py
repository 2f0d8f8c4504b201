"""The text of a treebank: its tokens and the spaces between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from arbora.data.block import Block
from arbora.data.conllu import sentences_of
from arbora.data.sentence import Sentence

__all__ = [
    "PlacedToken", "SurfaceToken", "count_line_ends", "placed_tokens", "surface_tokens",
    "treebank_text",
]  # fmt: skip

_ESCAPES = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "p": "|", "\\": "\\"}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028]|\u2029")
_PARAGRAPH = "\n\n"


@dataclass(frozen=True)
class SurfaceToken:
    """A token of the text, which is one word or a multiword token.

    `before` are spaces that the file has before it, `after` those after it: None if the file does
    not say.
    """

    form: str
    words: tuple[str, ...]
    before: str = ""
    after: str | None = None


@dataclass(frozen=True)
class PlacedToken:
    """A token with the spaces that follow it in the text, and whether a sentence ends with it."""

    token: SurfaceToken
    space: str
    ends_sentence: bool
    sentence: int


def surface_tokens(sentence: Sentence) -> list[SurfaceToken]:
    """The tokens of a sentence, by `SpaceAfter`, `SpacesAfter` and `SpacesBefore` in MISC."""
    if sentence.format != "conllu":
        return [SurfaceToken(form, (form,)) for form in sentence.forms]
    tokens: list[SurfaceToken] = []
    rows = [
        line.rstrip(" \r").split("\t")
        for line in bytes(sentence).decode("utf-8").removeprefix("\ufeff").split("\n")
        if line[:1].isdecimal()
    ]
    last, range_row, parts = 0, [""] * 10, list[str]()  # of the multiword token that is being read
    for row in rows:
        number, dash, end = row[0].partition("-")
        if "." in number:
            continue  # an empty node
        if dash:
            last, range_row, parts = int(end), row, []
        elif int(number) <= last:
            parts.append(row[1])
            if int(number) == last:
                misc = range_row[9] if "Space" in range_row[9] else row[9]
                tokens.append(_token(range_row[1], tuple(parts), misc))
        else:
            tokens.append(_token(row[1], (row[1],), row[9]))
    return tokens


def placed_tokens(sentences: Block | Iterable[Sentence]) -> Iterator[PlacedToken]:
    """All tokens of a treebank with the spaces after them; the last one's are the file's or none.

    Spaces that the file spells out (`SpacesAfter`) are taken as they are. Otherwise a blank line
    separates paragraphs and documents, and one space all other tokens without `SpaceAfter=No`.
    """
    given = sentences_of(sentences) if isinstance(sentences, Block) else sentences
    waiting: tuple[SurfaceToken, int] | None = None  # the last token of the sentence before
    for number, sentence in enumerate(given):
        tokens = surface_tokens(sentence)
        if waiting is not None:
            token, before = waiting
            yield PlacedToken(token, _between(token, sentence, tokens[0]), True, before)
        for token, following in pairwise(tokens):
            space = " " if token.after is None else token.after
            yield PlacedToken(token, space + following.before, False, number)
        waiting = tokens[-1], number
    if waiting is not None:
        token, number = waiting
        yield PlacedToken(token, token.after or "", True, number)


def treebank_text(sentences: Block | Iterable[Sentence]) -> str:
    """The text of a treebank, from its forms, multiword tokens, and spaces given in MISC.

    Paragraphs (`# newpar`) and documents (`# newdoc`) are separated by a blank line, sentences and
    tokens by a space unless the file has `SpaceAfter=No` or `SpacesAfter`. What `Segmenter.segment`
    returns gives its text back exactly; other text ends with a line end.
    """
    pieces: list[str] = []
    last = None
    for placed in placed_tokens(sentences):
        if last is None:
            pieces.append(placed.token.before)
        pieces += [placed.token.form, placed.space]
        last = placed.token
    if last is not None and last.after is None:
        pieces.append("\n")
    return "".join(pieces)


def count_line_ends(space: str) -> int:
    """Line ends in spaces; two or more make a blank line. A paragraph separator counts as two."""
    return len(_LINE_END.findall(space)) + space.count("\u2029")


def _between(token: SurfaceToken, sentence: Sentence, following: SurfaceToken) -> str:
    """The spaces between the last token of a sentence and the next sentence."""
    opens = any(re.match(r"#\s*new(par|doc)\b", line) for line in sentence.comments)
    spelled_out = token.after is not None and token.after != ""
    if opens and not spelled_out:
        return _PARAGRAPH + following.before
    return (" " if token.after is None else token.after) + following.before


def _token(form: str, words: tuple[str, ...], misc: str) -> SurfaceToken:
    before, after = "", None
    if "Space" in misc:
        for item in misc.split("|"):
            key, _, value = item.partition("=")
            if key == "SpaceAfter" and value == "No" and after is None:
                after = ""
            elif key == "SpacesAfter":
                after = _unescaped(value)
            elif key == "SpacesBefore":
                before = _unescaped(value)
    return SurfaceToken(form, words, before, after)


def _unescaped(value: str) -> str:
    """Spaces without escapes; treebanks also write `\\u00A0`."""
    return _ESCAPE.sub(_unescaped_one, value)


def _unescaped_one(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, found[0])
