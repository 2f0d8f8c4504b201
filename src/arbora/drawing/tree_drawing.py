"""What is drawn: the words, tags and arcs of a sentence, as plain values."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arbora.drawing.annotated import (
    ArcFile,
    multiword_tokens,
    sentence_name,
    stored_probabilities,
    tags_of,
)
from arbora.drawing.widths import is_right_to_left
from arbora.errors import ArgumentError, ShapeError, unwritable

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["Arc", "MultiwordToken", "TreeDrawing"]

ROUNDING = 1e-6  # a probability may exceed [0, 1] by this much and is clipped
Alternative = tuple[int, int, float] | tuple[int, int, float, str]


class Arc(NamedTuple):
    """An arc from a head (0 is the root) to a word, both counted from 1.

    `alternative` arcs are not part of the tree.
    """

    head: int
    modifier: int
    label: str = ""
    probability: float | None = None
    alternative: bool = False

    @property
    def text(self) -> str:
        """What stands beside the arc: its label and its probability, as far as they are known."""
        return f"{self.label} {percent(self.probability)}".strip()


class MultiwordToken(NamedTuple):
    """A token of the text, such as *du*, that stands for the words `first` to `last`."""

    first: int
    last: int
    form: str


@dataclass(init=False, repr=False)
class TreeDrawing:
    """A tree to look at: `print` shows it as text, a notebook as a picture.

    `text`, `svg`, `pdf`, `png`, `latex` and `to_displacy` draw it in other ways, and `save` writes
    it to a file.

    Parameters
    ----------
    words, heads, labels
        The tree, as in the columns of a treebank; a head of -1 is missing and not drawn.
    tags
        One tag per word, written below it.
    probabilities
        The probability of each word's arc; NaN is unknown.
    alternatives
        Other arcs as tuples (head, modifier, probability) or (head, modifier, probability, label).
    right_to_left
        Pictures of the sentence begin on the right; None asks the script of the words.
    multiword
        Tokens of several words as tuples (first, last, form).
    name
        The identifier of the sentence.
    sentence
        Its text, for titles and search; by default the words, joined by spaces.
    width
        The width in characters of the drawing as text; None is the terminal's.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float | None, ...]
    alternatives: tuple[Arc, ...]
    right_to_left: bool
    multiword: tuple[MultiwordToken, ...]
    name: str
    sentence: str
    width: int | None

    def __init__(
        self,
        words: Sequence[str],
        heads: ArrayLike,
        labels: Sequence[str] | None = None,
        *,
        tags: Sequence[str] | None = None,
        probabilities: ArrayLike | None = None,
        alternatives: Iterable[Alternative] = (),
        right_to_left: bool | None = None,
        multiword: Iterable[tuple[int, int, str]] = (),
        name: str = "",
        sentence: str | None = None,
        width: int | None = None,
    ) -> None:
        n = len(words)
        self.words = _texts("word", words, n)
        self.heads = _checked_heads(heads, n)
        self.labels = ("",) * n if labels is None else _texts("label", labels, n)
        self.tags = () if tags is None else _texts("tag", tags, n)
        self.probabilities = _checked_probabilities(probabilities, n)
        self.alternatives = tuple(_checked_alternative(one, n) for one in alternatives)
        self.right_to_left = (
            is_right_to_left(self.words) if right_to_left is None else right_to_left
        )
        self.multiword = _checked_tokens(multiword, n)
        self.name = name
        self.sentence = " ".join(self.words) if sentence is None else sentence
        self.width = width

    @classmethod
    def from_sentence(
        cls,
        sentence: ArcFile,
        *,
        tags: bool = True,
        probabilities: bool = True,
        alternatives: Iterable[Alternative] = (),
        width: int | None = None,
    ) -> TreeDrawing:
        """The tree of a `Sentence` or `ParsedSentence`.

        Probabilities are those of the parser, or those that `arbora parse --probabilities` wrote
        into the file. Tags are UPOS, or XPOS where there is no UPOS.
        """
        known = getattr(sentence, "arc_probabilities", ())
        if probabilities and not len(known):
            known = stored_probabilities(sentence)
        return cls(
            sentence.forms,
            sentence.heads,
            ["" if label == "_" else label for label in sentence.labels],
            tags=tags_of(sentence) if tags else None,
            probabilities=known if probabilities and len(known) else None,
            alternatives=alternatives,
            multiword=multiword_tokens(sentence),
            name=sentence_name(sentence),
            sentence=sentence.text,
            width=width,
        )

    @classmethod
    def from_marginals(
        cls,
        words: Sequence[str],
        heads: ArrayLike,
        marginals: ArrayLike,
        labels: Sequence[str] | None = None,
        *,
        threshold: float = 0.1,
        **others: Any,
    ) -> TreeDrawing:
        """A tree with the probability of each arc, and all other arcs of at least `threshold`.

        `marginals` has the shape (n+1, n+1) or, with labels, (n+1, n+1, L).
        """
        p = np.asarray(marginals, dtype=np.float64)
        p = p.sum(axis=2) if p.ndim == 3 else p
        n = len(words)
        if p.shape != (n + 1, n + 1):
            raise ShapeError(f"there are {n} words, but marginals of shape {p.shape}.")
        above = _checked_heads(heads, n)
        known = [p[h, m] if h >= 0 else np.nan for m, h in enumerate(above, start=1)]
        others["alternatives"] = [
            (int(h), int(m), float(p[h, m]))
            for m in range(1, n + 1)
            for h in np.flatnonzero(p[:, m] >= max(threshold, 1e-12))
            if h not in (m, above[m - 1])
        ]
        return cls(words, above, labels, probabilities=known, **others)

    @property
    def arcs(self) -> list[Arc]:
        """The arcs of the tree in word order, then the alternatives."""
        rows = zip(self.heads, self.labels, self.probabilities, strict=True)
        tree = [Arc(h, m, label, p) for m, (h, label, p) in enumerate(rows, start=1) if h >= 0]
        return [*tree, *self.alternatives]

    def __len__(self) -> int:
        return len(self.words)

    # The drawings

    def text(self, width: int | None = None, *, ascii: bool | None = None) -> str:  # noqa: A002
        """The tree in box-drawing characters, in several lines if it is wider than `width`.

        An arc that leaves its line ends in the number of the word that it leads to. Sentences in
        right-to-left scripts are drawn in logical order, which a note says. Alternatives are listed
        below. `ascii` draws with ASCII characters; None does so if standard output requires it.
        """
        from arbora.drawing.terminal import tree_text

        return tree_text(self, self.width if width is None else width, ascii=ascii)

    def svg(self, width: float | None = None, *, inline: bool = False) -> str:
        """The tree as an SVG picture, in several rows if it is wider than `width` (in pixels).

        The picture has a transparent background, and colours for light and dark pages. `inline`
        takes the colour of the text around it instead, which is best inside a page.
        """
        from arbora.drawing.svg import tree_svg

        return tree_svg(self, width, inline=inline)

    def pdf(self, width: float | None = None) -> bytes:
        """The tree as a PDF file of one page; requires matplotlib."""
        from arbora.drawing.figure import figure_bytes

        return figure_bytes([self], "pdf", width)

    def png(self, width: float | None = None) -> bytes:
        """The tree as a PNG file; requires matplotlib."""
        from arbora.drawing.figure import figure_bytes

        return figure_bytes([self], "png", width)

    def latex(self, *, document: bool = False) -> str:
        """The tree for the LaTeX package tikz-dependency; `document` adds a preamble."""
        from arbora.drawing.latex import tree_latex

        return tree_latex([self], document=document)

    def to_displacy(self) -> dict[str, Any]:
        """The words and arcs as displaCy takes them (`displacy.render(..., manual=True)`).

        displaCy draws no roots; `from_displacy` makes roots of words without an arc.
        """
        from arbora.drawing.displacy import to_displacy

        return to_displacy(self)

    def save(self, path: str | os.PathLike[str], width: float | None = None) -> None:
        """Writes the drawing to a file; its ending is .svg, .pdf, .png, .tex, .html, .json or .txt.

        The file is replaced when the drawing is complete.
        """
        from arbora.drawing.files import drawings_to_bytes

        data = drawings_to_bytes([self], path, width)
        target = Path(os.path.realpath(path))
        try:
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".arbora-") as folder:
                aside = Path(folder) / target.name
                aside.write_bytes(data)
                aside.replace(target)
        except OSError as error:
            raise unwritable(os.fspath(path), error) from error

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        # A narrow window scrolls: shrunk letters would be unreadable.
        return f"<div style='overflow-x:auto'>{self.svg(width=NOTEBOOK, inline=True)}</div>"

    def __rich__(self) -> Text:
        from arbora.drawing.terminal import tree_markup

        return tree_markup(self, self.width)


