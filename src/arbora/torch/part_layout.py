"""Scores of parts in padded tables or lists, and their places in the tables of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from arbora.errors import ArgumentError, ScoreError
from arbora.inference.packed import Packed, room
from arbora.scores import KINDS, PART_KINDS, PartKind, Scores, kind_number
from arbora.torch.operators import checked
from arbora.torch.padding import Padding, as_numpy, reused
from arbora.types import FloatArray

__all__ = ["PartLayout", "is_list", "table_shape"]

Places = NDArray[np.int64]

_SPECIAL = {"grandparent", "previous", "next"}  # columns that may be -1
LARGEST = 1e14  # as for all scores


def table_shape(kind: PartKind, batch: int, side: int, *, special: bool) -> tuple[int, ...]:
    """The shape of the padded table of a kind, with or without places for columns of -1."""
    sizes = [
        2 if name == "side" else side + 1 if special and name in _SPECIAL else side
        for name in PART_KINDS[kind_number(kind)].columns
    ]
    return batch, *sizes


def is_list(row: Tensor) -> bool:
    """Whether parts are given as a list; the index of a table has no columns."""
    return row.shape[1] > 0


@dataclass(frozen=True)
class PartLayout:
    """For every kind, where the numbers of the kernels' table come from among the given numbers.

    `places` holds a position in the flattened tensor for every number of a table, or -1 if the
    part was not given and scores 0.
    """

    padding: Padding
    packed: Packed
    scores: Scores
    places: dict[PartKind, Places]

    @classmethod
    def of(
        cls,
        arcs: Tensor,
        lengths: Tensor,
        values: Sequence[Tensor],
        rows: Sequence[Tensor],
        kinds: Sequence[int],
        projective: bool,
        multi: bool,
    ) -> PartLayout:
        """Checked scores of a batch, in the form of the kernels."""
        padding, packed = checked(arcs, lengths, projective, multi)
        names = [KINDS[number] for number in kinds]
        kept = (packed.flat > -np.inf).view(np.uint8)
        pairs = zip(values, rows, strict=True)
        shapes = tuple(None if is_list(row) else tuple(value.shape) for value, row in pairs)
        empty, dense = _places_of_tables(
            kept.tobytes(), padding.n_words.tobytes(), tuple(names), shapes, padding.side
        )
        places, tables = {}, {}
        for name, value, row in zip(names, values, rows, strict=True):
            listed = name not in dense
            places[name] = _places_of_list(empty, name, as_numpy(row)) if listed else dense[name]
            tables[name] = _gathered(as_numpy(value).reshape(-1), places[name])
            highest, lowest = tables[name].max(initial=0.0), tables[name].min(initial=0.0)
            if not (highest <= LARGEST and lowest >= -LARGEST):  # also if one is NaN
                wrong = tables[name][~(np.abs(tables[name]) <= LARGEST)][0]
                raise ScoreError(
                    f"a score of {name} is {wrong}: parts score finite numbers up to {LARGEST:g} "
                    "in magnitude; forbid arcs, not parts."
                )
        return cls(padding, packed, empty.with_values(packed.flat, tables), places)

    def given(self, kind: PartKind, table: FloatArray, like: Tensor) -> Tensor:
        """The numbers of a table in the places where they were given; 0 elsewhere."""
        places, answer = self.places[kind], reused(like)
        answer.fill(0.0)
        if _complete(places):
            answer[places] = table
        else:
            known = places >= 0
            answer[places[known]] = table[known]
        return torch.from_numpy(answer).reshape(like.shape).to(like.device, like.dtype)

    def table(self, kind: PartKind, given: Tensor) -> FloatArray:
        """Numbers in the shape of the given ones as a table."""
        return _gathered(as_numpy(given).reshape(-1), self.places[kind])

    def of_tree(self, kind: PartKind, i: int, heads: NDArray[np.int64]) -> Places:
        """The positions of a tree's parts among the given numbers; -1 if not given."""
        first = self.scores.bounds(kind, i).start
        found = self.scores.of_tree(kind, i, heads.astype(np.int32))
        return self.places[kind][found + first]


def _complete(places: Places) -> bool:
    """Whether every part was given."""
    return bool(places.min(initial=0) >= 0)


