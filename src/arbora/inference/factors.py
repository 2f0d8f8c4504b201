"""Factors of a factor graph over binary variables, and the interface of new ones.

Messages are log-odds, log m(on) / m(off). A factor has three methods: `log_partition`, `messages`
and `pullback`; see `Factor`. The factors of this module are compiled. `Table` enumerates all
configurations: tests compare other factors with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._core import inference as kernels
from arbora.errors import ArgumentError, ScoreError, ShapeError
from arbora.inference.arguments import LARGEST_VALUE, as_array, as_real, check_choice
from arbora.inference.packed import read_only
from arbora.inference.packing import pack
from arbora.types import FloatArray, Root, TreeClass

__all__ = [
    "AtMostOne", "Chain", "ExactlyOne", "Factor", "Head", "Pair", "Table", "TreeFactor",
]  # fmt: skip

Variables = NDArray[np.int64]


class Factor(Protocol):
    """The interface of a factor over k binary variables.

    A configuration y weighs exp(score of y + the incoming log-odds of the variables that are on),
    where the score of y depends on `scores`, any array of parameters. A message of inf or -inf
    means that a variable must be on, or off. A factor receives such messages as finite numbers,
    large compared with its scores and other messages, unless its attribute `takes_infinity` is
    true.
    """

    @property
    def variables(self) -> Variables:
        """The numbers of its variables in the graph, (k,)."""
        ...

    @property
    def scores(self) -> FloatArray:
        """Its parameters, a flat array; empty if it has none."""
        ...

    def log_partition(self, incoming: FloatArray) -> float:
        """The logarithm of the sum of all weights, for `incoming` of shape (k,)."""
        ...

    def messages(self, incoming: FloatArray) -> FloatArray:
        """For each variable, log(weights with it on / weights with it off) - incoming.

        So message i does not depend on incoming[i]. It is infinite if one of the two sums is 0.
        """
        ...

    def pullback(
        self, incoming: FloatArray, d_messages: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The gradients of sum(d_messages * messages) by `incoming` and by `scores`.

        d message i / d incoming j = P(j on | i on) - P(j on | i off), and likewise for scores.
        """
        ...


