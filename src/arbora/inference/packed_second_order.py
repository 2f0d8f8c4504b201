"""The exact projective second-order distribution of many sentences, as flat arrays.

Each method is one call of a kernel, which builds each sentence's hypergraph, sums over it and
frees it. Answers do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora._core import inference as kernels
from arbora.errors import ArgumentError, NoTreeError, ScoreError, ShapeError, TooLargeError
from arbora.inference.arguments import LARGEST_VALUE, check_choice
from arbora.inference.packed import (
    Packed,
    check_draws,
    check_list,
    list_too_large,
    physical_memory,
    read_only,
)
from arbora.inference.packing import pack
from arbora.scores import PART_KINDS, PartKind, Scores
from arbora.types import FloatArray, IntArray, Root

__all__ = ["SUMMABLE", "PackedSecondOrder", "SecondOrderSums"]

# The kinds of parts that a chart can sum over, in the order of the kernels.
SUMMABLE: tuple[PartKind, ...] = tuple(kind.name for kind in PART_KINDS if kind.summable)


class SecondOrderSums(NamedTuple):
    """log Z of every sentence, and all marginals."""

    log_partition: FloatArray
    marginals: Scores


class PackedSecondOrder:
    """Projective trees that score arcs, consecutive siblings, grandparents and grandsiblings."""

    def __init__(self, parts: Scores, root: Root = "single", threads: int = 1) -> None:
        check_choice(root, ("single", "multi"), "root")
        if any(kind not in SUMMABLE for kind in parts.kinds):
            others = ", ".join(kind for kind in parts.kinds if kind not in SUMMABLE)
            raise ArgumentError(
                f"no chart sums over {others} exactly: leave them out, or use LoopyTrees, which "
                "approximates."
            )
        self.parts = parts
        self.root: Root = root
        self.threads = threads
        _check_memory(parts, threads)
        check_numbers(parts)

    def __len__(self) -> int:
        return len(self.parts)

    def log_partition(self) -> FloatArray:
        """log Z of every sentence."""
        answer = np.empty(len(self))
        self._call(kernels.second_order_sums, answer)
        return read_only(answer)

    def sums(self) -> SecondOrderSums:
        """log Z of every sentence, and the marginals of arcs and parts."""
        log_partition, marginals = np.empty(len(self)), self._room()
        self._call(kernels.second_order_marginals, log_partition, marginals.arrays())
        return SecondOrderSums(read_only(log_partition), frozen(marginals))

    def arc_marginals(self, *, gradient: bool = False) -> FloatArray:  # noqa: ARG002
        """The marginals of arcs; `gradient` has no effect."""
        return self.sums().marginals.arcs

    def entropy(self) -> FloatArray:
        """Entropy in nats of every sentence, (sentences,)."""
        answer = np.empty(len(self))
        self._call(kernels.second_order_entropy, answer)
        return read_only(answer)

    def vjp(self, d_arcs: FloatArray, d_tables: dict[PartKind, FloatArray] | None = None) -> Scores:
        """The gradient through the marginals; kinds that are left out have no gradient.

        Also the covariance of an additive function of arcs and parts with every arc and part.
        """
        given = {kind: np.zeros(len(table)) for kind, table in self.parts.tables.items()}
        for kind, table in (d_tables or {}).items():
            if kind not in given:
                raise ArgumentError(f"there are no {kind} in the model: leave out their gradient.")
            given[kind] = table
        for what, values in (("arcs", d_arcs), *given.items()):
            check_direction(what, values, self.parts)
        direction = self.parts.with_values(np.where(self.parts.arcs > -np.inf, d_arcs, 0.0), given)
        answer = self._room()
        self._call(kernels.second_order_vjp, direction.arrays(), answer.arrays())
        return frozen(answer)

    def argmax(self) -> tuple[IntArray, FloatArray]:
        """Heads of the best trees, flat, and their scores."""
        heads = np.empty(int(self.parts.n_words.sum()), dtype=np.int32)
        scores = np.empty(len(self))
        self._call(kernels.second_order_argmax, heads, scores)
        return read_only(heads), read_only(scores)

    def kbest(self, k: int) -> tuple[IntArray, FloatArray, NDArray[np.int64]]:
        """Heads and scores of each sentence's k best trees, flat, and how many it has."""
        check_list(k, self._any_trees(), BYTES_PER_WORD)
        try:
            heads, scores, counts = self._call(kernels.second_order_kbest, k)
        except TooLargeError:
            raise list_too_large(k, self._any_trees(), BYTES_PER_WORD) from None
        return read_only(heads), read_only(scores), counts

    def sample(self, count: int, seed: int, sentences: NDArray[np.int64] | None = None) -> IntArray:
        """Heads of exact draws, flat, (count, n) per sentence; `sentences` are their keys."""
        n_words = int(self.parts.n_words.sum())
        check_draws(count, n_words, bytes_per_word=4)
        heads = np.zeros(count * n_words, dtype=np.int32)
        keys = np.arange(len(self)) if sentences is None else sentences
        self._call(kernels.second_order_sample, count, seed, keys, heads)
        return read_only(heads)

    def margins(self) -> FloatArray:
        """For every arc the best tree with it minus the best without, flat; 0 off the arcs."""
        answer = np.empty(len(self.parts.arcs))
        self._call(kernels.second_order_margins, answer)
        return answer

    def tree_scores(self, i: int, heads: IntArray) -> FloatArray:
        """Scores of trees of sentence i, heads of shape (k, n); -inf where an arc is forbidden."""
        answer = np.empty(len(heads))
        flat = np.ascontiguousarray(heads, dtype=np.int32).reshape(-1)
        kernels.second_order_tree_scores(self.parts.index, self.parts.arrays(), i, flat, answer)
        return answer

    def _room(self) -> Scores:
        return self.parts.empty()

    def _call(self, kernel: Any, *arguments: Any) -> Any:
        """Calls a kernel; returns its answer, or raises for a sentence without a tree."""
        parts = self.parts
        try:
            answer = kernel(
                parts.index, parts.arrays(), self.root == "multi", self.threads, *arguments
            )
        except MemoryError:
            raise _too_large(parts) from None
        impossible, rest = (answer, ()) if isinstance(answer, int) else (answer[0], answer[1:])
        if impossible >= 0:
            raise self._no_tree(impossible)
        return rest

    def _any_trees(self) -> Packed:
        """The same trees with the scores of their arcs alone."""
        parts = self.parts
        return Packed(parts.arcs, parts.n_words, None, "projective", self.root, self.threads)

    def _no_tree(self, i: int) -> NoTreeError:
        """Why sentence i has no tree of this class."""
        side = int(self.parts.n_words[i]) + 1
        first = int(((self.parts.n_words[:i] + 1) ** 2).sum())
        arcs = self.parts.arcs[first : first + side * side].reshape(side, side)
        _, reasons = pack([arcs], "projective", self.root, threads=1)
        text = str(reasons.get(0, "there is no projective tree."))
        word = getattr(reasons.get(0), "word", None)
        return NoTreeError(text if len(self) == 1 else f"sentence {i}: {text}", word)


