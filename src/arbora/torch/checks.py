"""Custom operators that read data to check it: heads, labels, and which trees exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.library import custom_op

from arbora.errors import ShapeError
from arbora.inference import ProjectiveTrees, SpanningTrees
from arbora.inference.divergence import has_more_trees as one_has_more_trees
from arbora.inference.tree_checks import are_trees
from arbora.torch.padding import Padding, as_numpy, lengths_of_mask

__all__ = ["checked_heads", "checked_labels", "has_more_trees", "word_lengths"]

_AT_ONCE = 1 << 24  # pairs of arcs that are compared at once


@custom_op("arbora::word_lengths", mutates_args=())
def word_lengths(mask: Tensor, n_words: int) -> Tensor:
    """The lengths of a mask of words; raises if the padding is not at the end."""
    return torch.from_numpy(lengths_of_mask(as_numpy(mask), n_words)).to(mask.device)


@word_lengths.register_fake
def _(mask: Tensor, n_words: int) -> Tensor:
    return mask.new_empty(mask.shape[0], dtype=torch.int64)


@custom_op("arbora::checked_heads", mutates_args=())
def checked_heads(
    heads: Tensor, lengths: Tensor, projective: bool, multi: bool, partial: bool
) -> tuple[Tensor, Tensor]:
    """Heads (B, k, N) with 0 in the padding, and which are trees of the class, (B, k).

    Raises for heads out of range. With `partial`, -1 is an unknown head, and nothing is a tree.
    """
    given = as_numpy(heads)
    n_words, words = _words(lengths, given.shape[2])
    clean = np.where(words, given, 0)
    least = -1 if partial else 0
    bad = (clean < least) | (clean > n_words[:, None, None])
    if bad.any():
        i, k, word = np.argwhere(bad)[0].tolist()
        raise ShapeError(
            f"sentence {i}: the head of word {word + 1} is {clean[i, k, word]}: it must be 0 (the "
            f"root) or a word from 1 to {n_words[i]}."
        )
    if partial:
        possible = np.zeros(given.shape[:2], dtype=np.bool_)
    else:
        possible = _in_class(clean, words, projective, multi)
    return torch.from_numpy(clean).to(heads.device), torch.from_numpy(possible).to(heads.device)


@checked_heads.register_fake
def _(heads: Tensor, lengths: Tensor, projective: bool, multi: bool, partial: bool) -> Any:
    return torch.empty_like(heads), heads.new_empty(heads.shape[:2], dtype=torch.bool)


def _words(lengths: Tensor, n: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    n_words = as_numpy(lengths)
    return n_words, (np.arange(1, n + 1) <= n_words[:, None])[:, None, :]


def _in_class(
    heads: NDArray[np.int64], words: NDArray[np.bool_], projective: bool, multi: bool
) -> NDArray[np.bool_]:
    """Which are trees; the padding has heads of 0, which change nothing but the number of roots."""
    batch, k, n = heads.shape
    possible = are_trees(heads.reshape(-1, n)).reshape(batch, k)
    if not multi:
        possible &= ((heads == 0) & words).sum(2) == 1
    if projective:
        places = np.argwhere(possible)
        step = max(1, _AT_ONCE // n**2)
        for start in range(0, len(places), step):
            some = tuple(places[start : start + step].T)
            possible[some] = _without_crossing(heads[some])
    return possible


def _without_crossing(heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each row of heads (k, n): does no arc cross another?"""
    words = np.arange(1, heads.shape[1] + 1)
    low, high = np.minimum(heads, words), np.maximum(heads, words)
    starts_inside = (low[:, :, None] < low[:, None, :]) & (low[:, None, :] < high[:, :, None])
    crossing = starts_inside & (high[:, :, None] < high[:, None, :])
    return np.asarray(~crossing.any((1, 2)))


@custom_op("arbora::checked_labels", mutates_args=())
def checked_labels(labels: Tensor, n_labels: int) -> Tensor:
    """A copy of labels (B, k, N), from -1 (unknown) to n_labels - 1."""
    given = as_numpy(labels)
    bad = (given < -1) | (given >= n_labels)
    if bad.any():
        i, k, word = np.argwhere(bad)[0].tolist()
        raise ShapeError(
            f"sentence {i}: the label of word {word + 1} is {given[i, k, word]}: it must be from 0 "
            f"to {n_labels - 1}, or -1 if unknown."
        )
    return labels.clone()


@checked_labels.register_fake
def _(labels: Tensor, n_labels: int) -> Tensor:
    return torch.empty_like(labels)


@custom_op("arbora::has_more_trees", mutates_args=())
def has_more_trees(
    mine: Tensor, theirs: Tensor, lengths: Tensor, their_lengths: Tensor, projective: bool,
    multi: bool, their_projective: bool, their_multi: bool,
) -> Tensor:  # fmt: skip
    """Where the first distribution has a tree that the second lacks, (B,)."""
    padding = Padding.of(mine, lengths)
    if not np.array_equal(padding.n_words, as_numpy(their_lengths)):
        raise ShapeError("the two distributions have sentences of different lengths.")
    own, other = as_numpy(mine), as_numpy(theirs)
    wider = (projective < their_projective) or (multi > their_multi)
    suspects = np.isfinite(own) & np.isneginf(other)
    answer = np.zeros(len(own), dtype=np.bool_)
    for i in range(len(own)) if wider else np.flatnonzero(suspects.any((1, 2))).tolist():
        sides = slice(padding.n_words[i] + 1)
        first = ProjectiveTrees if projective else SpanningTrees
        second = ProjectiveTrees if their_projective else SpanningTrees
        answer[i] = one_has_more_trees(
            first(own[i, sides, sides], "multi" if multi else "single"),
            second(other[i, sides, sides], "multi" if their_multi else "single"),
        )
    return torch.from_numpy(answer).to(mine.device)


@has_more_trees.register_fake
def _(mine: Tensor, *_: Any) -> Tensor:
    return mine.new_empty(mine.shape[0], dtype=torch.bool)