class _Compiled:
    """A factor of the core with its variables and scores.

    `kind` and `sizes` are the constructor and its arguments, which unpickling needs. Incoming
    log-odds of -inf mean that a variable is off, of inf that it is on with a weight of 1.
    """

    takes_infinity: ClassVar[bool] = True

    def __init__(
        self, kind: type[kernels.Factor], sizes: tuple[Any, ...], variables: ArrayLike,
        scores: ArrayLike,
    ) -> None:  # fmt: skip
        self._kind, self.sizes = kind, sizes
        self._kernel = kind(*sizes)
        self.variables = as_variables(variables)
        self.scores = _as_scores(scores, self._kernel.n_scores, type(self).__name__)
        if self.log_partition(np.zeros(len(self.variables))) == -np.inf:
            raise ScoreError(
                f"{type(self).__name__} forbids every configuration of its variables: allow at "
                "least one."
            )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_kernel"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._kernel = self._kind(*self.sizes)

    def log_partition(self, incoming: ArrayLike) -> float:
        """The logarithm of the sum of all weights."""
        return self._kernel.log_partition(self.scores, self._row(incoming, "incoming"))

    def messages(self, incoming: ArrayLike) -> FloatArray:
        """The messages to its variables."""
        answer = np.empty(len(self.variables))
        self._kernel.messages(self.scores, self._row(incoming, "incoming"), answer)
        return answer

    def pullback(self, incoming: ArrayLike, d_messages: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The gradients by `incoming` and by `scores`."""
        d_incoming, d_scores = np.empty(len(self.variables)), np.empty(len(self.scores))
        log_odds = self._row(incoming, "incoming")
        gradient = self._row(d_messages, "d_messages", finite=True)
        self._kernel.pullback(self.scores, log_odds, gradient, d_incoming, d_scores)
        return d_incoming, d_scores

    def _row(self, values: ArrayLike, what: str, finite: bool = False) -> FloatArray:
        """A number for each variable."""
        row = np.ascontiguousarray(as_real(values, what), dtype=np.float64)
        if row.shape != self.variables.shape:
            raise ShapeError(
                f"{what} must have {len(self.variables)} numbers for {self}, not shape {row.shape}."
            )
        sane = np.abs(row) <= LARGEST_VALUE
        if not (sane if finite else sane | np.isinf(row)).all():
            others = "" if finite else ", or inf or -inf for variables that are on or off"
            raise ScoreError(
                f"{what} must be numbers up to {LARGEST_VALUE:g} in magnitude{others}."
            )
        return row

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.variables.tolist()})"


class Pair(_Compiled):
    """A score for two variables that are both on: siblings, or a grandparent."""

    def __init__(self, first: int, second: int, score: float) -> None:
        super().__init__(kernels.PairFactor, (), [first, second], [score])


class Table(_Compiled):
    """Any scores of up to 20 variables, shape (2,) * k, indexed by off (0) and on (1).

    -inf forbids a configuration.
    """

    def __init__(self, variables: ArrayLike, scores: ArrayLike) -> None:
        count = len(as_variables(variables))
        if not 1 <= count <= 20:
            raise ArgumentError(f"a table must have 1 to 20 variables, not {count}.")
        table = as_real(scores, "scores")
        if table.shape != (2,) * count:
            raise ShapeError(
                f"a table of {count} variables must have shape (2,) * {count}, not {table.shape}."
            )
        # The last index runs fastest; the core numbers configurations by bits, lowest first.
        backwards = as_variables(variables)[::-1]
        super().__init__(kernels.TableFactor, (count,), backwards, table.reshape(-1))


class ExactlyOne(_Compiled):
    """Exactly one of the variables is on."""

    def __init__(self, variables: ArrayLike) -> None:
        count = len(as_variables(variables))
        super().__init__(kernels.OneFactor, (count, False), variables, [])


class AtMostOne(_Compiled):
    """At most one of the variables is on."""

    def __init__(self, variables: ArrayLike) -> None:
        count = len(as_variables(variables))
        super().__init__(kernels.OneFactor, (count, True), variables, [])


class Head(_Compiled):
    """The automaton of a head: scores of consecutive modifiers on each side.

    `left` and `right` are the variables of its modifiers' arcs, from the nearest outwards; `links`
    those of the arcs from its possible heads, of which exactly one is on, or empty. `scores` has
    a table for every link (or one), the left side's pairs and then the right side's: the pair
    (previous, next) of a side with k modifiers is at next (next + 1) / 2 + previous, where previous
    is 0 for START or 1 + the position of a modifier, and next that of a modifier or k for END.
    """

    def __init__(
        self, left: ArrayLike, right: ArrayLike, scores: ArrayLike, links: ArrayLike = ()
    ) -> None:
        sides = [as_variables(given) for given in (left, right, links)]
        sizes = tuple(len(side) for side in sides)
        super().__init__(kernels.WalkFactor, sizes, np.concatenate(sides), scores)


class Chain(Head):
    """One side of a head: scores of consecutive modifiers.

    `scores` has one more number than was given: the score of the other side, which is empty.
    """

    def __init__(self, variables: ArrayLike, scores: ArrayLike) -> None:
        count = len(as_variables(variables))
        given = _as_scores(scores, (count + 1) * (count + 2) // 2, "Chain")
        super().__init__(variables, [], np.append(given, 0.0))


class TreeFactor(_Compiled):
    """The arcs that are on form a tree: TREE, or PTREE for projective trees.

    `arcs` are pairs (head, modifier), one for each variable; arcs that are not listed are absent.
    """

    def __init__(
        self,
        variables: ArrayLike,
        arcs: Sequence[tuple[int, int]] | NDArray[np.int64],
        trees: TreeClass = "nonprojective",
        root: Root = "single",
    ) -> None:
        check_choice(trees, ("nonprojective", "projective"), "trees")
        check_choice(root, ("single", "multi"), "root")
        pairs = as_array(arcs, "arcs")
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise ShapeError(f"arcs must be pairs (head, modifier), not of shape {pairs.shape}.")
        if len(pairs) != len(as_variables(variables)):
            raise ShapeError(f"there are {len(pairs)} arcs, but {len(as_variables(variables))} "
                             "variables: give one each.")  # fmt: skip
        n_words = int(pairs.max(initial=1))
        scores = np.full((n_words + 1, n_words + 1), -np.inf)
        for head, modifier in pairs.tolist():
            if head < 0 or modifier < 1 or head == modifier or scores[head, modifier] == 0.0:
                raise ArgumentError(f"the arc ({head}, {modifier}) is invalid or given twice.")
            scores[head, modifier] = 0.0
        for error in pack([scores], trees, root, threads=1)[1].values():
            raise error
        heads, modifiers = (np.ascontiguousarray(pairs[:, i], dtype=np.int32) for i in (0, 1))
        sizes = (n_words, heads, modifiers, trees == "projective", root == "multi")
        super().__init__(kernels.TreeFactor, sizes, variables, [])


def as_variables(variables: ArrayLike) -> Variables:
    """Numbers of variables, each once."""
    array = as_array(variables, "variables")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0:
        raise ShapeError("variables must be a list of integers from 0.")
    if len(np.unique(array)) != len(array):
        raise ArgumentError("a factor must name each of its variables once.")
    return read_only(array.astype(np.int64))


def _as_scores(scores: ArrayLike, count: int, what: str) -> FloatArray:
    array = np.array(as_real(scores, "scores"), dtype=np.float64).reshape(-1)
    if array.shape != (count,):
        raise ShapeError(f"{what} needs {count} scores, not {len(array)}.")
    bad = ~((np.abs(array) <= kernels.LARGEST_SCORE) | np.isneginf(array))
    if bad.any():
        raise ScoreError(
            f"a score of {what} is {array[bad][0]}: scores are numbers up to "
            f"{kernels.LARGEST_SCORE:g} in magnitude, or -inf."
        )
    return read_only(array)
