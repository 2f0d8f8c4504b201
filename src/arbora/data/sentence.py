"""A sentence of a file: its columns for reading, its bytes for writing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.arrays import as_array, as_list
from arbora.data.block import Block, is_text
from arbora.data.formats import layout_named
from arbora.errors import ArgumentError, ShapeError
from arbora.types import IntArray

if TYPE_CHECKING:
    from arbora.drawing import TreeDrawing

__all__ = ["Misc", "Sentence", "check_heads", "parse_feats"]

Misc = Mapping[str, Sequence[str | None] | NDArray[np.float64]]

_FORM, _LEMMA, _UPOS, _XPOS, _FEATS, _DEPREL, _DEPS, _MISC = 1, 2, 3, 4, 5, 7, 8, 9


class Sentence:
    """A sentence of a file; immutable, and keeps every byte of it.

    The columns are lists with one entry per word, as in the file (`_` if empty), made anew on every
    access: `forms`, `lemmas`, `upos` (CPOSTAG), `xpos` (POSTAG), `feats`,
    `labels` (DEPREL), `deps` (PHEAD), `misc` (PDEPREL), `ids`. `heads` is a read-only int32 array
    with 0 for the root and -1 for a missing head. Multiword tokens and empty nodes are not words,
    but are written back. Sentences with the same lines are equal.
    """

    __slots__ = ("_block", "_heads", "_index")

    def __init__(self, block: Block, index: int, heads: IntArray) -> None:
        self._block = block
        self._index = index
        self._heads = heads

    @classmethod
    def from_words(
        cls,
        forms: Sequence[str],
        upos: Sequence[str] | None = None,
        xpos: Sequence[str] | None = None,
        *,
        lemmas: Sequence[str] | None = None,
        feats: Sequence[str] | None = None,
        heads: ArrayLike | None = None,
        labels: Sequence[str] | None = None,
        misc: Sequence[str] | None = None,
        comments: Iterable[str] = (),
        format: str = "conllu",  # noqa: A002  # the public name
    ) -> Sentence:
        """A new sentence; columns that are not given are `_`, and heads are -1."""
        forms = _strings("forms", forms)
        n = len(forms)
        if n == 0:
            raise ArgumentError("forms is empty; a sentence must have at least one word.")
        given = {
            "lemmas": lemmas, "upos": upos, "xpos": xpos, "feats": feats, "labels": labels,
            "misc": misc,
        }  # fmt: skip
        columns: dict[str, Any] = {
            name: [_checked_column(name, values, n)]
            for name, values in {"forms": forms, **given}.items()
            if values is not None
        }
        if heads is not None:
            columns["heads"] = [check_heads(heads, n)]
        lines = [_checked_comments(comments)]
        block = Block.from_columns(**columns, comments=lines, layout=layout_named(format))
        return cls(block, 0, block.heads)

    @classmethod
    def from_bytes(cls, text: bytes, format: str = "conllu") -> Sentence:  # noqa: A002  # as above
        """The one sentence of a text."""
        if not isinstance(text, bytes):
            raise ArgumentError(f"text must be bytes, not {type(text).__name__}.")
        block = Block(text, layout_named(format))
        if len(block) != 1:
            problem = block.faults[0][1] if block.faults else f"the text has {len(block)} sentences"
            raise ArgumentError(f"this is not one sentence: {problem}.")
        return cls(block, 0, block.heads)

    # Columns

    @property
    def ids(self) -> list[str]:
        """The ID column: one text per word, length n, as all columns."""
        return self._block.column(self._index, 0)

    @property
    def forms(self) -> list[str]:
        """The FORM column."""
        return self._block.column(self._index, _FORM)

    @property
    def lemmas(self) -> list[str]:
        """The LEMMA column."""
        return self._block.column(self._index, _LEMMA)

    @property
    def upos(self) -> list[str]:
        """The UPOS column (CPOSTAG in CoNLL-X)."""
        return self._block.column(self._index, _UPOS)

    @property
    def xpos(self) -> list[str]:
        """The XPOS column (POSTAG in CoNLL-X)."""
        return self._block.column(self._index, _XPOS)

    @property
    def feats(self) -> list[str]:
        """The FEATS column as text; `morphology` parses it."""
        return self._block.column(self._index, _FEATS)

    @property
    def heads(self) -> IntArray:
        """The HEAD column, int32 (n,): 0 is the root symbol, -1 a missing head."""
        return self._heads

    @property
    def labels(self) -> list[str]:
        """The DEPREL column."""
        return self._block.column(self._index, _DEPREL)

    @property
    def deps(self) -> list[str]:
        """The DEPS column (PHEAD in CoNLL-X)."""
        return self._block.column(self._index, _DEPS)

    @property
    def misc(self) -> list[str]:
        """The MISC column (PDEPREL in CoNLL-X)."""
        return self._block.column(self._index, _MISC)

    @property
    def morphology(self) -> list[Mapping[str, str]]:
        """The FEATS of each word as a read-only mapping; see `parse_feats`."""
        return [parse_feats(feats) for feats in self.feats]

    # The rest

    @property
    def comments(self) -> list[str]:
        """The comment lines before the words, each with its `#`."""
        return self._block.comments(self._index)

    @property
    def text(self) -> str:
        """The value of the comment `# text = `, or the forms joined by spaces."""
        found = self._commented("text")
        return " ".join(self.forms) if found is None else found

    @property
    def sent_id(self) -> str | None:
        """The value of the comment `# sent_id = `, if there is one."""
        return self._commented("sent_id")

    def _commented(self, wanted: str) -> str | None:
        for comment in self.comments:
            key, equals, value = comment.lstrip("#").partition("=")
            if equals and key.strip() == wanted:
                return value.strip()
        return None

    @property
    def format(self) -> str:
        """The format of the file that the sentence is from."""
        return self._block.format

    @property
    def line(self) -> int:
        """The number of the first token's line in its file."""
        return self._block.line(self._index)

    def to_conllu(self) -> str:
        """The text as in the file, in its own format, blank lines around it included."""
        return bytes(self).decode("utf-8")

    def with_tree(
        self,
        heads: ArrayLike,
        labels: Sequence[str] | None = None,
        *,
        misc: Misc | None = None,
        comments: Iterable[str] = (),
    ) -> Sentence:
        """The same sentence with other heads and labels.

        Without `labels` they are unchanged. `misc` adds `key=value` items to MISC, in place of
        earlier values of the key (texts, None for no item; or numbers, NaN for no item); CoNLL-X
        has no MISC and ignores it. `comments` are lines like `# arbora.rank = 1`, put after the
        others, in place of earlier ones of that key. All other columns stay as they are, DEPS
        (PHEAD) too.
        """
        n = len(self)
        if labels is not None:
            labels = _strings("labels", labels)
            if len(labels) != n:
                raise ShapeError(
                    f"there are {len(labels)} labels for {n} words; give one per word."
                )
            for label in labels:
                if not is_text(label):
                    raise ArgumentError(f"the label {label!r} is not a string.")
        names = sorted(set(labels or ()))
        places = {name: place for place, name in enumerate(names)}
        ids = None if labels is None else np.array([places[x] for x in labels], dtype=np.int32)
        new_heads = check_heads(heads, n)
        added = "\n".join(_checked_comments(comments))
        items = _checked_misc(misc)
        here = np.array([self._index], dtype=np.int64)
        try:
            text = self._block.render(new_heads, ids, names, items, [added], here)
        except ValueError as error:
            raise ArgumentError(f"{error}.") from error
        return Sentence.from_bytes(text, self.format)

    def draw(
        self, *, tags: bool = True, probabilities: bool = True, width: int | None = None
    ) -> TreeDrawing:
        """A drawing of the tree: `print` shows it as text, a notebook as a picture.

        Probabilities are shown if the parser gave them or the file has them. `width` is that of the
        text in characters; by default the terminal's.
        """
        from arbora.drawing import TreeDrawing

        return TreeDrawing.from_sentence(self, tags=tags, probabilities=probabilities, width=width)

    def svg(
        self, width: float | None = None, *, tags: bool = True, probabilities: bool = True
    ) -> str:
        """A picture of the tree as SVG; `width` is in pixels, and longer sentences have rows."""
        return self.draw(tags=tags, probabilities=probabilities).svg(width)

    def _repr_html_(self) -> str:
        return self.draw()._repr_html_()

    def __bytes__(self) -> bytes:
        return self._block.text(self._index)

    def __len__(self) -> int:
        return len(self._heads)

    def __repr__(self) -> str:
        text = self.text
        return f"Sentence({text if len(text) <= 60 else text[:57] + '...'!r}, {len(self)} words)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sentence):
            return NotImplemented
        return self._lines() == other._lines()

    def __hash__(self) -> int:
        return hash(self._lines())

    def _lines(self) -> bytes:
        return self._block.lines(self._index).rstrip(b"\r\n")

    def __reduce__(self) -> tuple[Any, ...]:
        return Sentence.from_bytes, (bytes(self), self.format)


