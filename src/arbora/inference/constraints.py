"""Constraints on trees as exact masks: an arc that may not be used scores -inf."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

import numpy as np

from arbora.errors import ConstraintError
from arbora.types import FloatArray, Root

__all__ = ["Arc", "as_arc", "masked"]

Arc = Sequence[int]
"""(head, modifier), or (head, modifier, label)."""


def masked(
    scores: FloatArray, required: Iterable[Arc], forbidden: Iterable[Arc], root: Root
) -> FloatArray:
    """A copy of the scores in which only trees with the required arcs are possible."""
    n_words = scores.shape[0] - 1
    n_labels = scores.shape[2] if scores.ndim == 3 else None
    wanted = [as_arc(arc, n_words, n_labels, "required ") for arc in _listed(required, "required")]
    unwanted = [
        as_arc(arc, n_words, n_labels, "forbidden ") for arc in _listed(forbidden, "forbidden")
    ]
    _check_agreement(wanted, unwanted, root)

    answer = np.array(scores)
    for arc in wanted:
        head, modifier = arc[:2]
        kept = answer[head, modifier].copy()
        if len(arc) == 3:
            kept[np.arange(len(kept)) != arc[2]] = -np.inf
        answer[:, modifier] = -np.inf
        answer[head, modifier] = kept
    for arc in unwanted:
        answer[arc] = -np.inf
    for arc in wanted:
        if np.all(np.isneginf(answer[arc[:2]])):
            raise ConstraintError(f"required arc {arc}: its score is -inf, so no tree has it.")
    return answer


def _listed(arcs: Iterable[Arc], kind: str) -> list[Arc]:
    try:
        return list(arcs)
    except TypeError:
        raise ConstraintError(
            f"{kind} must be a list of arcs (head, modifier), not {arcs!r}."
        ) from None


def as_arc(arc: Arc, n_words: int, n_labels: int | None, kind: str) -> tuple[int, ...]:
    """The arc as integers; `kind` begins the message if there is no such arc."""
    try:
        numbers = tuple(operator.index(number) for number in arc)
    except TypeError:
        numbers = ()
    if len(numbers) == 3 and n_labels is None:
        raise ConstraintError(f"{kind}arc {arc!r} has a label, but the scores have none.")
    if len(numbers) not in (2, 3):
        shape = (
            "(head, modifier)"
            if n_labels is None
            else "(head, modifier) or (head, modifier, label)"
        )
        raise ConstraintError(f"{kind}arc {arc!r} must be {shape}, all integers.")
    head, modifier = numbers[:2]
    if not 0 <= head <= n_words:
        raise ConstraintError(f"{kind}arc {numbers}: there is no head {head}, only 0 to {n_words}.")
    if not 1 <= modifier <= n_words:
        raise ConstraintError(
            f"{kind}arc {numbers}: there is no word {modifier}, only 1 to {n_words}."
        )
    if head == modifier:
        raise ConstraintError(f"{kind}arc {numbers}: word {modifier} cannot be its own head.")
    if n_labels is not None and len(numbers) == 3 and not 0 <= numbers[2] < n_labels:
        raise ConstraintError(
            f"{kind}arc {numbers}: there is no label {numbers[2]}, only 0 to {n_labels - 1}."
        )
    return numbers


def _check_agreement(
    required: list[tuple[int, ...]], forbidden: list[tuple[int, ...]], root: Root
) -> None:
    heads: dict[int, int] = {}
    labels: dict[int, int] = {}
    unwanted = set(forbidden)
    for arc in required:
        head, modifier = arc[:2]
        if heads.setdefault(modifier, head) != head:
            raise ConstraintError(
                f"required gives word {modifier} two heads, {heads[modifier]} and {head}: keep one."
            )
        if len(arc) == 3 and labels.setdefault(modifier, arc[2]) != arc[2]:
            raise ConstraintError(
                f"required gives word {modifier} two labels, {labels[modifier]} and {arc[2]}: "
                "keep one."
            )
        if arc in unwanted or arc[:2] in unwanted:
            raise ConstraintError(f"arc {arc} is both required and forbidden: keep one of the two.")
    roots = [modifier for modifier, head in heads.items() if head == 0]
    if root == "single" and len(roots) > 1:
        raise ConstraintError(
            f"words {roots[0]} and {roots[1]} are both required to be roots, "
            'but the trees have a single root: use root="multi".'
        )
    for start in heads:
        path = [start]
        while (head := heads.get(path[-1], 0)) != 0:
            if head in path:
                cycle = " -> ".join(map(str, [*reversed(path[path.index(head) :]), path[-1]]))
                raise ConstraintError(f"the required arcs form a cycle, {cycle}: leave one out.")
            path.append(head)
