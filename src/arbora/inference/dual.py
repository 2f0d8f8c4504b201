"""Dual decomposition of many sentences: calls of the kernels, for parsers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from arbora._core import inference as kernels
from arbora.errors import ArgumentError, NoTreeError
from arbora.inference.arguments import as_count, check_choice
from arbora.scores import Scores, chained_kinds
from arbora.types import FloatArray, IntArray, Root, TreeClass

__all__ = [
    "DualAnswers", "DualHistory", "PackedAutomata", "Solver", "check_kinds", "decode_dual",
    "dual_history",
]  # fmt: skip

Solver = Literal["subgradient", "ad3", "branch", "exact"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)  # a solver's place here is its number in the core

# The default of max_iterations. AD3's iterations take longer, up to a tenth of a second for 60
# words without pruning; it certifies treebank sentences within 160 iterations or not at all.
ITERATIONS: dict[Solver, int] = {"subgradient": 5000, "ad3": 500, "branch": 5000, "exact": 5000}


class DualAnswers(NamedTuple):
    """Trees of many sentences with their certificates; all but `heads` have one entry each."""

    heads: IntArray  # of all words, one sentence after the other
    scores: FloatArray
    bounds: FloatArray  # no tree scores more
    certified: NDArray[np.bool_]
    iterations: NDArray[np.int64]


class DualHistory(NamedTuple):
    """The course of the subgradient method, by iteration."""

    recomputed: IntArray  # head automata that were run
    duals: FloatArray
    scores: FloatArray  # of the best tree so far


class PackedAutomata(NamedTuple):
    """Automata with states for sides of heads of one sentence, as the kernels take them."""

    sides: NDArray[np.int64]  # 2 * head + side
    states: NDArray[np.int64]
    numbers: FloatArray


NO_AUTOMATA = PackedAutomata(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


def decode_dual(
    parts: Scores,
    trees: TreeClass = "nonprojective",
    root: Root = "single",
    max_iterations: int | None = None,
    solver: Solver = "subgradient",
    *,
    lazy: bool = True,
    automata: PackedAutomata = NO_AUTOMATA,
    time_limit: float | None = None,
    tree_share: float = 0.001,
    threads: int = 1,
) -> DualAnswers:
    """The best trees by dual decomposition (Koo et al. 2010); Ctrl-C ends it promptly.

    `solver="branch"` branches where the subgradient leaves a gap, up to `max_iterations` in all.
    Then the subgradient method runs for as many without branching, so that the answer is never
    worse than its own. "exact" continues until every tree is certified. `max_iterations` is 5,000
    by default, with "ad3" 500. `time_limit`, in seconds for each sentence, ends any
    solver with the best tree and bound so far. Without `lazy`, all head automata are run in every
    iteration; the answers are the same. `tree_share` of the arc scores is given to the tree and
    the rest to the automata (appendix A.2); "ad3" does not use it. Adding a constant to all arcs
    into a word does not change the trees.
    """
    _check_question(parts, trees, root, solver)
    limit = as_count(
        ITERATIONS[solver] if max_iterations is None else max_iterations, "max_iterations"
    )
    question = kernels.TreeQuestion(
        projective=trees == "projective", multi_root=root == "multi", max_iterations=limit,
        lazy=lazy, seconds=_seconds(time_limit), tree_share=_share(tree_share),
    )  # fmt: skip
    count = len(parts)
    answers = DualAnswers(
        np.zeros(int(parts.n_words.sum()), dtype=np.int32), np.empty(count), np.empty(count),
        np.empty(count, dtype=np.bool_), np.empty(count, dtype=np.int64),
    )  # fmt: skip
    kernels.decode_dual(
        parts.index, parts.arrays(), automata, question, SOLVERS.index(solver),
        (answers.heads, answers.scores, answers.bounds, answers.certified.view(np.uint8),
         answers.iterations), threads,
    )  # fmt: skip
    impossible = np.flatnonzero(answers.iterations == 0)
    if len(impossible):
        raise NoTreeError(f"sentence {impossible[0]} has no {trees} tree over the allowed arcs.")
    for array in answers:
        array.setflags(write=False)
    return answers


def dual_history(
    parts: Scores,
    sentence: int = 0,
    trees: TreeClass = "nonprojective",
    root: Root = "single",
    max_iterations: int = 5000,
    tree_share: float = 0.001,
) -> DualHistory:
    """The subgradient method on one of the sentences (Koo et al. 2010, Figures 3 and 4)."""
    _check_question(parts, trees, root, "subgradient")
    question = kernels.TreeQuestion(
        projective=trees == "projective", multi_root=root == "multi",
        max_iterations=as_count(max_iterations, "max_iterations"), tree_share=_share(tree_share),
    )  # fmt: skip
    return DualHistory(*kernels.trace_dual(parts.index, parts.arrays(), sentence, question))


def check_not_chained(kinds: Iterable[str], who: str) -> None:
    """Raises for parts that AD3 decodes and `who` does not."""
    others = chained_kinds(kinds)
    if others:
        raise ArgumentError(
            f"{who} cannot score {', '.join(others)}: use solver='ad3', LoopyTrees or "
            "BeliefPropagation, or an integer program."
        )


def check_kinds(kinds: tuple[str, ...], solver: Solver = "ad3") -> None:
    """Raises for parts that neither a head automaton nor a factor of the solver can score."""
    if solver != "ad3":
        check_not_chained(kinds, f"solver={solver!r}")
    if "siblings" in kinds:
        raise ArgumentError(
            "head automata walk from one modifier to the next and cannot score `siblings`, any two "
            "modifiers of a head: use LoopyTrees, or an integer program, for these parts."
        )


def _seconds(time_limit: float | None) -> float:
    if time_limit is None:
        return math.inf
    if isinstance(time_limit, bool) or not isinstance(time_limit, int | float | np.number):
        raise ArgumentError(f"time_limit must be seconds above 0, or None, not {time_limit!r}.")
    if not time_limit > 0.0:
        raise ArgumentError(f"time_limit must be seconds above 0, or None, not {time_limit!r}.")
    return float(time_limit)


def _share(tree_share: float) -> float:
    real = isinstance(tree_share, int | float | np.number) and not isinstance(tree_share, bool)
    if not real or not 0.0 <= tree_share <= 1.0:
        raise ArgumentError(f"tree_share must be from 0 to 1, not {tree_share!r}.")
    return float(tree_share)


def _check_question(parts: Scores, trees: TreeClass, root: Root, solver: Solver) -> None:
    check_choice(trees, ("nonprojective", "projective"), "trees")
    check_choice(root, ("single", "multi"), "root")
    check_choice(solver, SOLVERS, "solver")
    check_kinds(parts.kinds, solver)
