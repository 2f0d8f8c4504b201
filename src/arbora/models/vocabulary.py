"""What a model has seen in training, and warnings about input that is unlike it."""

from __future__ import annotations

import base64
import binascii
import unicodedata
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.data import Block
from arbora.errors import DataWarning, ModelError
from arbora.features import FeatureSettings

__all__ = ["Unfamiliar", "Vocabulary"]

_FORM = 1
_TAGS = {"upos": (3, "UPOS"), "xpos": (4, "XPOS"), "feats": (5, "FEATS")}
_BITS = 1 << 18  # of the filter of words: 1 % false alarms at 30,000 words
_HASHES = 4
_RARE_SCRIPT = 0.001  # of the letters in training; a rarer script counts as unseen

# Thresholds of warnings. Words that occur once in training estimate how many of a similar text are
# unseen (Good & Turing); the input must be at least halfway between that and none being known.
_FEWEST_WORDS = 20
_UNSEEN_WORDS = 0.5
_UNSEEN_SCRIPTS = 0.2
_UNSEEN_TAGS = 0.1
_EXAMPLES = 4


@dataclass(frozen=True)
class Vocabulary:
    """The words, scripts and tags of training data, as a model's card has them.

    Words without regard to case are in a Bloom filter: no word can be read from it, and about one
    in a hundred unseen words passes for seen. `once` is the share of running words that occur once.
    """

    words: NDArray[np.uint8]
    once: float
    scripts: frozenset[str]
    tags: Mapping[str, frozenset[str]]

    @classmethod
    def of_block(cls, block: Block, settings: FeatureSettings) -> Vocabulary:
        """That of training data; tags of the columns that the model uses."""
        counts, letters = Counter[str](), Counter[str]()
        for form, count in block.column_names(_FORM):
            if script := _script(form):
                counts[form.lower()] += count
                letters[script] += count
        bits = np.zeros(_BITS, dtype=bool)
        bits[_places(counts).reshape(-1)] = True
        running = max(counts.total(), 1)
        once = sum(1 for count in counts.values() if count == 1) / running
        scripts = {name for name, count in letters.items() if count >= _RARE_SCRIPT * running}
        tags = {
            name: frozenset(value for value, _ in _values(block, name))
            for name in _TAGS
            if getattr(settings, name)
        }
        return cls(np.packbits(bits), once, frozenset(scripts), tags)

    def joined(self, other: Vocabulary | None) -> Vocabulary:
        """That of two treebanks together."""
        if other is None:
            return self
        tags = {
            name: self.tags.get(name, frozenset()) | other.tags.get(name, frozenset())
            for name in {*self.tags, *other.tags}
        }
        once = max(self.once, other.once)
        return Vocabulary(self.words | other.words, once, self.scripts | other.scripts, tags)

    def to_card(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        packed = base64.b64encode(zlib.compress(self.words.tobytes(), 9)).decode()
        tags = {name: sorted(self.tags[name]) for name in _TAGS if name in self.tags}
        return {
            "words": packed, "once": round(self.once, 6), "scripts": sorted(self.scripts),
            "tags": tags,
        }  # fmt: skip

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> Vocabulary | None:
        """That of a model; None if its card has none."""
        stored = card.get("vocabulary")
        if stored is None:
            return None
        try:
            unpack = zlib.decompressobj()
            data = unpack.decompress(base64.b64decode(stored["words"], validate=True), _BITS // 8)
            words = np.frombuffer(data, dtype=np.uint8)
            tags = {name: _texts(stored["tags"][name]) for name in _TAGS if name in stored["tags"]}
            made = cls(words, float(stored["once"]), _texts(stored["scripts"]), tags)
        except (KeyError, TypeError, ValueError, binascii.Error, zlib.error):
            raise ModelError("the vocabulary in the model's card is invalid.") from None
        if len(words) != _BITS // 8:
            raise ModelError("the filter of words in the model's card has the wrong size.")
        return made

    def unseen(self, forms: list[str]) -> NDArray[np.bool_]:
        """Which of the words were not in the training data."""
        places = _places(forms)
        set_bits = self.words[places >> 3] >> (7 - (places & 7)).astype(np.uint8) & 1
        return np.asarray(set_bits.min(axis=1, initial=1) == 0)


@dataclass
class Unfamiliar:
    """Counts what of the input was not in the training data, block by block."""

    vocabulary: Vocabulary | None
    running: int = 0
    unseen_words: int = 0
    words: Counter[str] = field(default_factory=Counter)
    scripts: Counter[str] = field(default_factory=Counter)
    tagged: Counter[str] = field(default_factory=Counter)
    tags: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, block: Block) -> None:
        """Counts a block of the input, before any stage has changed it."""
        known = self.vocabulary
        if known is None or not len(block):
            return
        forms, counts = [], []
        for form, count in block.column_names(_FORM):
            if script := _script(form):
                forms.append(form.lower())
                counts.append(count)
                if script not in known.scripts:
                    self.scripts[script] += count
        self.running += sum(counts)
        self.unseen_words += int(np.array(counts, np.int64)[known.unseen(forms)].sum())
        for name, seen in known.tags.items():
            found = self.tags.setdefault(name, Counter())
            for value, count in _values(block, name):
                self.tagged[name] += count
                if value not in seen:
                    found[value] += count

    def watched(self, block: Block) -> Block:
        """The block itself, after counting it."""
        self.add(block)
        return block

    def counts(self) -> Unfamiliar:
        """The counts alone, which can be added to others."""
        return replace(self, vocabulary=None)

    def add_counts(self, other: Unfamiliar) -> None:
        """Adds the counts of other input."""
        self.running += other.running
        self.unseen_words += other.unseen_words
        self.words.update(other.words)
        self.scripts.update(other.scripts)
        self.tagged.update(other.tagged)
        for name, found in other.tags.items():
            self.tags.setdefault(name, Counter()).update(found)

    def findings(self) -> list[str]:
        """What is above the thresholds, each with its figure."""
        if self.vocabulary is None:
            return []
        found, running = [], max(self.running, 1)
        share, once = self.unseen_words / running, self.vocabulary.once
        if self.running >= _FEWEST_WORDS and share >= max(_UNSEEN_WORDS, (1 + once) / 2):
            found.append(f"{100 * share:.0f} % of the words were not in it")
        share = self.scripts.total() / running
        if self.vocabulary.scripts and share >= _UNSEEN_SCRIPTS:
            names = _examples(self.scripts, str.title)
            found.append(
                f"{100 * share:.0f} % of the words are in scripts that it did not have ({names})"
            )
        for name, counts in self.tags.items():
            share = counts.total() / max(self.tagged[name], 1)
            if self.vocabulary.tags[name] and share >= _UNSEEN_TAGS:
                title = _TAGS[name][1]
                found.append(f"{100 * share:.0f} % of {title} were not in it ({_examples(counts)})")
        return found

    def warn(self) -> None:
        """Issues one `DataWarning` if the input is unlike the training data."""
        found = self.findings()
        if found:
            text = f"the input is unlike the training data: {'; '.join(found)}. Expect many errors."
            warnings.warn(text, DataWarning, stacklevel=3)


def _examples(counts: Counter[str], shown: Any = str) -> str:
    names = [shown(name) for name, _ in counts.most_common(_EXAMPLES)]
    return ", ".join(names) + (", ..." if len(counts) > len(names) else "")


def _values(block: Block, column: str) -> Iterator[tuple[str, int]]:
    """The tags of a column and their counts; of FEATS, each feature by itself."""
    for value, count in block.column_names(_TAGS[column][0]):
        if value != "_":
            for one in value.split("|") if column == "feats" else (value,):
                yield one, count


def _script(form: str) -> str:
    """The script of a word's first letter; nothing for a word without letters."""
    for character in form:
        if character.isalpha():
            return _script_of(character)
    return ""


@lru_cache(maxsize=1 << 15)
def _script_of(letter: str) -> str:
    """The first word of the letter's Unicode name: LATIN, CYRILLIC, CJK, ..."""
    return unicodedata.name(letter, "UNKNOWN").split()[0].split("-")[0]


def _places(forms: Iterable[str]) -> NDArray[np.int64]:
    """The bits of each word in the filter, (words, hashes)."""
    data = b"".join(blake2b(form.encode(), digest_size=4 * _HASHES).digest() for form in forms)
    numbers = np.frombuffer(data, dtype="<u4").reshape(-1, _HASHES)
    return numbers.astype(np.int64) % _BITS


def _texts(values: Any) -> frozenset[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError
    return frozenset(values)
