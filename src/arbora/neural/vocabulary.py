"""Numbers of words, characters and tags, as the network looks them up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.errors import ModelError
from arbora.features import Encoded, FeatureSettings

__all__ = ["COLUMNS", "NeuralVocabulary", "Numbered"]

# The columns that the network reads, by their places in a line.
COLUMNS = {"form": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5}

UNKNOWN, ROOT, FIRST = 0, 1, 2  # numbers of anything unknown, the root symbol and the first name
_RARE = 2  # forms and lemmas that occur less often are unknown
_LONGEST = 20  # characters of a word: its first and its last ones

Numbers = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Numbered:
    """Sentences as numbers, the root symbol before the words of each.

    `first` is the place of each sentence's root. `tokens` has a row of each column; `spellings`
    and `features` are numbers of rows of `characters` (types, longest) and of `feats` (types,
    most), whose rows end in -1.
    """

    first: NDArray[np.int64]
    tokens: dict[str, Numbers]
    spellings: Numbers
    characters: Numbers
    features: Numbers
    feats: Numbers
    given: Numbers  # rows of the vectors of a file, 0 for none; empty if there are no vectors

    def places(self, sentences: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The places of the root and the words of each sentence."""
        return [np.arange(self.first[i], self.first[i + 1]) for i in sentences.tolist()]