NOTEBOOK = 860.0  # pixels: the width of a picture in a notebook


def percent(probability: float | None) -> str:
    """A probability in percent; empty for None."""
    if probability is None:
        return ""
    return "<1%" if 0 < probability < 0.005 else f"{100 * probability:.0f}%"


def _texts(what: str, values: Sequence[str], n: int) -> tuple[str, ...]:
    if isinstance(values, str):
        raise ShapeError(f"the {what}s are one string: give a list of strings.")
    made = tuple(values)
    if not made or len(made) != n:
        raise ShapeError(f"there are {n} words, but {len(made)} {what}s: give one per word.")
    for place, value in enumerate(made, start=1):
        if not isinstance(value, str):
            raise ShapeError(f"the {what} of word {place} is {value!r}: give it as a string.")
    return made


def _checked_heads(heads: ArrayLike, n: int) -> tuple[int, ...]:
    given = np.asarray(heads)
    if given.shape != (n,):
        raise ShapeError(f"there are {n} words, but heads of shape {given.shape}.")
    if not np.issubdtype(given.dtype, np.integer):
        raise ShapeError(f"heads must be integers, not {given.dtype}.")
    made = tuple(given.tolist())
    for word, head in enumerate(made, start=1):
        _check_arc(head, word, n, smallest=-1)
    return made