BYTES_PER_WORD = 52  # of a tree in a k-best list: heads, edges and candidates
BYTES_PER_EDGE = 48  # edges, shares and tangents, in vectors that may have doubled their capacity


def _check_memory(parts: Scores, threads: int) -> None:
    at_once = min(threads, len(parts))
    need = BYTES_PER_EDGE * kernels.second_order_largest(parts.index) * at_once
    if need > physical_memory():
        raise _too_large(parts)


def _too_large(parts: Scores) -> TooLargeError:
    need = BYTES_PER_EDGE * kernels.second_order_largest(parts.index)
    return TooLargeError(
        f"a sentence of {int(parts.n_words.max())} words needs about {need / 1e9:.1f} GB for its "
        f"parts, and this machine has {physical_memory() / 1e9:.1f} GB: forbid more arcs."
    )


def check_numbers(parts: Scores) -> None:
    """Raises for scores whose sums could overflow; forbidden arcs stay -inf."""
    for what, values in (("arcs", parts.arcs), *parts.tables.items()):
        sane = np.abs(values) <= kernels.LARGEST_SCORE
        if what == "arcs":
            sane |= np.isneginf(values)
        if not sane.all():
            place = int(np.argmin(sane))
            raise ScoreError(
                f"{what}[{place}] is {values[place]}: scores are numbers up "
                f"to {kernels.LARGEST_SCORE:g} in magnitude, or -inf to forbid an arc."
            )


def check_direction(what: str, values: FloatArray, parts: Scores) -> None:
    expected = parts.arcs if what == "arcs" else parts.tables[what]  # type: ignore[index]  # a kind
    if values.shape != expected.shape:
        raise ShapeError(
            f"the gradient of {what} must have shape {expected.shape}, not {values.shape}."
        )
    read = values[expected > -np.inf]
    if not (np.abs(read) <= LARGEST_VALUE).all():
        raise ShapeError(
            f"the gradient of {what} must be finite numbers up to {LARGEST_VALUE:g} in magnitude."
        )


def frozen(arrays: Scores) -> Scores:
    """The same, read-only."""
    for array in (arrays.arcs, *arrays.tables.values()):
        read_only(array)
    return arrays