@lru_cache(maxsize=1 << 16)
def parse_feats(feats: str) -> Mapping[str, str]:
    """`Case=Nom|Number=Sing` as a read-only mapping; an atom without `=` maps to ""."""
    if feats in {"_", ""}:
        return MappingProxyType({})
    atoms = (atom.partition("=") for atom in feats.split("|"))
    return MappingProxyType({name: value for name, _, value in atoms})


def check_heads(heads: ArrayLike, n_words: int) -> IntArray:
    """Heads as an int32 array: one per word, each another word, 0 for the root or -1 for none."""
    given = as_array(heads, "heads")
    if given.shape != (n_words,):
        raise ShapeError(f"heads has shape {given.shape} for {n_words} words; give one per word.")
    if not np.issubdtype(given.dtype, np.integer):
        raise ShapeError(f"heads must be integers, not {given.dtype}.")
    wrong = (given < -1) | (given > n_words) | (given == np.arange(1, n_words + 1))
    if wrong.any():
        word = int(wrong.argmax()) + 1
        raise ArgumentError(
            f"the head {given[word - 1]} of word {word} is not another word of a sentence of "
            f"{n_words} words, 0 or -1."
        )
    return np.ascontiguousarray(given, dtype=np.int32)


def _strings(name: str, values: Iterable[str]) -> list[str]:
    if isinstance(values, str):
        remedy = (
            f"give a list with one string per word, like {values.split()[:3]!r}, or parse the text "
            "with a model: arbora.load()(text)"
            if name == "forms" and values.split()
            else "give a list with one string per word"
        )
        raise ShapeError(f"{name} is a string; {remedy}.")
    return as_list(values, f"{name} must be a list of strings")


