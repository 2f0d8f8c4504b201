"""The scores of many sentences, which scorers make and engines take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from arbora._core import scores as kernels
from arbora.scores.kinds import KINDS, PART_KINDS, PartKind, kind_number
from arbora.scores.layout import Layout
from arbora.scores.parts import Parts, part_batch
from arbora.types import FloatArray, IntArray

__all__ = ["Scores"]

_NOTHING: FloatArray = np.empty(0)


@dataclass(frozen=True)
class Scores:
    """Arc scores of many sentences and a table of scores for every kind of part.

    `arcs` is flat: for each sentence (n+1) x (n+1) numbers [head, modifier], with labels as a
    third axis if `n_labels` is not None; -inf forbids an arc. Each table is flat, too: the parts
    of a sentence over its allowed arcs, in the order of `parts`. First-order scores have no tables.
    Gradients and marginals have the same shape and so the same type.
    """

    arcs: FloatArray
    n_words: NDArray[np.int64]
    n_labels: int | None = None
    tables: dict[PartKind, FloatArray] = field(default_factory=dict)
    parts: kernels.PartBatch | None = None  # positions of the parts; None without tables

    @classmethod
    def over(
        cls,
        arcs: FloatArray,
        n_words: NDArray[np.int64],
        kinds: Sequence[PartKind],
        threads: int = 1,
    ) -> Scores:
        """All parts of the given kinds over the allowed arcs, with scores of zero."""
        answer = cls.over_mask((arcs > -np.inf).view(np.uint8), n_words, kinds, threads)
        answer.arcs[:] = arcs
        return answer

    @classmethod
    def over_mask(
        cls,
        kept: NDArray[np.uint8],
        n_words: NDArray[np.int64],
        kinds: Sequence[PartKind],
        threads: int = 1,
    ) -> Scores:
        """All parts of the given kinds over a mask of arcs, with scores of zero."""
        counts = np.asarray(n_words, np.int64)
        index = part_batch(kept, counts, kinds, threads)
        sizes = {kind: index.first(kind_number(kind), len(counts)) for kind in kinds}
        tables = {kind: np.zeros(size) for kind, size in sizes.items()}
        return cls(np.zeros(len(kept)), counts, None, tables, index)

    @classmethod
    def from_parts(cls, parts: Parts) -> Scores:
        """One sentence; parts that were not given score 0."""
        index, tables = parts.tables()
        return cls(parts.arcs.reshape(-1), np.array([parts.n_words]), None, tables, index)

    @classmethod
    def joined(cls, sentences: Sequence[Parts], threads: int = 1) -> Scores:
        """Many sentences, each with all kinds of parts that any of them has."""
        kinds = [kind for kind in KINDS if any(kind in parts.kinds for parts in sentences)]
        arcs = np.concatenate([parts.arcs.reshape(-1) for parts in sentences])
        n_words = np.array([parts.n_words for parts in sentences])
        whole = cls.over(arcs, n_words, kinds, threads)
        for i, parts in enumerate(sentences):
            _, tables = parts.tables()
            for kind in parts.kinds:
                whole.piece(kind, i)[:] = tables[kind]
        return whole

    def __len__(self) -> int:
        return len(self.n_words)

    @property
    def kinds(self) -> tuple[PartKind, ...]:
        """The kinds of parts that have a table."""
        return tuple(self.tables)

    @property
    def index(self) -> kernels.PartBatch:
        """The position of each part in its table; first-order scores have none."""
        assert self.parts is not None
        return self.parts

    @property
    def depth(self) -> int:
        """Numbers per arc."""
        return 1 if self.n_labels is None else self.n_labels

    @property
    def layout(self) -> Layout:
        """Positions in the flat arrays of arcs."""
        return Layout(self.n_words)

    def values(self, kind: PartKind) -> FloatArray:
        """The table of a kind; empty if the model lacks it."""
        return self.tables.get(kind, _NOTHING)

    def arrays(self) -> list[FloatArray]:
        """Arcs and a table for each kind, as the kernels take them."""
        return [self.arcs, *(self.values(kind) for kind in KINDS)]

    def bounds(self, kind: PartKind, i: int) -> slice:
        """Where sentence i is in the table of a kind."""
        starts = self.starts(kind)
        return slice(int(starts[i]), int(starts[i + 1]))

    def starts(self, kind: PartKind) -> NDArray[np.int64]:
        """Where each sentence begins in the table of a kind, and the end."""
        number = kind_number(kind)
        first = [self.index.first(number, i) for i in range(len(self) + 1)]
        return np.array(first, dtype=np.int64)

    def piece(self, kind: PartKind, i: int) -> FloatArray:
        """The scores of sentence i in the table of a kind, a view."""
        return self.tables[kind][self.bounds(kind, i)]

    def arcs_of(self, i: int) -> FloatArray:
        """The arcs of sentence i, (n+1, n+1) or (n+1, n+1, labels)."""
        sides = self.n_words + 1
        first = int((sides[:i] ** 2).sum()) * self.depth
        side = int(sides[i])
        shape = (side, side) if self.n_labels is None else (side, side, self.n_labels)
        return self.arcs[first : first + side * side * self.depth].reshape(shape)

    def with_values(
        self, arcs: FloatArray, tables: dict[PartKind, FloatArray] | None = None
    ) -> Scores:
        """The same arcs and parts with other numbers; tables stay unless others are given."""
        return replace(self, arcs=arcs, tables=self.tables if tables is None else tables)

    def arcs_only(self, arcs: FloatArray | None = None) -> Scores:
        """The arcs without parts, by default with their scores."""
        return Scores(self.arcs if arcs is None else arcs, self.n_words, self.n_labels)

    def empty(self) -> Scores:
        """The same arcs and parts with room for numbers."""
        tables = {kind: np.empty(len(values)) for kind, values in self.tables.items()}
        return replace(self, arcs=np.empty(len(self.arcs)), tables=tables)

    def zeros(self) -> Scores:
        """The same arcs and parts with numbers of zero, to add to."""
        tables = {kind: np.zeros(len(values)) for kind, values in self.tables.items()}
        return replace(self, arcs=np.zeros(len(self.arcs)), tables=tables)

    def scaled(self, factors: FloatArray | float) -> Scores:
        """All numbers times a factor, or every sentence's times its own."""
        if isinstance(factors, float):
            tables = {kind: values * factors for kind, values in self.tables.items()}
            return replace(self, arcs=self.arcs * factors, tables=tables)
        sizes = (self.n_words + 1) ** 2 * self.depth
        tables = {
            kind: values * np.repeat(factors, np.diff(self.starts(kind)))
            for kind, values in self.tables.items()
        }
        return replace(self, arcs=self.arcs * np.repeat(factors, sizes), tables=tables)

    def __add__(self, other: Scores) -> Scores:
        """The sums of the numbers of two models over the same arcs and parts."""
        tables = {kind: values + other.tables[kind] for kind, values in self.tables.items()}
        return replace(self, arcs=self.arcs + other.arcs, tables=tables)

    def columns(self, kind: PartKind, i: int) -> NDArray[np.int64]:
        """The parts of sentence i as rows of an index array, in the order of the table."""
        listed = self.index.listed(kind_number(kind), i)
        return listed.reshape(-1, len(PART_KINDS[kind_number(kind)].columns))

    def sentence(self, i: int) -> Parts:
        """Sentence i as `Parts`."""
        lists = {str(kind): (self.columns(kind, i), self.piece(kind, i)) for kind in self.kinds}
        return Parts(self.arcs_of(i), **lists)

    def of_tree(self, kind: PartKind, i: int, heads: IntArray) -> NDArray[np.int64]:
        """The positions of a tree's parts in the piece of sentence i."""
        return self.index.of_tree(kind_number(kind), i, heads)
