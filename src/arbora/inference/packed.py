"""Calls of the compiled first-order kernels with flat arrays of one or more sentences.

A single distribution is a pack of one sentence, a batch a pack of many (`packing`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._core import inference as kernels
from arbora.errors import ArboraError, TooLargeError
from arbora.inference.reports import explain_report
from arbora.types import FloatArray, IntArray, Root, Tree, TreeClass

__all__ = [
    "Packed",
    "PackedSums",
    "SentenceSums",
    "available_threads",
    "check_draws",
    "check_list",
    "check_room",
    "list_too_large",
    "most_cells",
    "physical_memory",
    "read_only",
    "room",
]


class SentenceSums(NamedTuple):
    """log Z of one sentence, in a form that keeps its precision at large scores.

    `relative` is log Z minus the sum of the column shifts, so that log-probabilities are
    differences of numbers of their own magnitude.
    """

    log_partition: float
    relative: float
    shift: FloatArray


class PackedSums(NamedTuple):
    """The same of all sentences of a pack; `marginals` is empty if not requested."""

    log_partition: FloatArray
    relative: FloatArray
    shift: FloatArray
    marginals: FloatArray


def available_threads() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Packed:
    """Scores of one or more sentences, checked, in one flat read-only array."""

    def __init__(
        self,
        flat: FloatArray,
        n_words: Sequence[int] | NDArray[np.int64],
        n_labels: int | None,
        trees: TreeClass,
        root: Root,
        threads: int = 1,
        sentences: NDArray[np.int64] | None = None,
    ) -> None:
        self.flat = flat
        self.n_words = np.asarray(n_words, dtype=np.int64)
        self.n_labels = n_labels
        self.trees: TreeClass = trees
        self.root: Root = root
        self.threads = threads
        self._sentences = sentences
        counts = self.n_words.tolist()
        self.longest = max(counts, default=0)
        self.n_words_in_all = sum(counts)
        # Filled on first use. Not functools.cached_property: in Python 3.11 it holds a lock, and
        # a fork while it is held would leave it locked for ever.
        self._cells: list[int] | None = None
        self._words: list[int] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        read_only(self.flat)  # arrays come out of a pickle writable

    @property
    def sentences(self) -> NDArray[np.int64]:
        """The keys of the sentences: samples depend on them."""
        return np.arange(len(self.n_words)) if self._sentences is None else self._sentences

    @property
    def cells(self) -> list[int]:
        """Where each sentence's scores begin."""
        if self._cells is None:
            self._cells = _starts((self.n_words + 1) ** 2 * self._depth)
        return self._cells

    @property
    def words(self) -> list[int]:
        """Where each sentence's words begin."""
        if self._words is None:
            self._words = _starts(self.n_words)
        return self._words

    @property
    def _depth(self) -> int:
        return 1 if self.n_labels is None else self.n_labels

    def __len__(self) -> int:
        return len(self.n_words)

    def shape(self, i: int) -> tuple[int, ...]:
        """The shape of the scores of sentence i."""
        side = int(self.n_words[i]) + 1
        return (side, side) if self.n_labels is None else (side, side, self.n_labels)

    def split(self, flat: FloatArray) -> list[FloatArray]:
        """Views, sentence by sentence, of a flat answer of the scores' size; made read-only."""
        read_only(flat)
        if flat.size == len(self) * (self.longest + 1) ** 2 * self._depth > 0:  # all equally long
            return list(flat.reshape(len(self), *self.shape(0)))
        return [self.piece(flat, i) for i in range(len(self))]

    def piece(self, flat: FloatArray, i: int) -> FloatArray:
        """Sentence i of a flat answer of the scores' size."""
        return flat[self.cells[i] : self.cells[i + 1]].reshape(self.shape(i))

    def scores(self, i: int) -> FloatArray:
        """The scores of sentence i."""
        return self.piece(self.flat, i)

    def with_scores(self, flat: FloatArray, root: Root | None = None) -> Packed:
        """The same sentences under other scores."""
        return Packed(
            flat, self.n_words, self.n_labels, self.trees, root or self.root, self.threads,
            self.sentences,
        )  # fmt: skip

    def select(self, keep: Sequence[int]) -> Packed:
        """Some of the sentences; one of them without copying."""
        if len(keep) == 1:
            i = keep[0]
            flat = self.flat[self.cells[i] : self.cells[i + 1]]
        else:
            pieces = [self.flat[self.cells[i] : self.cells[i + 1]] for i in keep]
            flat = np.concatenate(pieces) if pieces else np.empty(0)
            flat.setflags(write=False)
        threads = self.threads if len(keep) > 1 else 1
        return Packed(
            flat, self.n_words[list(keep)], self.n_labels, self.trees, self.root, threads,
            self.sentences[list(keep)],
        )  # fmt: skip

    def check(self, source: FloatArray | None = None) -> dict[int, ArboraError]:
        """Forbids column 0 and the diagonal; returns the errors of impossible sentences.

        The scores of a flat `source` are copied first.
        """
        start = self.flat if source is None else source
        found = kernels.copy_and_check(start, *self._arguments(), self.flat)
        return self.explain(found)

    def explain(self, found: Sequence[tuple[int, ...]]) -> dict[int, ArboraError]:
        """The kernels' reports as errors; makes the scores read-only."""
        read_only(self.flat)
        return {
            i: explain_report(tuple(report), self.scores(i), self.trees) for i, *report in found
        }

    def sums(self, marginals: bool) -> PackedSums:
        """log Z of every sentence and, if requested, all marginals."""
        count = len(self)
        answer = PackedSums(
            np.empty(count), np.empty(count), np.empty(self.n_words_in_all + count),
            room(self.flat.size if marginals else 0),
        )  # fmt: skip
        self._call(kernels.sums, 4 if marginals else 2, *answer)
        for array in answer:
            read_only(array)
        return answer

    def sums_of(self, sums: PackedSums, i: int) -> SentenceSums:
        """The sums of sentence i."""
        shift = sums.shift[self.words[i] + i : self.words[i + 1] + i + 1]
        return SentenceSums(float(sums.log_partition[i]), float(sums.relative[i]), shift)

    def vjp(self, marginals: FloatArray, d_marginals: FloatArray) -> list[FloatArray]:
        """Gradients through the marginals, one array per sentence."""
        answer = room(self.flat.size)
        self._call(kernels.vjp, 9, marginals, d_marginals, answer)
        return self.split(answer)

    def best(self) -> tuple[IntArray, IntArray | None, FloatArray]:
        """Heads and labels of the best trees, flat, and their scores."""
        heads, labels = np.empty((2, self.n_words_in_all), dtype=np.int32)
        scores = np.empty(len(self))
        self._call(kernels.argmax, 1, heads, labels, scores)
        read_only(heads), read_only(labels)
        return heads, None if self.n_labels is None else labels, scores

    def argmax(self) -> list[Tree]:
        """The best tree of every sentence."""
        heads, labels, scores = self.best()
        bounds = zip(self.words, self.words[1:], scores.tolist(), strict=False)
        if labels is None:
            return [Tree(heads[a:b], None, score) for a, b, score in bounds]
        return [Tree(heads[a:b], labels[a:b], score) for a, b, score in bounds]

    def kbest(self, k: int) -> list[list[Tree]]:
        """The k best trees of every sentence, best first."""
        check_list(k, self, bytes_per_word=16)
        try:
            heads, labels, scores, counts = self._call(kernels.kbest, 2, k)
        except TooLargeError:
            raise list_too_large(k, self, bytes_per_word=16) from None
        read_only(heads), read_only(labels)
        answers, at, tree = [], 0, 0
        for n, count in zip(self.n_words.tolist(), counts.tolist(), strict=True):
            trees = []
            for _ in range(count):
                label = None if self.n_labels is None else labels[at : at + n]
                trees.append(Tree(heads[at : at + n], label, float(scores[tree])))
                at, tree = at + n, tree + 1
            answers.append(trees)
        return answers

    def sample(self, count: int, seed: int) -> list[tuple[IntArray, IntArray | None]]:
        """Draws of heads (count, n) and labels of every sentence."""
        check_draws(count, self.n_words_in_all, bytes_per_word=8)
        heads, labels = np.zeros((2, count * self.n_words_in_all), dtype=np.int32)
        self._call(kernels.sample, 4, count, seed, self.sentences, heads, labels)
        read_only(heads), read_only(labels)
        answers: list[tuple[IntArray, IntArray | None]] = []
        for a, b, n in zip(self.words, self.words[1:], self.n_words.tolist(), strict=False):
            rows = slice(a * count, b * count)
            drawn = labels[rows].reshape(count, n) if self.n_labels is not None else None
            answers.append((heads[rows].reshape(count, n), drawn))
        return answers

    def log_counts(self) -> FloatArray:
        """The logarithm of how many trees each sentence has, or labelled trees."""
        allowed = np.where(np.isneginf(self.flat), -np.inf, 0.0)
        return self.with_scores(allowed).sums(marginals=False).log_partition

    def margins(self) -> list[FloatArray]:
        """Arc margins, one array (n+1, n+1) per sentence."""
        answer = np.empty(self.flat.size)
        self._call(kernels.margins, 9, answer)
        return self.split(answer)

    def prune(
        self, marginals: FloatArray, best: IntArray, threshold: float, heads: int
    ) -> NDArray[np.uint8]:
        """Which cells are likely enough, or belong to the given trees, or to the chain."""
        kept = np.empty(self.flat.size, dtype=np.uint8)
        self._call(kernels.prune, 0, marginals, best, threshold, heads, kept)
        return kept

    def _arguments(self) -> tuple[Any, int, bool, bool, int]:
        projective, multi = self.trees == "projective", self.root == "multi"
        return self.n_words, self._depth, projective, multi, self.threads

    def _call(self, kernel: Callable[..., Any], matrices: int, *arguments: Any) -> Any:
        """Calls a kernel that needs `matrices` matrices of working memory per sentence."""
        self._check_memory(matrices)
        try:
            return kernel(self.flat, *self._arguments(), *arguments)
        except MemoryError:
            raise self._too_large(self._need(matrices), "which could not be allocated") from None

    def _need(self, matrices: int) -> int:
        """Bytes of working memory for the longest sentence on every thread; charts double it."""
        side = self.longest + 1
        charts = 2 if self.trees == "projective" else 1
        return side * side * 8 * matrices * charts * min(self.threads, max(len(self), 1))

    def _check_memory(self, matrices: int) -> None:
        need = self._need(matrices)
        if need > 2**30 and need > physical_memory():
            raise self._too_large(need, f"and this machine has {_gigabytes(physical_memory())}")

    def _too_large(self, need: int, but: str) -> TooLargeError:
        return TooLargeError(
            f"a sentence of {self.longest} words needs about {_gigabytes(need)} of working "
            f"memory, {but}."
        )


