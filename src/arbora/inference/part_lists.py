"""Parts in the order in which they were given, over arcs that constraints may forbid later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import ArgumentError, ShapeError
from arbora.inference.arguments import as_real
from arbora.inference.packed import read_only
from arbora.scores import KINDS, PART_KINDS, PartKind, PartList, Parts, Scores, kind_number
from arbora.types import FloatArray

__all__ = ["PartLists"]

Places = NDArray[np.int64]
_WIDTHS: dict[PartKind, int] = {kind.name: len(kind.columns) for kind in PART_KINDS}


@dataclass(frozen=True)
class PartLists:
    """For every kind of parts a model has, the parts that were given and their scores."""

    of_kind: dict[PartKind, PartList]

    @classmethod
    def of(cls, parts: Parts) -> PartLists:
        """The lists of a sentence's parts."""
        return cls({kind: getattr(parts, kind) for kind in parts.kinds})

    @property
    def kinds(self) -> tuple[PartKind, ...]:
        """The kinds of parts that were given."""
        return tuple(self.of_kind)

    def with_kinds(self, kinds: Sequence[PartKind]) -> PartLists:
        """The same with further kinds without given parts: all their parts score 0."""
        nothing = {
            kind: PartList(np.zeros((0, _WIDTHS[kind]), dtype=np.int64), np.empty(0))
            for kind in kinds
        }
        return PartLists({kind: self.of_kind.get(kind, nothing[kind]) for kind in kinds})

    def packed(self, arcs: FloatArray) -> Scores:
        """Tables over the allowed arcs; parts of other arcs are left out."""
        flat = np.ascontiguousarray(arcs).reshape(-1)
        packed = Scores.over(flat, np.array([len(arcs) - 1]), self.kinds)
        for kind, (rows, scores) in self.of_kind.items():
            places = self.places(packed, kind, rows)
            packed.tables[kind][places[places >= 0]] = scores[places >= 0]
        return packed

    @staticmethod
    def places(packed: Scores, kind: PartKind, rows: Places) -> Places:
        """The positions of parts in the table of one sentence; negative if absent."""
        return packed.index.numbers(kind_number(kind), 0, np.ascontiguousarray(rows).reshape(-1))

    def listed(
        self, packed: Scores, tables: Mapping[PartKind, FloatArray]
    ) -> dict[PartKind, FloatArray]:
        """The values of tables in the order of the lists; 0 for impossible parts."""
        answer: dict[PartKind, FloatArray] = {}
        for kind, (rows, _) in self.of_kind.items():
            places = self.places(packed, kind, rows)
            values = np.zeros(len(rows))
            values[places >= 0] = tables[kind][places[places >= 0]]
            answer[kind] = read_only(values)
        return answer

    def tables(
        self, packed: Scores, values: Mapping[PartKind, ArrayLike]
    ) -> dict[PartKind, FloatArray]:
        """Numbers in the order of the lists as tables; those of impossible parts are not read."""
        if not isinstance(values, Mapping):
            raise ArgumentError(
                f"d_part_marginals must map kinds of parts to numbers, not be "
                f"{type(values).__name__}."
            )
        answer: dict[PartKind, FloatArray] = {}
        for kind, given in values.items():
            if kind not in self.of_kind:
                raise ArgumentError(f"there are no {kind} in the model: leave out their gradient.")
            rows = self.of_kind[kind].rows
            array = as_real(given, kind).astype(np.float64)
            if array.shape != (len(rows),):
                raise ShapeError(
                    f"{kind} must have {len(rows)} numbers, one per part, not shape {array.shape}."
                )
            places = self.places(packed, kind, rows)
            answer[kind] = np.zeros(len(packed.tables[kind]))
            answer[kind][places[places >= 0]] = array[places >= 0]
        return answer

    def __add__(self, other: PartLists) -> PartLists:
        """All parts of both, those of the first list first; the scores of common ones add up."""
        kinds = [kind for kind in KINDS if kind in self.of_kind or kind in other.of_kind]
        one, two = self.with_kinds(kinds), other.with_kinds(kinds)
        return PartLists({kind: _joined(one.of_kind[kind], two.of_kind[kind]) for kind in kinds})


def _joined(first: PartList, second: PartList) -> PartList:
    sums: dict[tuple[int, ...], float] = {}
    for rows, scores in (first, second):
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            sums[tuple(row)] = sums.get(tuple(row), 0.0) + score
    rows = np.array(list(sums), dtype=np.int64).reshape(len(sums), first.rows.shape[1])
    return PartList(read_only(rows), read_only(np.array(list(sums.values()))))
