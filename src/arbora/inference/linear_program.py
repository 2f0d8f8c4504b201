"""A linear program under construction, and HiGHS to solve it.

Variables and rows are added in blocks of arrays; the objective is maximised.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from arbora.errors import SolverError
from arbora.types import FloatArray

__all__ = ["Columns", "LinearProgram", "Solution", "Status"]

Columns = NDArray[np.int64]  # numbers of variables
Status = Literal["optimal", "time limit"]

_FOUND, _STOPPED = 0, 1  # scipy.optimize.milp's status codes

# HiGHS stops at absolute errors of about 1e-6 and 1e-7. Costs are brought near this size, so that
# the errors become relative to the largest score, with three digits to spare.
_LARGEST_COST = 1024.0


@dataclass(frozen=True)
class Solution:
    """The solution of HiGHS: `value` is an upper bound, and the optimum if status is "optimal"."""

    variables: FloatArray
    value: float
    status: Status
    seconds: float


class LinearProgram:
    """maximise costs . x, with low <= A x <= high and 0 <= x <= upper, some x whole numbers."""

    def __init__(self) -> None:
        self._costs: list[FloatArray] = []
        self._uppers: list[FloatArray] = []
        self._whole: list[NDArray[np.int64]] = []
        self._entries: list[tuple[Columns, Columns, FloatArray]] = []  # row, variable, coefficient
        self._lows: list[FloatArray] = []
        self._highs: list[FloatArray] = []
        self.n_variables = 0
        self.n_rows = 0

    def add_variables(
        self, costs: FloatArray, upper: float = math.inf, whole: bool = False
    ) -> Columns:
        """Adds variables; returns their numbers."""
        first, count = self.n_variables, len(costs)
        self._costs.append(np.array(costs, dtype=np.float64))
        self._uppers.append(np.full(count, upper))
        self._whole.append(np.full(count, int(whole)))
        self.n_variables += count
        return np.arange(first, first + count)

    def add_rows(
        self,
        low: FloatArray,
        high: FloatArray,
        *terms: tuple[Columns, Columns, float],
    ) -> None:
        """Adds rows; a term is rows (numbered from 0 in this call), variables, a coefficient."""
        for row, variable, coefficient in terms:
            self._entries.append((row + self.n_rows, variable, np.full(len(row), coefficient)))
        self._lows.append(np.asarray(low, dtype=np.float64))
        self._highs.append(np.asarray(high, dtype=np.float64))
        self.n_rows += len(low)

    def solve(self, time_limit: float | None = None, relaxed: bool = False) -> Solution:
        """The best variables; `relaxed` drops the integrality constraints.

        At the time limit, the answer is the best integer solution so far, with the bound so far.
        Without one, and for a relaxation, it raises a `SolverError`.
        """
        # SciPy's optimisers take a third of a second to load; only this method needs them.
        from scipy.optimize import Bounds, LinearConstraint, milp

        costs = np.concatenate(self._costs)
        scale = _scale(costs)
        whole = np.concatenate(self._whole)
        options: dict[str, Any] = {"mip_rel_gap": 0.0}
        if time_limit is not None:
            options["time_limit"] = time_limit
        rows = LinearConstraint(
            self._matrix(), np.concatenate(self._lows), np.concatenate(self._highs)
        )
        began = time.process_time()
        found = milp(
            -scale * costs,
            integrality=np.zeros_like(whole) if relaxed else whole,
            bounds=Bounds(0.0, np.concatenate(self._uppers)),
            constraints=rows,
            options=options,
        )
        seconds = time.process_time() - began
        if found.x is None or found.status not in (_FOUND, _STOPPED):
            raise _failure(found, time_limit)
        if found.status == _STOPPED and relaxed:
            raise _failure(found, time_limit)
        bound = getattr(found, "mip_dual_bound", None)  # relaxations have none
        value = found.fun if relaxed or bound is None else bound
        status: Status = "optimal" if found.status == _FOUND else "time limit"
        return Solution(np.asarray(found.x), -float(value) / scale, status, seconds)

    def _matrix(self) -> Any:
        from scipy.sparse import coo_array

        row, variable, coefficient = (
            np.concatenate([entry[i] for entry in self._entries]) for i in range(3)
        )
        shape = (self.n_rows, self.n_variables)
        return coo_array((coefficient, (row, variable)), shape=shape).tocsr()


def _scale(costs: FloatArray) -> float:
    """A power of two that brings the largest cost just below _LARGEST_COST; 1 if all are 0."""
    largest = float(np.abs(costs).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    _, exponent = math.frexp(largest)
    return math.ldexp(_LARGEST_COST, -max(-1000, min(exponent, 1000)))


def _failure(found: Any, time_limit: float | None) -> SolverError:
    if found.status == _STOPPED:
        return SolverError(
            f"the linear program was not solved within {time_limit} seconds: give it a longer "
            "time_limit, or prune arcs."
        )
    message = str(found.message).strip().rstrip(".")
    return SolverError(f"HiGHS could not solve the linear program: {message}.")