def _check_arc(head: int, word: int, n: int, smallest: int = 0) -> None:
    if not 1 <= word <= n:
        raise ShapeError(f"an arc leads to word {word}, but there are {n} words.")
    if not smallest <= head <= n:
        raise ShapeError(f"the head of word {word} is {head}, but there are {n} words.")
    if head == word:
        raise ShapeError(f"word {word} is its own head: give another.")


def _checked_probabilities(values: ArrayLike | None, n: int) -> tuple[float | None, ...]:
    if values is None:
        return (None,) * n
    given = np.asarray(values, dtype=np.float64)
    if given.shape != (n,):
        raise ShapeError(f"there are {n} words, but probabilities of shape {given.shape}.")
    return tuple(None if np.isnan(p) else _clipped(p) for p in given.tolist())


def _clipped(p: float) -> float:
    if not -ROUNDING <= p <= 1 + ROUNDING:
        raise ArgumentError(f"{p} is not a probability: it must be between 0 and 1.")
    return min(max(p, 0.0), 1.0)


def _checked_alternative(given: Alternative, n: int) -> Arc:
    if not 3 <= len(given) <= 4:
        raise ArgumentError(
            f"the alternative {given!r} must be (head, modifier, probability) or (head, modifier, "
            "probability, label)."
        )
    head, word = index(given[0]), index(given[1])
    _check_arc(head, word, n)
    return Arc(head, word, given[3] if len(given) == 4 else "", _clipped(given[2]), True)


def _checked_tokens(given: Iterable[tuple[int, int, str]], n: int) -> tuple[MultiwordToken, ...]:
    tokens = tuple(sorted(MultiwordToken(*token) for token in given))
    before = 0
    for token in tokens:
        if not before < token.first <= token.last <= n:
            raise ShapeError(
                f"the token {token.form!r} stands for words {token.first} to {token.last}, which "
                f"overlaps another token or is outside the sentence of {n} words."
            )
        before = token.last
    return tokens
