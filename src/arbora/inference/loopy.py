"""Approximate distributions over trees that score parts, by loopy belief propagation.

Gormley, Dredze & Eisner (2015): a variable for every arc, a factor for every part, and one
factor that allows trees only, TREE or PTREE, which sums over all trees in every iteration. Beliefs
are differentiable functions of the scores, whether or not they have converged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from arbora.errors import ArgumentError
from arbora.inference.arguments import as_values, check_choice
from arbora.inference.decoding import risk_scores
from arbora.inference.packed_loopy import GrandparentFactors, PackedLoopy, Schedule
from arbora.inference.packed_second_order import SecondOrderSums
from arbora.inference.packing import pack
from arbora.inference.part_lists import PartLists
from arbora.inference.risk import ArcLoss, expected_costs, least_cost
from arbora.inference.second_order import PartGradient
from arbora.inference.seen import SeenTrees
from arbora.scores import PartKind, Parts, Scores
from arbora.types import FloatArray, Root, Tree, TreeClass

__all__ = ["LoopyTrees"]


class LoopyTrees(SeenTrees):
    """Beliefs about trees that score arcs and parts of any kind, approximate in general.

    Without parts they are exact after one iteration. With parts, an iteration costs one sum over
    trees and a few operations per part, for any kinds together.

    Parameters
    ----------
    parts
        Scores of arcs and parts; arcs of -inf are absent.
    trees
        "nonprojective" or "projective".
    root
        "single": the root symbol has exactly one modifier; "multi": at least one.
    iterations
        The number of iterations, at least 1; each updates all messages.
    damping
        The share of the old message in the new one, from the second iteration on; 0 is none.
    schedule
        "serial" sends from all parts, then from the tree; "parallel" from all at once.
    factors
        "pairs" makes a factor of every grandparent (the paper), "automata" puts all grandparents of
        a head into one factor with its other parts. Siblings are always pairs, consecutive siblings
        and grandsiblings always automata, and grandsiblings take grandparents with them.
    """

    exact: ClassVar[bool] = False
    tolerance: ClassVar[float] = 1e-4  # the largest change of a message that counts as converged

    def __init__(
        self,
        parts: Parts,
        trees: TreeClass = "nonprojective",
        root: Root = "single",
        iterations: int = 4,
        damping: float = 0.0,
        schedule: Schedule = "serial",
        factors: GrandparentFactors = "pairs",
    ) -> None:
        if not isinstance(parts, Parts):
            raise ArgumentError(
                f"LoopyTrees takes Parts, not {type(parts).__name__}: use Parts(scores) for "
                "scores of arcs alone."
            )
        check_choice(trees, ("nonprojective", "projective"), "trees")
        check_choice(root, ("single", "multi"), "root")
        self.parts = parts
        self._lists = PartLists.of(parts)
        self._packed = PackedLoopy(
            Scores.from_parts(parts), trees, root, iterations, damping, schedule, factors
        )
        self._arcs, impossible = pack([parts.arcs], trees, root, threads=1)
        for error in impossible.values():
            raise error
        self._sums: SecondOrderSums | None = None

    @property
    def trees(self) -> TreeClass:
        """The class of trees."""
        return self._packed.trees

    @property
    def root(self) -> Root:
        """`"single"` or `"multi"`: how many words may depend on the root symbol."""
        return self._packed.root

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return self._packed.iterations

    @property
    def n_words(self) -> int:
        """Number of words, n."""
        return self.parts.n_words

    @property
    def scores(self) -> FloatArray:
        """The scores of the arcs, read-only, with -inf in column 0 and on the diagonal."""
        return self._arcs.scores(0)

    def __reduce__(self) -> tuple[Any, ...]:
        own = self._packed
        how = (own.trees, own.root, own.iterations, own.damping, own.schedule, own.factors)
        return LoopyTrees, (self.parts, *how)

    def __repr__(self) -> str:
        kinds = "".join(f", {kind}" for kind in self.parts.kinds)
        return (
            f"LoopyTrees({self.n_words} words{kinds}, trees={self.trees!r}, root={self.root!r}, "
            f"iterations={self.iterations})"
        )

    @property
    def marginals(self) -> FloatArray:
        """The belief in every arc, (n+1, n+1). Undamped and serial, each word's sum to 1."""
        return self._arcs.piece(self._all_sums().marginals.arcs, 0)

    @property
    def part_marginals(self) -> dict[PartKind, FloatArray]:
        """The belief in every part of every kind, in the order in which the parts were given."""
        return self._listed(self._all_sums().marginals)

    @property
    def bethe_log_partition(self) -> float:
        """The Bethe approximation of log Z: exact where the graph has no cycles, else no bound."""
        return float(self._all_sums().log_partition[0])

    @property
    def residuals(self) -> FloatArray:
        """The largest change of a message in each iteration; 0 if there are arcs only."""
        self._all_sums()
        residuals: FloatArray = self._packed.residuals[0]
        return residuals

    @property
    def converged(self) -> bool:
        """Whether the last iteration changed no message by more than `tolerance`."""
        return bool(self.residuals[-1] <= self.tolerance)

    def mbr(self, loss: ArcLoss | None = None) -> Tree:
        """The tree with the least expected loss under the beliefs; its `score` is the model's.

        By default the loss is the number of wrong arcs; others are as for `SpanningTrees.mbr`.
        """
        if loss is None:
            best = risk_scores(self._arcs, self._all_sums().marginals.arcs).argmax()[0]
        else:
            best = least_cost(self._arcs, expected_costs(loss, self.scores, self.marginals))
        return Tree(best.heads, None, self.parts.score(best.heads))

    def vjp(
        self,
        d_marginals: ArrayLike,
        d_part_marginals: Mapping[PartKind, ArrayLike] | None = None,
    ) -> PartGradient:
        """The gradient through the beliefs of arcs and, if given, of parts, by all scores.

        Exact: backpropagation through every iteration and the sums over trees.
        """
        d_arcs = as_values(d_marginals, self.scores, "d_marginals").reshape(-1)
        tables = self._lists.tables(
            self._packed.parts, {} if d_part_marginals is None else d_part_marginals
        )
        through = self._packed.vjp(d_arcs, tables)
        return PartGradient(self._arcs.piece(through.arcs, 0), self._listed(through))

    def _all_sums(self) -> SecondOrderSums:
        if self._sums is None:
            self._sums = self._packed.sums()
        return self._sums

    def _listed(self, values: Scores) -> dict[PartKind, FloatArray]:
        return self._lists.listed(self._packed.parts, values.tables)
