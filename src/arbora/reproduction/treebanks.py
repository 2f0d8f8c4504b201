"""The treebanks of a recipe: where they are, and how they are split."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from arbora.data import Sentence, read_conllu, sentences_of
from arbora.data.treebank import read_treebank
from arbora.data.universal_tags import with_universal_tags
from arbora.errors import ArgumentError, DataWarning
from arbora.reproduction.recipe import Corpus, Quick, Recipe

__all__ = ["Splits", "Treebanks"]

_PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class Splits:
    """The sentences to train on, to choose settings with (None: the parser holds some out), and
    to test on."""

    train: list[Sentence]
    validation: list[Sentence] | None
    test: list[Sentence]


@dataclass(frozen=True)
class Treebanks:
    """A folder of treebanks: one folder each, with train, dev and test files.

    A folder that itself contains a train and a test file is one treebank, which then takes the
    place of the recipe's.
    """

    folder: Path

    def corpora(self, recipe: Recipe, languages: Iterable[str]) -> list[Corpus]:
        """The recipe's treebanks of the given languages; all must be here."""
        if not self.folder.is_dir():
            raise ArgumentError(f"there is no folder {self.folder}: --treebanks must name one.")
        if _file(self.folder, "train") and _file(self.folder, "test"):
            first = recipe.corpora[0]
            alone = replace(
                first, language=self.folder.name, folder=".", original=False, train_words=None,
                validation_words=None, universal_tags=None, fine_tags=True,
            )  # fmt: skip
            return [alone]
        wanted = set(languages)
        chosen = [corpus for corpus in recipe.corpora if corpus.language in wanted]
        missing = sorted({c.folder for c in chosen if not self._is_treebank(c.folder)})
        if missing:
            here = sorted(p.name for p in self.folder.iterdir() if self._is_treebank(p.name))
            found = f"it has {', '.join(here)}" if here else "it has no treebanks"
            raise ArgumentError(
                f"{self.folder} has no treebank {', '.join(missing)} (a folder with train and test "
                f"files); {found}. Choose languages with --language."
            )
        return chosen

    def fingerprint(self, corpus: Corpus) -> int:
        """A checksum of the treebank's files."""
        found = [_file(self.folder / corpus.folder, part) for part in _PARTS]
        value = 0
        for path in found:
            value = zlib.crc32(path.read_bytes() if path else b"", value)
        return value

    def splits(self, corpus: Corpus, quick: Quick | None = None) -> Splits:
        """The sentences of a treebank, split as the recipe says."""
        train = self._read(corpus, "train")
        dev = self._read(corpus, "dev") if corpus.validation == "dev" else []
        test = self._read(corpus, "test")
        if corpus.test == "tail":  # a test set cut from the training data
            count = corpus.test_sentences or len(test)
            train, test = train[:-count], train[-count:]
        if quick is not None:
            train, dev, test = (
                train[: quick.train_sentences],
                dev[: quick.test_sentences],
                test[: quick.test_sentences],
            )
        if corpus.validation != "none":
            words = corpus.validation_words if quick is None else None
            if not dev:
                train, dev = _cut_tail(train, words, corpus.validation_share)
            elif words is not None:
                dev = _first_words(dev, words)
        if corpus.train_words is not None:
            train = _first_words(train, corpus.train_words)
        if corpus.known_heads < 1.0:
            train = _with_gaps(train, corpus.known_heads)
        return Splits(train, dev or None, test)

    def _is_treebank(self, name: str) -> bool:
        folder = self.folder / name
        return folder.is_dir() and all(_file(folder, part) for part in ("train", "test"))

    def _read(self, corpus: Corpus, part: str) -> list[Sentence]:
        path = _file(self.folder / corpus.folder, part)
        with warnings.catch_warnings():  # `arbora stats` shows them; here they would repeat
            warnings.simplefilter("ignore", DataWarning)
            sentences = [] if path is None else list(read_conllu(path))
            if corpus.universal_tags is not None:
                sentences = with_universal_tags(sentences, corpus.universal_tags)
            return sentences if corpus.fine_tags else _without_fine_tags(sentences)


def _file(folder: Path, part: str) -> Path | None:
    found = sorted(folder.glob(f"{part}.conll*"))
    return found[0] if found else None


def _without_fine_tags(sentences: list[Sentence]) -> list[Sentence]:
    if not sentences:
        return []
    block = read_treebank(sentences)
    return list(sentences_of(block.with_columns(xpos=[["_"] * n for n in block.n_words])))


def _first_words(sentences: list[Sentence], words: int) -> list[Sentence]:
    """The first sentences, with at most this many words."""
    total = 0
    for place, sentence in enumerate(sentences):
        total += len(sentence)
        if total > words:
            return sentences[: max(1, place)]
    return sentences


def _cut_tail(
    train: list[Sentence], words: int | None, share: float
) -> tuple[list[Sentence], list[Sentence]]:
    """The training sentences without the last ones, and the last ones."""
    if words is None:
        count = max(1, int(share * len(train)))
    else:
        count = len(_first_words(train[::-1], words))
    count = min(count, len(train) - 1)
    return train[:-count], train[-count:]


def _with_gaps(train: list[Sentence], share: float) -> list[Sentence]:
    """The sentences with each head kept with this probability."""
    rng = np.random.default_rng(0)
    return [
        sentence.with_tree(np.where(rng.random(len(sentence)) < share, sentence.heads, -1))
        for sentence in train
    ]
