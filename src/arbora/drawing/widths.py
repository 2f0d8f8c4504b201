"""Widths of texts: in cells of a terminal, and estimated in pixels of a sans-serif font."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["cell_width", "is_right_to_left", "pixel_width", "to_cells", "visible"]

# Characters that are not drawn but change what is around them: controls, surrogates, line ends, and
# marks that reverse the order of the text that follows.
_HARMFUL = {"Cc", "Cs", "Zl", "Zp"}
_REVERSING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}

_NARROW = frozenset("iljtfrI|!.,:;'`()[]{}-/\\ ıí")
_BROAD = frozenset("mwMWQ@%—…œæÆŒ")


def visible(text: str) -> str:
    """The text with control characters escaped (`\\x1b`), so that a drawing stays as it is."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    code = ord(character)
    if unicodedata.category(character) not in _HARMFUL and code not in _REVERSING:
        return character
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


@lru_cache(maxsize=1 << 14)
def _cells_of(character: str) -> int:
    """0 for marks that combine with the character before, 2 for East Asian wide ones, else 1."""
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    if 0x1160 <= ord(character) <= 0x11FF:  # vowels and final consonants of a Hangul syllable
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cell_width(text: str) -> int:
    """The number of a terminal's cells that a text fills."""
    return sum(map(_cells_of, text))


def to_cells(text: str) -> list[str]:
    """One entry per cell: a wide character is followed by an empty one, marks join their base."""
    cells: list[str] = []
    for character in text:
        width = _cells_of(character)
        if width:
            cells += [character, *[""] * (width - 1)]
        elif cells:
            base = len(cells) - 1 if cells[-1] else len(cells) - 2
            cells[base] += character
    return cells


def pixel_width(text: str, size: float) -> float:
    """An estimate of the width in a sans-serif font of that size, rather too large than small."""
    return size * sum(map(_ems_of, text))


@lru_cache(maxsize=1 << 14)
def _ems_of(character: str) -> float:
    cells = _cells_of(character)
    if cells != 1:
        return cells * 0.52
    if character in _NARROW:
        return 0.38
    if character in _BROAD:
        return 0.95
    return 0.72 if character.isupper() else 0.6


def is_right_to_left(words: tuple[str, ...]) -> bool:
    """Whether most letters are of a script that is written from right to left."""
    kinds = [unicodedata.bidirectional(c) for word in words for c in word]
    return sum(kind in {"R", "AL"} for kind in kinds) > sum(kind == "L" for kind in kinds)