def _checked_column(name: str, values: Sequence[str], n: int) -> list[str]:
    values = _strings(name, values)
    if len(values) != n:
        raise ShapeError(f"{name} has {len(values)} entries for {n} words; give a list of strings.")
    for word, value in enumerate(values, start=1):
        good = is_text(value) and value and value == value.strip(" ")
        if not good or any(c in value for c in "\t\r\n"):
            raise ArgumentError(
                f"{name} of word {word} is {value!r}; a column holds a string that is not empty "
                "and has no tab, line end or surrounding space."
            )
    return values


def _checked_comments(comments: Iterable[str]) -> list[str]:
    lines = as_list(comments, "comments must be a list of lines")
    for line in lines:
        if not is_text(line) or not line.startswith("#") or "\n" in line or "\r" in line:
            raise ArgumentError(f"the comment {line!r} must begin with # and be one line.")
    return lines


def _checked_misc(misc: Misc | None) -> dict[str, object]:
    if misc is None:
        return {}
    if not isinstance(misc, Mapping) or not all(map(is_text, misc)):
        raise ArgumentError(
            f"misc must map strings to lists with one value per word, not {misc!r}."
        )
    return {key: _values(values) for key, values in misc.items()}


def _values(values: Sequence[str | None] | NDArray[np.float64]) -> list[str] | NDArray[np.float64]:
    """MISC values as the core takes them: numbers, or texts that are empty where there is none."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu" and values.ndim == 1:
        return np.ascontiguousarray(values, dtype=np.float64)
    listed = as_list(values, "the values of misc must be lists with one entry per word")
    texts = ["" if value is None else str(value) for value in listed]
    if not all(map(is_text, texts)):
        raise ArgumentError(f"the values of misc must be texts, not {listed!r}.")
    return texts
