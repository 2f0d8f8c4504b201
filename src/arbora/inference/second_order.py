"""The exact distribution over projective trees that score parts of second order.

P(tree) is proportional to exp(score), the score of a tree being the sum of the scores of its arcs
and parts. Sums run over the hypergraph of the kept arcs: McDonald & Pereira (2006) for consecutive
siblings, Koo & Collins (2010), Model 0 for grandparents and Model 1 for grandsiblings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import ArgumentError, ConstraintError, NoTreeError
from arbora.inference.arguments import as_count, as_heads, as_seed, as_values, check_choice
from arbora.inference.constraints import Arc, as_arc, masked
from arbora.inference.decoding import greedy_heads, risk_scores
from arbora.inference.divergence import check_comparable, has_more_trees
from arbora.inference.packed import read_only
from arbora.inference.packed_second_order import PackedSecondOrder, SecondOrderSums
from arbora.inference.packing import pack
from arbora.inference.part_lists import PartLists
from arbora.inference.risk import ArcLoss, expected_costs, least_cost
from arbora.inference.second_order_batch import SecondOrderBatch
from arbora.inference.seen import SeenTrees
from arbora.inference.tree_checks import in_class
from arbora.inference.trees import ProjectiveTrees
from arbora.scores import PartKind, Parts, Scores
from arbora.types import FloatArray, IntArray, Root, Tree, TreeClass

__all__ = ["PartGradient", "SecondOrderTrees"]


class PartGradient(NamedTuple):
    """A number for every arc, (n+1, n+1), and for every part, in the order they were given."""

    arcs: FloatArray
    parts: dict[PartKind, FloatArray]


class SecondOrderTrees(SeenTrees):
    """Projective trees that score arcs, consecutive siblings, grandparents and grandsiblings.

    Consecutive siblings alone take O(n^3), grandparents and grandsiblings O(n^4); forbidden arcs
    and their parts are never built, so pruned sentences take much less. All answers are exact.
    `siblings` are not supported: no chart sums over any two modifiers of a head.

    Parameters
    ----------
    parts
        Scores of arcs and parts; arcs of -inf are forbidden.
    root
        "single": the root symbol has exactly one modifier; "multi": at least one.
    """

    trees: ClassVar[TreeClass] = "projective"
    exact: ClassVar[bool] = True

    def __init__(self, parts: Parts, root: Root = "single") -> None:
        if not isinstance(parts, Parts):
            raise ArgumentError(
                f"SecondOrderTrees takes Parts, not {type(parts).__name__}: use Parts(scores) "
                "for scores of arcs alone."
            )
        check_choice(root, ("single", "multi"), "root")
        self._set_up(parts.arcs, PartLists.of(parts), root)

    def _set_up(self, arcs: FloatArray, lists: PartLists, root: Root, key: int = 0) -> None:
        self._lists = lists
        self._key = key  # the draws of samples depend on it and on their seed
        self._packed = PackedSecondOrder(lists.packed(arcs), root)
        self._arcs, impossible = pack([arcs], self.trees, root, threads=1)
        for error in impossible.values():
            raise error
        self._sums: SecondOrderSums | None = None

    @classmethod
    def _of(cls, arcs: FloatArray, lists: PartLists, root: Root, key: int = 0) -> Self:
        self = cls.__new__(cls)
        self._set_up(arcs, lists, root, key)
        return self

    @classmethod
    def batch(
        cls,
        parts: Iterable[Parts],
        root: Root = "single",
        *,
        threads: int | None = None,
        errors: Literal["raise", "return"] = "raise",
    ) -> SecondOrderBatch:
        """Many sentences, answered in parallel; see `SecondOrderBatch`."""
        return SecondOrderBatch.create(cls._of, parts, root, threads=threads, errors=errors)

    # What the distribution is over.

    @property
    def scores(self) -> FloatArray:
        """The scores of the arcs, read-only, with -inf in column 0 and on the diagonal."""
        return self._arcs.scores(0)

    @property
    def kinds(self) -> tuple[PartKind, ...]:
        """The kinds of parts that were given."""
        return self._lists.kinds

    @property
    def root(self) -> Root:
        """`"single"` or `"multi"`: how many words may depend on the root symbol."""
        return self._packed.root

    @property
    def n_words(self) -> int:
        """Number of words, n."""
        return int(self._arcs.n_words[0])

    def __repr__(self) -> str:
        kinds = "".join(f", {kind}" for kind in self.kinds)
        return f"SecondOrderTrees({self.n_words} words{kinds}, root={self.root!r})"

    # Sums over all trees.

    @property
    def log_partition(self) -> float:
        """log Z: the logarithm of the sum of exp(score) over all trees."""
        return float(self._all_sums().log_partition[0])

    @property
    def marginals(self) -> FloatArray:
        """P(arc) for every arc, as probabilities, (n+1, n+1): each word's sum to 1."""
        return self._arcs.piece(self._all_sums().marginals.arcs, 0)

    @property
    def part_marginals(self) -> dict[PartKind, FloatArray]:
        """P(part) for every part of every kind, in the order in which the parts were given."""
        return self._listed(self._all_sums().marginals)

    def log_prob(self, heads: ArrayLike | Tree) -> Any:
        """log P of a tree, -inf if it is none; an array of them for heads of shape (k, n)."""
        given = as_heads(heads.heads if isinstance(heads, Tree) else heads, self.n_words)
        words = np.atleast_2d(given)
        log_p = self._packed.tree_scores(0, words.astype(np.int32)) - self.log_partition
        possible = in_class(words, self.trees, self.root)
        answer = np.where(possible, np.minimum(log_p, 0.0), -np.inf)
        return float(answer[0]) if given.ndim == 1 else read_only(answer)

    def entropy(self) -> float:
        """The entropy of the distribution over trees, in nats."""
        return float(self._packed.entropy()[0])

    def cross_entropy(self, other: SecondOrderTrees | ProjectiveTrees) -> float:
        """The expectation of -log P_other(tree) under this distribution; inf if that can be 0."""
        theirs = self._comparable(other)
        if has_more_trees(self._any_tree(), theirs._any_tree()):
            return float("inf")
        return theirs.log_partition - self._expected_score(theirs)

    def kl(self, other: SecondOrderTrees | ProjectiveTrees) -> float:
        """KL(self || other) in nats; inf if this can draw a tree that the other cannot."""
        return max(0.0, self.cross_entropy(other) - self.entropy())

    def expect(self, values: ArrayLike) -> float:
        """The expectation of an additive function: the sum of `values` over a tree's arcs."""
        return float(np.sum(self.marginals * as_values(values, self.scores, "values")))

    def variance(self, values: ArrayLike) -> float:
        """The variance of an additive function of arcs."""
        return max(0.0, self.covariance(values, values))

    def covariance(self, a: ArrayLike, b: ArrayLike) -> float:
        """The covariance of two additive functions of arcs."""
        return float(np.sum(as_values(a, self.scores, "a") * self.vjp(b).arcs))

    def vjp(
        self,
        d_marginals: ArrayLike,
        d_part_marginals: Mapping[PartKind, ArrayLike] | None = None,
    ) -> PartGradient:
        """The gradient through the marginals of arcs and, if given, of parts.

        Also the covariance of that additive function with every arc and part.
        """
        d_arcs = as_values(d_marginals, self.scores, "d_marginals").reshape(-1)
        tables = self._lists.tables(
            self._packed.parts, {} if d_part_marginals is None else d_part_marginals
        )
        through = self._packed.vjp(d_arcs, tables)
        return PartGradient(self._arcs.piece(through.arcs, 0), self._listed(through))

    def pair_marginal(self, first: Arc, second: Arc) -> float:
        """P(both arcs), each (head, modifier); accurate even if tiny."""
        arcs = [as_arc(arc, self.n_words, None, "") for arc in (first, second)]
        try:
            both = self.constrain(required=arcs)
        except (ConstraintError, NoTreeError):
            return 0.0
        return float(min(1.0, np.exp(both.log_partition - self.log_partition)))

    # Trees.

    def argmax(self) -> Tree:
        """The best tree."""
        heads, scores = self._packed.argmax()
        return Tree(heads, None, float(scores[0]))

    def mbr(self, loss: ArcLoss | None = None) -> Tree:
        """The tree with the least expected loss; its `score` is the model's.

        By default the loss is the number of wrong arcs; others are as for `ProjectiveTrees.mbr`.
        """
        if loss is None:
            arcs = self._all_sums().marginals.arcs
            return self._scored(risk_scores(self._arcs, arcs).argmax()[0].heads)
        costs = expected_costs(loss, self.scores, self.marginals)
        return self._scored(least_cost(self._arcs, costs).heads)

    def greedy(self) -> Tree:
        """Each word's likeliest head, chosen independently: not always a tree."""
        values = np.where(np.isneginf(self.scores), -np.inf, self.marginals)
        return self._scored(greedy_heads(values)[0])

    def kbest(self, k: int) -> list[Tree]:
        """The k best trees, distinct, best first; fewer if there are fewer."""
        heads, scores, _ = self._packed.kbest(as_count(k, "k"))
        rows = zip(heads.reshape(-1, self.n_words), scores.tolist(), strict=True)
        return [Tree(row, None, score) for row, score in rows]

    def sample(self, k: int = 1, seed: int | None = None) -> IntArray:
        """k independent exact draws: heads of shape (k, n).

        Draw i depends on the seed and on i only; without a seed it is different every time.
        """
        count = as_count(k, "k")
        drawn = self._packed.sample(count, as_seed(seed), np.array([self._key]))
        return drawn.reshape(count, self.n_words)

    def arc_margins(self) -> FloatArray:
        """For every arc, the score of the best tree with it minus that of the best tree without.

        +inf for an arc that every tree has, -inf for one that none has; 0 in column 0 and on the
        diagonal.
        """
        return read_only(self._packed.margins().reshape(self.scores.shape))

    # New distributions from old.

    def constrain(self, required: Iterable[Arc] = (), forbidden: Iterable[Arc] = ()) -> Self:
        """The distribution given that the tree has the required and not the forbidden arcs.

        Parts that become impossible keep their entries, with a marginal of 0.
        """
        arcs = masked(self.scores, required, forbidden, self.root)
        told = self._of(arcs, self._lists, self.root, self._key)
        told.words = self.words
        return told

    def __mul__(self, other: Self) -> Self:
        """The product of experts: scores add up."""
        if type(other) is not type(self):
            return NotImplemented
        check_comparable(self._any_tree(), other._any_tree())
        if other.root != self.root:
            raise ArgumentError(
                f"a product needs the same root, not {self.root!r} and {other.root!r}."
            )
        return self._of(self.scores + other.scores, self._lists + other._lists, self.root)

    # Helpers.

    def _all_sums(self) -> SecondOrderSums:
        if self._sums is None:
            self._sums = self._packed.sums()
        return self._sums

    def _listed(self, values: Scores) -> dict[PartKind, FloatArray]:
        return self._lists.listed(self._packed.parts, values.tables)

    def _scored(self, heads: IntArray) -> Tree:
        return Tree(heads, None, float(self._packed.tree_scores(0, heads[None])[0]))

    def _any_tree(self) -> ProjectiveTrees:
        """The same trees, all equally likely."""
        return ProjectiveTrees(np.where(np.isneginf(self.scores), -np.inf, 0.0), self.root)

    def _comparable(self, other: SecondOrderTrees | ProjectiveTrees) -> SecondOrderTrees:
        if isinstance(other, ProjectiveTrees) and other.n_labels is None:
            other = SecondOrderTrees(Parts(other.scores), other.root)
        if not isinstance(other, SecondOrderTrees):
            raise ArgumentError(
                "SecondOrderTrees are compared with SecondOrderTrees, or with ProjectiveTrees "
                f"without labels, not with {other!r}."
            )
        check_comparable(self._any_tree(), other._any_tree())
        return other

    def _expected_score(self, other: SecondOrderTrees) -> float:
        """The expectation of the other's tree score; the other must have every tree of this."""
        kinds = (*self.kinds, *(kind for kind in other.kinds if kind not in self.kinds))
        mine = self if kinds == self.kinds else self._of(
            self.scores, self._lists.with_kinds(kinds), self.root
        )  # fmt: skip
        used = mine.marginals > 0
        total = float(np.sum(mine.marginals[used] * _finite(other.scores[used])))
        for kind in other.kinds:
            weights = mine._all_sums().marginals.tables[kind]
            total += float(np.sum(weights * _looked_up(mine, other, kind)))
        return total

    def __getstate__(self) -> dict[str, Any]:
        return {"arcs": self.scores, "lists": self._lists, "root": self.root, "key": self._key}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set_up(**state)


def _finite(scores: FloatArray) -> FloatArray:
    """0 for forbidden arcs: their nonzero marginals are rounding errors."""
    return np.where(np.isneginf(scores), 0.0, scores)


def _looked_up(mine: SecondOrderTrees, other: SecondOrderTrees, kind: PartKind) -> FloatArray:
    """The other's scores of all parts that this distribution has; 0 where it has no such part."""
    rows: NDArray[np.int64] = mine._packed.parts.columns(kind, 0)
    places = PartLists.places(other._packed.parts, kind, rows)
    return np.where(places < 0, 0.0, other._packed.parts.tables[kind][np.maximum(places, 0)])
