"""A treebank as text in paragraphs, with its tokens, sentences and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import segmentation as _core
from arbora.data import Block, Sentence
from arbora.data.surface import PlacedToken, SurfaceToken, count_line_ends, placed_tokens
from arbora.segmentation.letters import lowered

__all__ = ["PARTS", "KnownText", "known_text"]

PARTS = 8  # of the training data, see lexicon.hpp; part 8 is none of them


@dataclass(frozen=True)
class KnownText:
    """The tokens of a treebank, paragraph after paragraph."""

    tokens: list[list[PlacedToken]]
    whole_lexicon: bool

    @property
    def lines_matter(self) -> bool:
        """Whether there are line ends inside of paragraphs."""
        return any(count_line_ends(one.space) == 1 for some in self.tokens for one in some[:-1])

    def multiword_tokens(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Forms and words of multiword tokens."""
        for some in self.tokens:
            for one in some:
                if len(one.token.words) > 1:
                    yield one.token.form, one.token.words

    def lexicon(self) -> tuple[NDArray[Any], ...]:
        """Keys of all tokens and words, and the parts that they occur in.

        Parts as tokens, as words, and as tokens that begin with a small letter. A form that is
        a multiword token as often as a word is no word: its own features say when it is which.
        """
        tokens: dict[str, int] = {}
        words: dict[str, int] = {}
        small: dict[str, int] = {}
        single: Counter[str] = Counter()
        for some in self.tokens:
            for one in some:
                single[lowered(one.token.form)] += 1 if len(one.token.words) == 1 else -1
        for some in self.tokens:
            for one in some:
                part = 1 << one.sentence % PARTS
                tokens[one.token.form] = tokens.get(one.token.form, 0) | part
                if one.token.form[0].islower():
                    small[one.token.form] = small.get(one.token.form, 0) | part
                if len(one.token.words) == 1 and single[lowered(one.token.form)] <= 0:
                    continue
                for word in one.token.words:
                    words[word] = words.get(word, 0) | part
        forms = sorted(tokens.keys() | words.keys())
        keys, places = np.unique(_core.keys_of(forms), return_inverse=True)
        kinds = []
        for known in (tokens, words, small):
            kinds.append(np.zeros(len(keys), dtype=np.uint8))
            np.bitwise_or.at(kinds[-1], places, _parts(known, forms))
        return keys, *kinds

    def paragraphs(self, numbers: dict[tuple[str, tuple[str, ...]], int]) -> list[_core.Paragraph]:
        """The paragraphs for the core; `numbers` are those of rules."""
        return [self._paragraph(some, numbers) for some in self.tokens]

    def _paragraph(
        self, some: list[PlacedToken], numbers: dict[tuple[str, tuple[str, ...]], int]
    ) -> _core.Paragraph:
        pieces: list[str] = []
        begins, ends, right = [], [], []
        place = 0
        for one in some:
            token = one.token
            begins.append(place)
            ends.append(place + len(token.form))
            pieces += [token.form, one.space]
            place = ends[-1] + len(one.space)
            rule = -1
            if len(token.words) > 1:
                rule = numbers.get((lowered(token.form), tuple(map(lowered, token.words))), -1)
            right.append(rule)
        parts = [PARTS if self.whole_lexicon else one.sentence % PARTS for one in some]
        return _core.Paragraph(
            "".join(pieces).encode("utf-8"),
            np.array(begins, dtype=np.int64),
            np.array(ends, dtype=np.int64),
            np.array(parts, dtype=np.uint8),
            np.array([one.ends_sentence for one in some], dtype=np.uint8),
            np.array(right, dtype=np.int32),
        )


def known_text(sentences: Block | Iterable[Sentence], *, whole_lexicon: bool = False) -> KnownText:
    """The tokens of a treebank; `whole_lexicon` if it is not what the lexicon is made of."""
    paragraphs: list[list[PlacedToken]] = [[]]
    for placed in placed_tokens(sentences):
        for one in _without_spaces(placed):
            paragraphs[-1].append(one)
            if count_line_ends(one.space) > 1:
                paragraphs.append([])
    return KnownText([some for some in paragraphs if some], whole_lexicon)


def _parts(known: dict[str, int], forms: list[str]) -> NDArray[np.uint8]:
    return np.array([known.get(form, 0) for form in forms], dtype=np.uint8)


def _without_spaces(placed: PlacedToken) -> list[PlacedToken]:
    """The token; if it has spaces inside, which the segmenter cannot learn, its parts."""
    form = placed.token.form
    parts = form.split()
    if len(parts) == 1 and len(parts[0]) == len(form):
        return [placed]
    made = [PlacedToken(SurfaceToken(p, (p,)), " ", False, placed.sentence) for p in parts]
    if made:
        made[-1] = replace(made[-1], space=placed.space, ends_sentence=placed.ends_sentence)
    return made
