"""Dual decomposition for packs of sentences: the border to the kernel, for parsers."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from arbora._core import inference as kernels
from arbora.errors import ArgumentError, NoTreeError
from arbora.inference.arguments import as_count, check_choice
from arbora.parts import PackedParts
from arbora.types import FloatArray, IntArray, Root, TreeClass

__all__ = ["DualAnswers", "Solver", "check_kinds", "decode_dual"]

Solver = Literal["subgradient", "ad3"]


class DualAnswers(NamedTuple):
    """Trees of many sentences with their certificates, one number per sentence but for `heads`."""

    heads: IntArray  # of all words, one sentence after the other
    scores: FloatArray
    bounds: FloatArray  # no tree scores more
    certified: NDArray[np.bool_]
    iterations: NDArray[np.int64]


def decode_dual(
    parts: PackedParts,
    trees: TreeClass = "nonprojective",
    root: Root = "single",
    max_iterations: int = 5000,
    solver: Solver = "subgradient",
    *,
    lazy: bool = True,
) -> DualAnswers:
    """The best trees by dual decomposition (Koo et al. 2010); Ctrl-C ends it promptly.

    Without `lazy`, all head automata are run in every iteration; the answers are the same.
    """
    check_choice(trees, ("nonprojective", "projective"), "trees")
    check_choice(root, ("single", "multi"), "root")
    check_choice(solver, get_args(Solver), "solver")
    check_kinds(parts)
    limit = as_count(max_iterations, "max_iterations")
    count = len(parts)
    answers = DualAnswers(
        np.empty(int(parts.n_words.sum()), dtype=np.int32), np.empty(count), np.empty(count),
        np.empty(count, dtype=np.bool_), np.empty(count, dtype=np.int64),
    )  # fmt: skip
    kernels.decode_dual(
        parts.index, *parts.arrays(), trees == "projective", root == "multi", limit, lazy,
        answers.heads, answers.scores, answers.bounds, answers.certified.view(np.uint8),
        answers.iterations, parts.threads,
    )  # fmt: skip
    impossible = np.flatnonzero(answers.iterations == 0)
    if len(impossible):
        raise NoTreeError(f"sentence {impossible[0]} has no {trees} tree over the allowed arcs.")
    for array in answers:
        array.setflags(write=False)
    return answers


def check_kinds(parts: PackedParts) -> None:
    """Refuses parts that no head automaton can score."""
    if "siblings" in parts.kinds:
        raise ArgumentError(
            "head automata walk from one modifier to the next, so they cannot score `siblings` "
            "(any two modifiers): use LoopyTrees or an integer program for these parts."
        )
