"""Factors of a factor graph over on/off variables, and what a new one has to offer.

Messages are log-odds, log m(on) / m(off). A factor knows three things: `log_partition`, `messages`
and `pullback`; see `Factor`. Those of this module are compiled, and one of them is a table that
enumerates everything, with which any other can be compared.
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
    """What a factor graph asks of a factor over k on/off variables.

    A configuration y weighs exp(score of y + the incoming log-odds of the variables that are on),
    where the score of y depends on `scores`, any array of parameters. A message of inf or -inf says
    that a variable must be on, or off. A factor hears such messages of others as numbers that are
    large next to its scores and to all else that it hears, unless it has an attribute
    `takes_infinity` that is true.
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
        """For each variable, log of the weights with it on over those with it off, minus its own.

        So message i does not depend on incoming[i]. It is infinite if one of the two is 0.
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

    `kind` and `sizes` make the factor of the core, here and again in another process. Incoming
    log-odds of -inf mean that a variable is off, of inf that it is on and weighs nothing.
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
                f"{type(self).__name__} forbids every configuration of its variables: one must be "
                "left"
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
        """What it tells each of its variables."""
        answer = np.empty(len(self.variables))
        self._kernel.messages(self.scores, self._row(incoming, "incoming"), answer)
        return answer

    def pullback(self, incoming: ArrayLike, d_messages: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The gradients by `incoming` and by `scores`."""
        d_incoming, d_scores = np.empty(len(self.variables)), np.empty(len(self.scores))
        told = self._row(incoming, "incoming")
        back = self._row(d_messages, "d_messages", finite=True)
        self._kernel.pullback(self.scores, told, back, d_incoming, d_scores)
        return d_incoming, d_scores

    def _row(self, values: ArrayLike, what: str, finite: bool = False) -> FloatArray:
        """A number for each variable."""
        row = np.ascontiguousarray(as_real(values, what), dtype=np.float64)
        if row.shape != self.variables.shape:
            raise ShapeError(
                f"{what} has shape {row.shape}, but {self} has {len(self.variables)} variables"
            )
        sane = np.abs(row) <= LARGEST_VALUE
        if not (sane if finite else sane | np.isinf(row)).all():
            others = "" if finite else ", or inf or -inf for variables that are on or off"
            raise ScoreError(f"{what} must be numbers up to {LARGEST_VALUE:g} in magnitude{others}")
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
            raise ArgumentError(f"a table has 1 to 20 variables, not {count}")
        table = as_real(scores, "scores")
        if table.shape != (2,) * count:
            raise ShapeError(
                f"a table of {count} variables has as many axes of 2, not {table.shape}"
            )
        # The last index runs fastest: to the core, which counts in bits, its variable is the first.
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
    """The automaton of a head: scores of its modifiers that follow each other outwards.

    `left` and `right` are the variables of its modifiers' arcs, from the nearest outwards; `links`
    those of the arcs from its possible heads, of which exactly one is on, or nothing. `scores` has
    a table for every link (or one), the left side's pairs and then the right side's: the pair
    (previous, next) of a side with k modifiers is at next (next + 1) / 2 + previous, where previous
    is 0 for START or 1 + the place of a modifier, and next the place of a modifier or k for END.
    """

    def __init__(
        self, left: ArrayLike, right: ArrayLike, scores: ArrayLike, links: ArrayLike = ()
    ) -> None:
        sides = [as_variables(given) for given in (left, right, links)]
        sizes = tuple(len(side) for side in sides)
        super().__init__(kernels.WalkFactor, sizes, np.concatenate(sides), scores)


class Chain(Head):
    """One side of a head by itself: modifiers that follow each other outwards.

    `scores` gains one number, that of the other side, which has no modifiers.
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
            raise ShapeError(f"arcs must be pairs (head, modifier), not of shape {pairs.shape}")
        if len(pairs) != len(as_variables(variables)):
            raise ShapeError(f"there are {len(pairs)} arcs, but {len(as_variables(variables))} "
                             "variables")  # fmt: skip
        n_words = int(pairs.max(initial=1))
        scores = np.full((n_words + 1, n_words + 1), -np.inf)
        for head, modifier in pairs.tolist():
            if head < 0 or modifier < 1 or head == modifier or scores[head, modifier] == 0.0:
                raise ArgumentError(f"the arc ({head}, {modifier}) is none, or comes twice")
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
        raise ShapeError("variables must be a row of numbers from 0 on")
    if len(np.unique(array)) != len(array):
        raise ArgumentError("a factor names each of its variables once")
    return read_only(array.astype(np.int64))


def _as_scores(scores: ArrayLike, count: int, what: str) -> FloatArray:
    array = np.array(as_real(scores, "scores"), dtype=np.float64).reshape(-1)
    if array.shape != (count,):
        raise ShapeError(f"{what} has {count} scores, but {len(array)} came")
    bad = ~((np.abs(array) <= kernels.LARGEST_SCORE) | np.isneginf(array))
    if bad.any():
        raise ScoreError(
            f"a score of {what} is {array[bad][0]}: scores are numbers up to "
            f"{kernels.LARGEST_SCORE:g} in magnitude, or -inf"
        )
    return read_only(array)
