"""Learns a segmenter from a treebank."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import segmentation as _core
from arbora.data import Block, Sentence
from arbora.errors import ArgumentError
from arbora.options import SegmenterOptions
from arbora.segmentation.known_text import KnownText, known_text
from arbora.segmentation.rules import learn_rules
from arbora.segmentation.segmenter import Segmenter
from arbora.segmentation.stored import VERSION, stored_entries, table_bits

__all__ = ["train_segmenter"]

Progress = Callable[[str, float], object]

# A pair of classes that was seen this often is closed if tokens hardly ever end inside of it.
_OFTEN = 100
_HARDLY_EVER = 1e-4
_MARK, _OTHER = 5, 13  # numbers of CharacterClass (characters.hpp)
# With development data these multiples of the regulariser are tried.
_SCALES = (1.0, 0.25, 4.0)


def train_segmenter(
    train: Block | Iterable[Sentence],
    dev: Block | Iterable[Sentence] | None = None,
    options: SegmenterOptions | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Segmenter:
    """Learns a segmenter from the sentences of a treebank.

    The text is that of `treebank_text`. With `dev`, each of the three models is learnt with three
    strengths of the regulariser (the option, a quarter, four times). The one with the fewest wrong
    decisions in `dev` is kept; of several, the one that makes `dev` most probable. `progress` is
    called with the name of a model and the share of the work that is done. The result is the same
    for any number of threads (default: all cores).
    """
    options = SegmenterOptions() if options is None else options
    threads = (os.cpu_count() or 1) if threads is None else threads
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ArgumentError(f"threads must be a positive number, not {threads!r}.")
    known = known_text(train)
    if not known.tokens:
        raise ArgumentError("there is nothing to learn from: the training data has no sentences.")
    rules, numbers = learn_rules(known.multiword_tokens())
    held_out = None if dev is None else known_text(dev, whole_lexicon=True)
    made = _Training(known, held_out, rules, numbers, options, threads)
    tables = {}
    for done, name in enumerate(table_bits(options.bits)):
        if progress is not None:
            progress(name, done / 3)
        tables[name] = made.table(name)
    if progress is not None:
        progress("done", 1.0)
    settings = {
        "version": VERSION, "bits": options.bits, "lines_matter": known.lines_matter,
        "rules": [[*rule[:2], list(rule[2]), *rule[3:]] for rule in rules],
    }  # fmt: skip
    return Segmenter(settings, {**tables, "open": made.open, "lexicon": made.entries})


class _Training:
    """What the three models are learnt from."""

    def __init__(
        self,
        known: KnownText,
        held_out: KnownText | None,
        rules: list[Any],
        numbers: dict[Any, int],
        options: SegmenterOptions,
        threads: int,
    ) -> None:
        self._options = options
        self._threads = threads
        self._lines_matter = known.lines_matter
        self._rules = _core.SplitRules(rules)
        self._texts = [known.paragraphs(numbers)]
        if held_out is not None and held_out.tokens:
            self._texts.append(held_out.paragraphs(numbers))
        self.open = _open_pairs(_core.pair_counts(self._texts[0]))
        keys, *kinds = known.lexicon()
        self._lexicon = _core.Lexicon(keys, *kinds)
        self.entries = stored_entries(keys, *kinds)

    def table(self, name: str) -> NDArray[np.float16]:
        """The weights of a model."""
        bits = table_bits(self._options.bits)[name]
        examples = [self._examples(name, text, bits) for text in self._texts]
        scales = _SCALES if len(examples) > 1 and len(examples[1]) else _SCALES[:1]
        best, least = np.zeros(1 << bits, dtype=np.float16), (np.inf, np.inf)
        for scale in scales:
            weights = np.zeros(1 << bits)
            strength = scale * self._options.regularization
            if len(examples[0]):
                _core.minimise(examples[0], strength, self._options.passes, weights, self._threads)
            # what is stored is what is measured
            limit = float(np.finfo(np.float16).max)
            stored = np.clip(weights, -limit, limit).astype(np.float16)
            loss = (0.0, 0.0)
            if len(scales) > 1:
                exact = stored.astype(np.float64)
                cost = _core.objective(examples[1], 0.0, exact, np.zeros_like(exact), self._threads)
                loss = (count_wrong(examples[1], exact), cost)
            if loss < least:
                best, least = stored, loss
        return best

    def _examples(self, name: str, text: list[_core.Paragraph], bits: int) -> _core.Examples:
        if name == "boundary":
            return _core.boundary_examples(text, self.open, self._lexicon, bits)
        if name == "sentence":
            return _core.sentence_examples(text, self._lines_matter, self._lexicon, bits)
        return _core.split_examples(text, self._rules, self._lexicon, bits)


def count_wrong(examples: _core.Examples, weights: NDArray[np.float64]) -> int:
    """The number of examples whose right candidate does not have the highest score."""
    first_slot = examples.first_slot()[:-1].astype(np.int64)
    first = examples.first_candidate().astype(np.int64)
    scores = np.add.reduceat(weights[examples.slots()], first_slot)
    best = np.maximum(np.maximum.reduceat(scores, first[:-1]), 0.0)
    right = examples.right()
    chosen = np.where(right == 0, 0.0, scores[first[:-1] + np.maximum(right, 1) - 1])
    return int(((chosen < best) | ((right > 0) & (chosen <= 0.0))).sum())


def _open_pairs(counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """1 for the pairs of classes that a token can end between.

    A combining mark stays with its letter, and a joiner with what it joins, unless the training
    data says otherwise.
    """
    inside, between = counts[0::2], counts[1::2]
    total = inside + between
    closed = (total >= _OFTEN) & (between < _HARDLY_EVER * total)
    left, right = np.divmod(np.arange(len(total)), _core.CLASSES)
    joined = (right == _MARK) | (left == _OTHER) | (right == _OTHER)
    closed |= joined & (between == 0)
    return (~closed).astype(np.uint8)