def _gathered(numbers: NDArray[Any], places: Places) -> FloatArray:
    table = room(len(places))
    if _complete(places):
        table[:] = numbers.take(places)
    else:
        known = places >= 0
        table.fill(0.0)
        table[known] = numbers.take(places[known])
    return table


@lru_cache(maxsize=2)  # a batch's backward follows its forward
def _places_of_tables(
    kept: bytes, lengths: bytes, names: tuple[PartKind, ...], shapes: tuple[Any, ...], side: int
) -> tuple[Scores, dict[PartKind, Places]]:
    """The empty tables of a batch, and the places of those kinds that are given as tables."""
    n_words = np.frombuffer(lengths, dtype=np.int64)
    mask = np.frombuffer(kept, dtype=np.uint8)
    empty = Scores.over_mask(mask, n_words, names, torch.get_num_threads())
    cells = np.cumsum([0, *(n_words + 1) ** 2])
    places = {}
    for name, shape in zip(names, shapes, strict=True):
        if shape is None:
            continue
        size = int(np.prod(shape[1:]))
        pieces = []
        for i, n in enumerate(n_words.tolist()):
            if int(mask[cells[i] : cells[i + 1]].sum()) == n * n:
                own = _places_of_all(name, n, shape[1:], side)
            else:
                own = _positions(empty.columns(name, i), name, shape[1:], side)
            pieces.append(np.where(own < 0, -1, own + i * size) if own.min(initial=0) < 0
                          else own + i * size)  # fmt: skip
        places[name] = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)
    return empty, places


@lru_cache(maxsize=64)  # sentences of one length have the same parts if no arc is forbidden
def _places_of_all(name: PartKind, n: int, shape: tuple[int, ...], side: int) -> Places:
    mask = np.ones((n + 1, n + 1), dtype=np.uint8)
    mask[:, 0] = 0
    np.fill_diagonal(mask, 0)
    rows = Scores.over_mask(mask.reshape(-1), np.array([n]), [name]).columns(name, 0)
    return _positions(rows, name, shape, side)


def _positions(rows: Places, name: PartKind, shape: tuple[int, ...], side: int) -> Places:
    """The positions of parts in one sentence's table; -1 if it has no place for them."""
    answer = np.zeros(len(rows), dtype=np.int64)
    absent = np.zeros(len(rows), dtype=np.bool_)
    columns = PART_KINDS[kind_number(name)].columns
    for j, (column, size) in enumerate(zip(columns, shape, strict=True)):
        place = rows[:, j]
        if column in _SPECIAL:
            if size == side:
                absent |= place < 0
            place = np.where(place < 0, size - 1, place)
        answer = answer * size + place
    answer[absent] = -1
    return answer


def _places_of_list(empty: Scores, name: PartKind, rows: NDArray[np.int64]) -> Places:
    """For every number of a table the row that gives it, or -1."""
    kind = PART_KINDS[kind_number(name)]
    batch = rows[:, 0]
    if len(rows) and (batch.min() < 0 or batch.max() >= len(empty)):
        raise ArgumentError(
            f"the first column of the index of {name} is the sentence, from 0 to {len(empty) - 1}, "
            f"but goes from {batch.min()} to {batch.max()}."
        )
    answer = np.full(len(empty.tables[name]), -1, dtype=np.int64)
    order = np.argsort(batch, kind="stable")
    ends = np.searchsorted(batch[order], np.arange(len(empty) + 1))
    for i in np.unique(batch).tolist():
        own = order[ends[i] : ends[i + 1]]
        columns = np.ascontiguousarray(rows[own, 1:])
        numbers = empty.index.numbers(kind_number(name), i, columns.reshape(-1))
        wrong = np.flatnonzero((numbers == -1) | (numbers == -3))
        if len(wrong):
            raise ArgumentError(
                f"{name}[{own[wrong[0]]}] is {columns[wrong[0]].tolist()}, columns "
                f"({', '.join(kind.columns)}) of sentence {i}, but a number is out of range or out "
                f"of order: {kind.rule}."
            )
        possible = numbers >= 0  # others have a forbidden arc and are not read
        target = numbers[possible] + empty.bounds(name, i).start
        answer[target] = own[possible]
        again = np.flatnonzero(answer[target] != own[possible])
        if len(again):
            row = own[possible][again[0]]
            raise ArgumentError(f"{name}[{row}] is given twice: give each part once.")
    return answer
