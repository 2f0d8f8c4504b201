"""Belief propagation over many sentences, as flat arrays.

Each method is one call of a kernel; answers do not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._core import inference as kernels
from arbora.errors import ArgumentError, NoTreeError, TooLargeError
from arbora.inference.arguments import as_count, check_choice
from arbora.inference.packed import physical_memory, read_only
from arbora.inference.packed_second_order import (
    SecondOrderSums,
    check_direction,
    check_numbers,
    frozen,
)
from arbora.inference.packing import pack
from arbora.options import Factors, ScheduleName
from arbora.scores import PartKind, Scores, kind_number
from arbora.types import FloatArray, Root, TreeClass

__all__ = ["GrandparentFactors", "PackedLoopy", "Schedule", "checked_damping"]

Schedule = ScheduleName
GrandparentFactors = Factors

_TAPES_KEPT = 1 << 28  # bytes; larger batches recompute their messages in `vjp`


class PackedLoopy:
    """Approximate sums over trees that score parts of any kind, by loopy belief propagation.

    The arguments are those of `LoopyTrees`. Beliefs replace marginals, and the Bethe
    approximation replaces log Z.
    """

    def __init__(
        self,
        parts: Scores,
        trees: TreeClass = "nonprojective",
        root: Root = "single",
        iterations: int = 4,
        damping: float = 0.0,
        schedule: Schedule = "serial",
        factors: GrandparentFactors = "pairs",
        threads: int = 1,
    ) -> None:
        check_choice(trees, ("nonprojective", "projective"), "trees")
        check_choice(root, ("single", "multi"), "root")
        check_choice(schedule, ("serial", "parallel"), "schedule")
        check_choice(factors, ("pairs", "automata"), "factors")
        self.parts = parts
        self.trees: TreeClass = trees
        self.root: Root = root
        self.iterations = as_count(iterations, "iterations")
        self.damping = checked_damping(damping)
        self.schedule: Schedule = schedule
        self.factors: GrandparentFactors = factors
        self.threads = threads
        self._residuals: FloatArray | None = None
        self._tape: kernels.LoopyTape | None = None
        check_numbers(parts)
        self._check_memory(tape=False)

    def __len__(self) -> int:
        return len(self.parts)

    def sums(self) -> SecondOrderSums:
        """The Bethe approximation of log Z of every sentence, and beliefs of arcs and parts."""
        log_partition, beliefs = np.empty(len(self)), self._room()
        residuals = np.empty(len(self) * self.iterations)
        self._call(kernels.loopy_sums, log_partition, residuals, beliefs.arrays())
        self._residuals = read_only(residuals.reshape(len(self), self.iterations))
        return SecondOrderSums(read_only(log_partition), frozen(beliefs))

    def arc_marginals(self, *, gradient: bool = False) -> FloatArray:
        """Beliefs of arcs alone; with `gradient`, it keeps the messages for the next `vjp`."""
        beliefs = np.empty(len(self.parts.arcs))
        self._tape = None
        tape = kernels.LoopyTape() if gradient and self._tapes() < _TAPES_KEPT else None
        self._call(kernels.loopy_arcs, tape, beliefs)
        self._tape = tape
        return read_only(beliefs)

    @property
    def residuals(self) -> FloatArray:
        """The largest change of a message, (sentences, iterations)."""
        if self._residuals is None:
            self.sums()
        assert self._residuals is not None
        return self._residuals

    def vjp(self, d_arcs: FloatArray, d_tables: dict[PartKind, FloatArray] | None = None) -> Scores:
        """The gradient of sum(d_arcs * beliefs of arcs) + sum(d_tables * beliefs of parts).

        Exact: backpropagation through all iterations. Kinds that are left out have no gradient.
        """
        parts = self.parts
        given = {kind: np.zeros(len(table)) for kind, table in parts.tables.items()}
        for kind, table in (d_tables or {}).items():
            if kind not in given:
                raise ArgumentError(f"there are no {kind} in the model: leave out their gradient.")
            given[kind] = table
        for what, values in (("arcs", d_arcs), *(d_tables or {}).items()):
            check_direction(what, values, parts)
        self._check_memory(tape=True)
        direction = parts.with_values(np.where(parts.arcs > -np.inf, d_arcs, 0.0), given)
        answer = self._room()
        self._call(
            kernels.loopy_vjp, self._tape, direction.arrays(), bool(d_tables), answer.arrays()
        )
        return frozen(answer)

    def _room(self) -> Scores:
        return self.parts.empty()

    def _call(self, kernel: Any, *arguments: Any) -> None:
        parts = self.parts
        settings = kernels.LoopySettings(
            projective=self.trees == "projective", multi_root=self.root == "multi",
            iterations=self.iterations, damping=self.damping, parallel=self.schedule == "parallel",
            grandparents_in_walks=self.factors == "automata",
        )  # fmt: skip
        try:
            impossible = kernel(parts.index, parts.arrays(), settings, self.threads, *arguments)
        except MemoryError:
            raise self._too_large(kernel is kernels.loopy_vjp) from None
        if impossible >= 0:
            raise self._no_tree(impossible)

    def _no_tree(self, i: int) -> NoTreeError:
        """Why sentence i has no tree of this class."""
        side = int(self.parts.n_words[i]) + 1
        first = int(((self.parts.n_words[:i] + 1) ** 2).sum())
        arcs = self.parts.arcs[first : first + side * side].reshape(side, side)
        _, reasons = pack([arcs], self.trees, self.root, threads=1)
        text = str(reasons.get(0, f"there is no {self.trees} tree."))
        word = getattr(reasons.get(0), "word", None)
        return NoTreeError(text if len(self) == 1 else f"sentence {i}: {text}", word)

    def _numbers(self) -> NDArray[np.int64]:
        """Arcs and parts of each sentence."""
        parts = self.parts
        bounds = [[parts.index.first(kind_number(kind), i) for i in range(len(parts) + 1)]
                  for kind in parts.kinds]  # fmt: skip
        return sum((np.diff(b) for b in bounds), start=(parts.n_words + 1) ** 2)

    def _need(self, tape: bool) -> int:
        """Bytes of the messages of the largest sentence on every thread, and of all residuals."""
        threads = min(self.threads, max(len(self), 1))
        largest = int(self._numbers().max(initial=0)) * threads
        rows = 4 + (self.iterations if tape else 2)
        return 8 * (2 * rows * largest + self.iterations * len(self))

    def _tapes(self) -> int:
        """Bytes of the tapes of all sentences."""
        return 16 * (4 + self.iterations) * int(self._numbers().sum())

    def _check_memory(self, tape: bool) -> None:
        if self._need(tape) > physical_memory():
            raise self._too_large(tape)

    def _too_large(self, tape: bool) -> TooLargeError:
        return TooLargeError(
            f"a sentence of {int(self.parts.n_words.max())} words needs about "
            f"{self._need(tape) / 1e9:.1f} GB for its messages, and this machine has "
            f"{physical_memory() / 1e9:.1f} GB: forbid more arcs, or use fewer iterations."
        )


def checked_damping(damping: float) -> float:
    """A damping factor of at least 0 and less than 1."""
    if isinstance(damping, bool) or not isinstance(damping, int | float | np.number):
        raise ArgumentError(f"damping must be a number, not {type(damping).__name__}.")
    if not 0.0 <= damping < 1.0:
        raise ArgumentError(
            f"damping is {damping}: the share of the old message must be at least 0 and below 1."
        )
    return float(damping)
