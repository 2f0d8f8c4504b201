"""Padded batches: lengths and masks, and their cells as the flat arrays of the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from arbora.errors import ShapeError
from arbora.inference.packed import room

__all__ = ["Padding", "as_numpy", "lengths_of_mask", "reused"]

Cells = NDArray[np.int64]


def as_numpy(tensor: Tensor) -> NDArray[Any]:
    """A contiguous array over the numbers of a tensor of any device and dtype."""
    given = tensor.detach().cpu().contiguous()
    array: NDArray[Any] = (given.float() if given.dtype == torch.bfloat16 else given).numpy()
    return array


@dataclass(frozen=True)
class Padding:
    """How many words each sentence of a padded batch has; `side` is the longest length plus 1."""

    n_words: Cells
    side: int

    @classmethod
    def of(cls, scores: Tensor, lengths: Tensor) -> Padding:
        """The padding of scores (B, N+1, N+1, ...), with its lengths checked."""
        n_words = as_numpy(lengths).astype(np.int64)
        side = scores.shape[1]
        bad = np.flatnonzero((n_words < 1) | (n_words >= side))
        if len(bad):
            raise ShapeError(
                f"sentence {bad[0]}: its length is {n_words[bad[0]]}, but the scores have room "
                f"for 1 to {side - 1} words (the root symbol does not count)."
            )
        return cls(n_words, side)

    def __len__(self) -> int:
        return len(self.n_words)

    @property
    def cells(self) -> Cells | None:
        """The positions of the sentences' cells among all (B, N+1, N+1); None if all are used."""
        return _cells(self.n_words.tobytes(), self.side)

    @property
    def words(self) -> NDArray[np.bool_]:
        """Which places of (B, N) are words."""
        return np.arange(1, self.side) <= self.n_words[:, None]

    def flat(self, padded: NDArray[Any]) -> NDArray[np.float64]:
        """The cells of (B, N+1, N+1, ...), one sentence after the other."""
        cells, depth = self.cells, padded.shape[3:]
        rows = padded.reshape(len(self) * self.side**2, *depth)
        used = rows if cells is None else rows.take(cells, axis=0)
        answer = room(used.size)  # memory that is used again: fresh pages cost more than the copy
        answer[:] = used.reshape(-1)
        return answer

    def padded(self, flat: NDArray[Any], like: Tensor) -> Tensor:
        """The inverse of `flat`, with zeros in the padding; shape, dtype and device of a tensor."""
        inside, depth = _inside(self.n_words.tobytes(), self.side), like.shape[3:]
        answer = reused(like)
        if inside is None:
            answer[:] = flat
        else:
            answer.fill(0.0)
            # A mask is faster than positions where numbers are put, and slower where taken.
            answer.reshape(-1, *depth)[inside] = flat.reshape(-1, *depth)
        return torch.from_numpy(answer.reshape(like.shape)).to(like.device, like.dtype)

    def columns(self, flat: NDArray[np.float64]) -> Tensor:
        """A number for each column (n+1 per sentence) as (B, N+1), with zeros in the padding."""
        answer = np.zeros((len(self), self.side))
        answer[np.arange(self.side) <= self.n_words[:, None]] = flat
        return torch.from_numpy(answer)

    def heads(self, flat: NDArray[Any]) -> Tensor:
        """A number for each word as (B, N), with -1 in the padding."""
        answer = np.full((len(self), self.side - 1), -1, dtype=np.int64)
        answer[self.words] = flat
        return torch.from_numpy(answer)

    def lists(self, flat: NDArray[Any], counts: Cells, k: int) -> Tensor:
        """Several numbers for each word, tree after tree, as (B, k, N); -1 where there are none."""
        answer = np.full((len(self), k, self.side - 1), -1, dtype=np.int64)
        places = (np.arange(k) < counts[:, None])[:, :, None] & self.words[:, None, :]
        answer[places] = flat
        return torch.from_numpy(answer)


def reused(like: Tensor) -> NDArray[Any]:
    """An uninitialised flat array for the numbers of a tensor, over memory that is used again."""
    kind = np.dtype(np.float32 if like.dtype == torch.float32 else np.float64)
    return room((like.numel() * kind.itemsize + 7) // 8).view(kind)[: like.numel()]


@lru_cache(maxsize=16)  # forward, backward and the other questions about a batch have the same
def _inside(lengths: bytes, side: int) -> NDArray[np.bool_] | None:
    """Which of all (B, N+1, N+1) are cells of sentences, flat; None for all."""
    n_words = np.frombuffer(lengths, dtype=np.int64)
    if (n_words == side - 1).all():
        return None
    kept = np.arange(side) <= n_words[:, None]
    return np.asarray(kept[:, :, None] & kept[:, None, :]).reshape(-1)


@lru_cache(maxsize=16)
def _cells(lengths: bytes, side: int) -> Cells | None:
    inside = _inside(lengths, side)
    return None if inside is None else np.flatnonzero(inside)


def lengths_of_mask(mask: NDArray[np.bool_], n_words: int) -> Cells:
    """The lengths of a mask (B, N) of words, or (B, N+1) with the root symbol in front."""
    words = mask[:, 1:] if mask.shape[1] == n_words + 1 else mask
    lengths = words.sum(axis=1)
    bad = np.flatnonzero((words != (np.arange(n_words) < lengths[:, None])).any(axis=1))
    if len(bad):
        raise ShapeError(
            f"sentence {bad[0]}: the mask has a gap, but padding must follow the words; to forbid "
            "arcs, give a mask of arcs, (B, N+1, N+1)."
        )
    return np.asarray(lengths, dtype=np.int64)
