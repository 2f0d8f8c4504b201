"""Scores of arcs and parts of padded batches."""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor

from arbora.errors import ArgumentError, ShapeError
from arbora.scores import KINDS, PART_KINDS, PartKind, kind_number
from arbora.torch.part_layout import is_list, table_shape
from arbora.torch.questions import as_mask_or_lengths, checked_scores

__all__ = ["Parts"]

Given: TypeAlias = Tensor | tuple[Tensor, Tensor]


class Parts:
    """Scores of arcs, (B, N+1, N+1), and of parts of two or three arcs, of a padded batch.

    Each kind of parts is a padded table or a list. A table has the batch as its first axis and then
    an axis for each column of `arbora.Parts`, so that the columns are the place of a part:
    siblings, for instance, are `table[b, head, modifier, modifier]`, (B, N+1, N+1, N+1), read where
    the smaller modifier comes first. The axis of side has two places; those of previous, next and
    grandparent have N+1, or N+2 of which the last is for -1 (START, END, the root's grandparent).
    A list is a pair of an index (K, 1 + columns), whose first column is the sentence, and scores
    (K,). Parts that are not listed score 0. Parts of forbidden arcs and of padding are never read.

    Gradients reach the scores of arcs and of parts.
    """

    def __init__(
        self,
        arcs: Tensor,
        consecutive_siblings: Given | None = None,
        siblings: Given | None = None,
        grandparents: Given | None = None,
        grandsiblings: Given | None = None,
        head_bigrams: Given | None = None,
        *,
        lengths: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> None:
        self.arcs = checked_scores(arcs, "arcs", axes=(3,))
        self.lengths, allowed = as_mask_or_lengths(self.arcs, lengths, mask)
        wide = self.arcs.double()
        self._wide = wide if allowed is None else wide.masked_fill(~allowed, -torch.inf)
        given = (consecutive_siblings, siblings, grandparents, grandsiblings, head_bigrams)
        self._lists = {
            kind: self._checked(kind, one)
            for kind, one in zip(KINDS, given, strict=True)
            if one is not None
        }

    @property
    def kinds(self) -> tuple[PartKind, ...]:
        """The kinds of parts that were given."""
        return tuple(self._lists)

    @property
    def values(self) -> dict[PartKind, Tensor]:
        """The scores of every kind, as they were given."""
        return {kind: value for kind, (value, _) in self._lists.items()}

    def __repr__(self) -> str:
        kinds = ", ".join(f"{kind} {tuple(value.shape)}" for kind, value in self.values.items())
        return f"Parts({tuple(self.arcs.shape)}{', ' + kinds if kinds else ''})"

    def _arguments(self) -> tuple[Tensor, Tensor, list[Tensor], list[Tensor], list[int]]:
        """What the operators take."""
        values = [value for value, _ in self._lists.values()]
        rows = [row for _, row in self._lists.values()]
        return self._wide, self.lengths, values, rows, [kind_number(kind) for kind in self._lists]

    def _same_parts(self, other: Parts) -> bool:
        if self.kinds != other.kinds or self.arcs.shape != other.arcs.shape:
            return False
        pairs = zip(self._lists.values(), other._lists.values(), strict=True)
        return all(a.shape == b.shape and torch.equal(r, s) for (a, r), (b, s) in pairs)

    def _checked(self, kind: PartKind, given: Given) -> tuple[Tensor, Tensor]:
        """Scores, and the index of a list; tables have an index without columns."""
        if isinstance(given, Tensor):
            self._check_float(kind, given)
            batch, side = self.arcs.shape[:2]
            shapes = [table_shape(kind, batch, side, special=s) for s in (False, True)]
            fits = given.dim() == len(shapes[0]) and all(
                size in pair for size, *pair in zip(given.shape, *shapes, strict=True)
            )
            if not fits:
                names = ("sentence", *PART_KINDS[kind_number(kind)].columns)
                either = "" if shapes[0] == shapes[1] else f" or {shapes[1]}"
                raise ShapeError(
                    f"the table of {kind} must have shape {shapes[0]}{either}, axes "
                    f"({', '.join(names)}), not {tuple(given.shape)}."
                )
            return given, torch.empty((0, 0), dtype=torch.int64, device=given.device)
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise ArgumentError(f"{kind} must be a table, or a pair of an index and scores.")
        index, scores = given
        self._check_float(kind, scores)
        width = 1 + len(PART_KINDS[kind_number(kind)].columns)
        whole = isinstance(index, Tensor) and not index.is_floating_point()
        if not whole or index.dim() != 2 or index.shape[1] != width:
            columns = ", ".join(("sentence", *PART_KINDS[kind_number(kind)].columns))
            raise ShapeError(
                f"the index of {kind} must be whole numbers of shape (K, {width}), columns "
                f"({columns})."
            )
        if scores.shape != index.shape[:1]:
            raise ShapeError(
                f"{kind} has {len(index)} parts and scores of shape {tuple(scores.shape)}: give "
                "one each."
            )
        return scores, index.to(torch.int64)

    @staticmethod
    def _check_float(kind: PartKind, scores: Tensor) -> None:
        if not isinstance(scores, Tensor) or not scores.is_floating_point():
            what = scores.dtype if isinstance(scores, Tensor) else type(scores).__name__
            raise ArgumentError(
                f"the scores of {kind} must be a tensor of a float dtype, not {what}."
            )


def weighted(values: Tensor, row: Tensor, weights: Tensor, n_sentences: int) -> Tensor:
    """The sum of values times weights over each sentence's parts, (B,), in float64."""
    products = values.double() * weights.double()
    if not is_list(row):
        return products.flatten(1).sum(1)
    return products.new_zeros(n_sentences).index_add(0, row[:, 0], products)