def check_draws(count: int, n_words: int, bytes_per_word: int) -> None:
    """Raises if the draws do not fit into memory."""
    need = count * (n_words * bytes_per_word)
    if need > physical_memory():
        raise TooLargeError(
            f"{count} draws of {n_words} words need {_gigabytes(need)}: draw fewer at a time."
        )


BYTES_PER_TREE = 400  # in a list: the objects around its heads and labels, in the core and here


def check_list(k: int, trees: Packed, bytes_per_word: int) -> None:
    """Raises if the lists of k best trees do not fit into memory."""
    most = k * (trees.n_words_in_all * bytes_per_word + len(trees) * BYTES_PER_TREE)
    if most > physical_memory() and _size_of_lists(k, trees, bytes_per_word) > physical_memory():
        raise list_too_large(k, trees, bytes_per_word)


def list_too_large(k: int, trees: Packed, bytes_per_word: int) -> TooLargeError:
    """The error for lists of k best trees that do not fit into memory."""
    need = _size_of_lists(k, trees, bytes_per_word)
    each = trees.n_words_in_all * bytes_per_word + len(trees) * BYTES_PER_TREE
    return TooLargeError(
        f"the {k} best trees of {trees.n_words_in_all} words need about {_gigabytes(need)}, and "
        f"this machine has {_gigabytes(physical_memory())}: use a smaller k, "
        f"{physical_memory() // each} at most."
    )