@dataclass(frozen=True, eq=False)
class NeuralVocabulary:
    """The names that have vectors, by column, and how often the training data have them.

    Columns that the training data lack are absent. Forms are in lower case: the characters show
    the case.
    """

    names: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, NDArray[np.int64]]  # of form and lemma, for `hiding`
    given: tuple[str, ...] = ()  # words with vectors of a file

    @classmethod
    def of_block(
        cls, block: Block, settings: FeatureSettings, sentences: NDArray[np.int64] | None = None
    ) -> NeuralVocabulary:
        """The vocabulary of some sentences of a block, or all."""
        places = range(len(block)) if sentences is None else sentences.tolist()
        used = ["form", *settings.columns]
        found: dict[str, Counter[str]] = {name: Counter() for name in (*used, "character")}
        for i in places:
            for name in used:
                values = block.column(i, COLUMNS[name])
                if name == "form":
                    found["character"].update("".join(values))
                found[name].update(_keys(name, values))
        names: dict[str, tuple[str, ...]] = {}
        counts: dict[str, NDArray[np.int64]] = {}
        for name, counter in found.items():
            least = _RARE if name in ("form", "lemma") else 1
            names[name] = tuple(sorted(key for key, count in counter.items() if count >= least))
            if name in ("form", "lemma"):
                numbers = [0] * FIRST + [counter[key] for key in names[name]]
                counts[name] = np.array(numbers, dtype=np.int64)
        return cls(names, counts)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, with the form first."""
        return tuple(name for name in COLUMNS if name in self.names)

    def size(self, name: str) -> int:
        """The number of vectors of a column."""
        return FIRST + len(self.names[name])

    @cached_property
    def _numbers(self) -> dict[str, dict[str, int]]:
        return {
            name: {key: number for number, key in enumerate(keys, start=FIRST)}
            for name, keys in self.names.items()
        }

    @cached_property
    def _given_rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.given, start=1)}

    def with_given(self, words: Iterable[str]) -> NeuralVocabulary:
        """The same vocabulary with words that have vectors of a file."""
        return replace(self, given=tuple(words))

    def number(self, encoded: Encoded) -> Numbered:
        """All sentences of a block as numbers."""
        block, places = encoded.block, encoded.places.tolist()
        tokens: dict[str, list[int]] = {
            name: [] for name in self.columns if name != "feats"
        }  # fmt: skip
        words: dict[str, int] = {"": 0}  # spellings by their order; the root's is empty
        feats: dict[str, int] = {"": 0}
        spellings: list[int] = []
        features: list[int] = []
        given: list[int] = []
        for i in places:
            for name, numbers in tokens.items():
                known = self._numbers[name]
                numbers.append(ROOT)
                keys = _keys(name, block.column(i, COLUMNS[name]))
                numbers.extend([known.get(key, UNKNOWN) for key in keys])
            forms = block.column(i, COLUMNS["form"])
            spellings.append(0)
            spellings.extend([words.setdefault(form, len(words)) for form in forms])
            if self.given:
                rows = self._given_rows
                given.append(0)
                given.extend([rows.get(form) or rows.get(form.lower(), 0) for form in forms])
            if "feats" in self.names:
                features.append(0)
                values = block.column(i, COLUMNS["feats"])
                features.extend([feats.setdefault(value, len(feats)) for value in values])
        return Numbered(
            np.concatenate([[0], np.cumsum(encoded.n_words + 1)]),
            {name: np.array(numbers, dtype=np.int32) for name, numbers in tokens.items()},
            np.array(spellings, dtype=np.int32), self._spell(words),
            np.array(features, dtype=np.int32), self._split(feats),
            np.array(given, dtype=np.int32),
        )  # fmt: skip

    def _spell(self, words: Iterable[str]) -> Numbers:
        known, rows = self._numbers["character"], []
        for word in words:
            half = _LONGEST // 2
            shown = word if len(word) <= _LONGEST else word[:half] + word[-half:]
            # The root symbol's number marks both ends of a word.
            rows.append([ROOT, *(known.get(letter, UNKNOWN) for letter in shown), ROOT])
        return _padded(rows)

    def _split(self, values: Iterable[str]) -> Numbers:
        known = self._numbers.get("feats", {})
        return _padded([[known.get(key, UNKNOWN) for key in _keys("feats", [v])] for v in values])

    def to_store(self) -> tuple[dict[str, int], dict[str, NDArray[Any]]]:
        """The number of names of each column, and arrays: the names as bytes, and the counts."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, keys in self.names.items():
            # Names have no line end: columns cannot hold one, and characters are not blank.
            text = "\n".join(keys).encode()
            arrays[f"names.{name}"] = np.frombuffer(text, dtype=np.uint8)
        arrays |= {f"counts.{name}": values for name, values in self.counts.items()}
        if self.given:
            arrays["names.given"] = np.frombuffer("\n".join(self.given).encode(), dtype=np.uint8)
        return {name: len(keys) for name, keys in self.names.items()}, arrays

    @classmethod
    def from_store(
        cls, sizes: Mapping[str, int], arrays: Mapping[str, NDArray[Any]]
    ) -> NeuralVocabulary:
        """The vocabulary that `to_store` described; raises if it is damaged."""
        names: dict[str, tuple[str, ...]] = {}
        for name, size in sizes.items():
            text = arrays[f"names.{name}"].tobytes().decode()
            names[name] = tuple(text.split("\n")) if size else ()
            if len(names[name]) != size or name not in (*COLUMNS, "character"):
                raise ModelError(f"the scorer's vocabulary of {name!r} is damaged.")
        counted = [name for name in ("form", "lemma") if name in names]
        counts: dict[str, NDArray[np.int64]] = {name: arrays[f"counts.{name}"] for name in counted}
        for name, values in counts.items():
            if values.shape != (FIRST + len(names[name]),):
                raise ModelError(f"the scorer's counts of {name!r} are damaged.")
        if not {"form", "character"} <= names.keys():
            raise ModelError("the scorer's vocabulary lacks words.")
        text = arrays["names.given"].tobytes().decode() if "names.given" in arrays else ""
        return cls(names, counts, tuple(text.split("\n")) if text else ())


def _keys(name: str, values: Sequence[str]) -> list[str]:
    """What is looked up: forms in lower case, and each of the features in FEATS."""
    if name == "form":
        return [value.lower() for value in values]
    if name == "feats":
        return [part for value in values for part in value.split("|") if value not in ("", "_")]
    return list(values)


def _padded(rows: list[list[int]]) -> Numbers:
    """Rows of different lengths with -1 after their ends."""
    most = max(map(len, rows), default=0)
    table = np.full((len(rows), max(most, 1)), -1, dtype=np.int32)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table
