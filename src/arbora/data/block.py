"""A block: sentences as the bytes of their file plus an index, or made from columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._core import data as _core
from arbora.arrays import as_array, as_list
from arbora.errors import ArgumentError, ShapeError
from arbora.types import IntArray

__all__ = ["COLUMNS", "CONLLU_LAYOUT", "Block", "Layout", "is_text"]

Layout = _core.Layout
Texts = Sequence[Sequence[str]]

# The columns of a word, in the order of the core, by the names of `Sentence`.
COLUMNS = ("ids", "forms", "lemmas", "upos", "xpos", "feats", "heads", "labels", "deps", "misc")
_NUMBER = {name: number for number, name in enumerate(COLUMNS)}

CONLLU_LAYOUT = Layout(
    "conllu", "CoNLL-U",
    ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"],
    universal=True,
)  # fmt: skip


class Block(_core.Block):
    """Sentences of a file: its bytes and an index of their fields. Immutable.

    `heads` is an int32 array of the heads of all words, sentence after sentence (0 is the root, -1
    a missing head); `n_words` has the number of words of each sentence. `column(i, number)` is a
    column of sentence i as a list of texts. `layout` describes the columns of the lines, `format`
    is its name. Unchanged fields keep their bytes.
    """

    @classmethod
    def from_columns(
        cls,
        forms: Texts,
        *,
        lemmas: Texts | None = None,
        upos: Texts | None = None,
        xpos: Texts | None = None,
        feats: Texts | None = None,
        heads: Sequence[ArrayLike] | None = None,
        labels: Texts | None = None,
        deps: Texts | None = None,
        misc: Texts | None = None,
        comments: Sequence[Iterable[str]] | None = None,
        layout: Layout = CONLLU_LAYOUT,
        first_sentence: int = 0,
    ) -> Block:
        """A block of new sentences: every column is a list with one list per sentence.

        Columns that are not given are `_`, and missing heads are -1. Sentences have at least one
        word, texts are not empty and have no tab, no line end and no surrounding spaces.
        `comments` are lines that begin with `#`, a list of them per sentence. By default the
        sentences are CoNLL-U.
        """
        sentences = [_listed("forms", i, one) for i, one in enumerate(_sentences("forms", forms))]
        counts = np.array([len(words) for words in sentences], dtype=np.int64)
        if not counts.all():
            at = int(np.flatnonzero(counts == 0)[0]) + 1
            raise ArgumentError(f"sentence {at} has no words; leave it out.")
        given = {
            "lemmas": lemmas, "upos": upos, "xpos": xpos, "feats": feats, "labels": labels,
            "deps": deps, "misc": misc,
        }  # fmt: skip
        flat = {"forms": list(chain.from_iterable(sentences))}
        flat |= {
            name: _flat(name, values, counts)
            for name, values in given.items()
            if values is not None
        }
        new_heads = None if heads is None else _flat_heads(heads, counts)
        texts = {_NUMBER[name]: values for name, values in flat.items()}
        lines = _comment_lines(comments, counts)
        try:
            text = _core.compose(layout, counts, texts, new_heads, lines)
        except ValueError as error:
            _check_texts(flat, counts)
            raise ArgumentError(f"{error}.") from error
        block = cls(text, layout, first_sentence=first_sentence)
        if block.faults:
            raise ArgumentError(f"these columns are not valid sentences: {block.faults[0][1]}.")
        return block

    def with_columns(
        self,
        *,
        forms: Texts | None = None,
        lemmas: Texts | None = None,
        upos: Texts | None = None,
        xpos: Texts | None = None,
        feats: Texts | None = None,
        heads: Sequence[ArrayLike] | None = None,
        labels: Texts | None = None,
        deps: Texts | None = None,
        misc: Texts | None = None,
    ) -> Block:
        """The same sentences with other columns, each a list with one list per sentence.

        Everything else keeps its bytes: comments, multiword tokens, other columns.
        """
        counts = self.n_words
        given = {
            "forms": forms, "lemmas": lemmas, "upos": upos, "xpos": xpos, "feats": feats,
            "deps": deps, "misc": misc,
        }  # fmt: skip
        flat = {
            name: _flat(name, values, counts)
            for name, values in given.items()
            if values is not None
        }
        names: list[str] = []
        ids = None
        new_heads = None if heads is None else _flat_heads(heads, counts)
        if labels is not None:
            listed = _flat("labels", labels, counts)
            _check_texts({"labels": listed}, counts)
            names = sorted(set(listed))
            places = {name: place for place, name in enumerate(names)}
            ids = np.array([places[label] for label in listed], dtype=np.int32)
        try:
            text = self.render(
                new_heads, ids, names, texts={_NUMBER[name]: flat[name] for name in flat}
            )
        except ValueError as error:
            _check_texts(flat, counts)
            raise ArgumentError(f"{error}.") from error
        return self.reread(text)

    def reread(self, text: bytes) -> Block:
        """A block of other text in the same layout, which begins at the same sentence."""
        return Block(text, self.layout, first_sentence=self.first_sentence)


def is_text(value: object) -> bool:
    """Whether it is a string that UTF-8 can encode: one without lone surrogates."""
    try:
        return isinstance(value, str) and value.encode("utf-8") is not None
    except UnicodeEncodeError:
        return False


def _sentences(name: str, values: object) -> list[Any]:
    if isinstance(values, str | Mapping):
        raise ShapeError(f"{name} must be a list with one list per sentence, not {values!r}.")
    return as_list(values, f"{name} must be a list with one list per sentence")  # type: ignore[arg-type]


def _listed(name: str, sentence: int, values: object) -> list[Any]:
    what = f"{name} of sentence {sentence + 1} must be a list with one entry per word"
    if isinstance(values, str):
        raise ShapeError(f"{what}, not {values!r}.")
    return as_list(values, what)  # type: ignore[arg-type]


def _flat(name: str, values: Texts, counts: NDArray[np.int64]) -> list[str]:
    """A column of all words, one after the other."""
    sentences = _sentences(name, values)
    if len(sentences) != len(counts):
        raise ShapeError(f"{name} has {len(sentences)} sentences, but forms has {len(counts)}.")
    flat: list[str] = []
    for i, (words, count) in enumerate(zip(sentences, counts.tolist(), strict=True)):
        listed = words if isinstance(words, list) else _listed(name, i, words)
        if len(listed) != count:
            raise ShapeError(
                f"{name} of sentence {i + 1} has {len(listed)} entries for {count} words."
            )
        flat += listed
    return flat


def _flat_heads(heads: Sequence[ArrayLike], counts: NDArray[np.int64]) -> IntArray:
    sentences = _sentences("heads", heads)
    if len(sentences) != len(counts):
        raise ShapeError(f"heads has {len(sentences)} sentences, but forms has {len(counts)}.")
    pieces = []
    for i, (given, count) in enumerate(zip(sentences, counts.tolist(), strict=True)):
        array = as_array(given, "heads")
        if array.shape != (count,) or not np.issubdtype(array.dtype, np.integer):
            raise ShapeError(f"heads of sentence {i + 1} must be {count} integers, not {given!r}.")
        wrong = (array < -1) | (array > count) | (array == np.arange(1, count + 1))
        if wrong.any():
            word = int(wrong.argmax()) + 1
            raise ArgumentError(
                f"the head {array[word - 1]} of word {word} of sentence {i + 1} is not another "
                f"word of a sentence of {count} words, 0 or -1."
            )
        pieces.append(array.astype(np.int32))
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int32)


def _comment_lines(
    comments: Sequence[Iterable[str]] | None, counts: NDArray[np.int64]
) -> list[str] | None:
    """The comments of each sentence as one text."""
    if comments is None:
        return None
    sentences = _sentences("comments", comments)
    if len(sentences) != len(counts):
        raise ShapeError(f"comments has {len(sentences)} sentences, but forms has {len(counts)}.")
    texts = []
    for i, given in enumerate(sentences):
        lines = _listed("comments", i, given)
        for line in lines:
            if not is_text(line) or not line.startswith("#") or "\n" in line or "\r" in line:
                raise ArgumentError(f"the comment {line!r} must begin with # and be one line.")
        texts.append("".join(f"{line}\n" for line in lines))
    return texts


def _check_texts(columns: Mapping[str, list[Any]], counts: NDArray[np.int64]) -> None:
    """Raises for the first text that a column cannot hold."""
    for name, values in columns.items():
        for at, value in enumerate(values):
            good = is_text(value) and value and value == value.strip(" ")
            if not good or any(c in value for c in "\t\r\n"):
                ends = np.cumsum(counts)
                sentence = int(np.searchsorted(ends, at, side="right"))
                word = at + 1 - int(ends[sentence] - counts[sentence])
                raise ArgumentError(
                    f"{name} of word {word} of sentence {sentence + 1} is {value!r}; a column "
                    "holds a string that is not empty and has no tab, line end or surrounding "
                    "space."
                )