def _size_of_lists(k: int, trees: Packed, bytes_per_word: int) -> float:
    """Bytes of the lists of all sentences: the search for them never holds more trees than that."""
    counts = np.exp(np.minimum(trees.log_counts(), np.log(k)))
    return float(np.sum(counts * (trees.n_words * bytes_per_word + BYTES_PER_TREE)))


def check_room(cells: int) -> None:
    """Raises if the scores do not fit into memory."""
    if cells > most_cells():
        raise TooLargeError(
            f"the scores take {8e-9 * cells:.1f} GB as float64, "
            f"and this machine has {physical_memory() / 1e9:.1f} GB: use smaller batches."
        )


def most_cells() -> int:
    """How many scores fit into memory."""
    return physical_memory() // 8


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size > 1e8 else f"{size / 1e6:.1f} MB"


@cache
def physical_memory() -> int:
    """The machine's memory in bytes."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2**63  # unknown: let the allocation decide


def room(count: int) -> FloatArray:
    """An uninitialised array; large ones reuse memory."""
    return np.empty(count) if count < 2**13 else kernels.room(count)


def _starts(sizes: NDArray[np.int64]) -> list[int]:
    return [0, *np.cumsum(sizes).tolist()]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, which can no longer be written to."""
    array.setflags(write=False)
    return array
