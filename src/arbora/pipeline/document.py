"""A parsed text: its sentences, and the place of every word in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from arbora.arrays import as_count
from arbora.errors import ArgumentError
from arbora.models.output import ParsedSentence
from arbora.types import FloatArray

__all__ = ["Document", "TagProbabilities"]


@dataclass(frozen=True, eq=False)
class TagProbabilities:
    """Probabilities of the UPOS tags of a sentence's words.

    `values` is float64 (n, tags): row m - 1 is the distribution of word m over `names`.
    """

    names: tuple[str, ...]
    values: FloatArray

    def of(self, tags: Sequence[str]) -> FloatArray:
        """The probability of one tag for each word; 0 for a tag that the tagger does not know."""
        if len(tags) != len(self.values):
            raise ArgumentError(f"there are {len(self.values)} words, but {len(tags)} tags.")
        places = {name: place for place, name in enumerate(self.names)}
        padded = np.append(self.values, np.zeros((len(self.values), 1)), axis=1)
        columns = np.array([places.get(tag, len(places)) for tag in tags], dtype=np.int64)
        answer: FloatArray = padded[np.arange(len(tags)), columns]
        return answer

    def best(self, count: int = 1) -> list[list[tuple[str, float]]]:
        """For each word, its likeliest tags with their probabilities, likeliest first."""
        order = np.argsort(-self.values, axis=1, kind="stable")[:, : as_count(count, "count")]
        return [
            [(self.names[k], float(row[k])) for k in places]
            for row, places in zip(self.values, order, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Document(Sequence[ParsedSentence]):
    """The parsed sentences of a text.

    `offsets[i]` is int64 (n, 2): word m of sentence i is a part of
    `text[offsets[i][m-1, 0]:offsets[i][m-1, 1]]`. The words of a multiword token share its place.
    """

    text: str
    sentences: tuple[ParsedSentence, ...]
    offsets: tuple[NDArray[np.int64], ...]

    def __len__(self) -> int:
        """The number of sentences."""
        return len(self.sentences)

    @overload
    def __getitem__(self, place: int) -> ParsedSentence: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ParsedSentence, ...]: ...
    def __getitem__(self, place: int | slice) -> ParsedSentence | tuple[ParsedSentence, ...]:
        """A sentence, or several."""
        return self.sentences[place]

    def __iter__(self) -> Iterator[ParsedSentence]:
        """The sentences, one after the other."""
        return iter(self.sentences)

    def __str__(self) -> str:
        """The sentences in CoNLL-U."""
        return "".join(sentence.to_conllu() for sentence in self.sentences)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A table with one row per word; `probability` is that of the arc to its head."""
        for number, (sentence, places) in enumerate(
            zip(self.sentences, self.offsets, strict=True), 1
        ):
            forms, labels = sentence.forms, sentence.labels
            columns = (sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats)
            chances = sentence.arc_probabilities.tolist() or [None] * len(forms)
            for i, (form, lemma, upos, xpos, feats) in enumerate(zip(forms, *columns, strict=True)):
                yield {
                    "sentence": number, "word": i + 1, "start": int(places[i, 0]),
                    "end": int(places[i, 1]), "form": form, "lemma": lemma, "upos": upos,
                    "xpos": xpos, "feats": feats, "head": int(sentence.heads[i]),
                    "label": labels[i], "probability": chances[i],
                }  # fmt: skip

    def to_pandas(self) -> Any:
        """The table of `rows` as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise ArgumentError("to_pandas() requires pandas: pip install pandas.") from None
        return pd.DataFrame(list(self.rows()))

    def to_arrow(self) -> Any:
        """The table of `rows` as an Arrow table."""
        try:
            import pyarrow as pa
        except ImportError:
            raise ArgumentError("to_arrow() requires pyarrow: pip install pyarrow.") from None
        return pa.Table.from_pylist(list(self.rows()))
