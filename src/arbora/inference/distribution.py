"""Exact distributions over dependency trees: sums, best trees, samples, gradients.

P(tree) is proportional to exp(score), the score of a tree being the sum of the scores of its arcs
(Koo, Globerson, Carreras & Collins 2007, section 2). All answers are exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import ArgumentError, ConstraintError, NoTreeError, ShapeError
from arbora.inference.arguments import (
    as_array,
    as_count,
    as_heads,
    as_scores,
    as_seed,
    as_values,
    check_choice,
)
from arbora.inference.batch import TreeBatch
from arbora.inference.constraints import Arc, as_arc, masked
from arbora.inference.decoding import greedy_heads, labelled_margins, minimum_bayes_risk, rescored
from arbora.inference.divergence import check_comparable, has_more_trees
from arbora.inference.packed import Packed, SentenceSums, read_only
from arbora.inference.packing import pack
from arbora.inference.risk import ArcLoss, expected_costs, least_cost
from arbora.inference.seen import SeenTrees
from arbora.inference.tree_checks import in_class
from arbora.types import FloatArray, Root, Samples, Tree, TreeClass

__all__ = ["TreeDistribution"]


class TreeDistribution(SeenTrees):
    """What `SpanningTrees` and `ProjectiveTrees` have in common.

    Parameters
    ----------
    scores
        `scores[h, m]` is the log-score of the arc from head h to modifier m, shape (n+1, n+1);
        index 0 is the root symbol. Column 0 and the diagonal are never read; -inf forbids an arc.
        With labels, shape (n+1, n+1, L). Copied.
    root
        "single": the root symbol has exactly one modifier; "multi": at least one.
    """

    trees: ClassVar[TreeClass]
    exact: ClassVar[bool] = True

    def __init__(self, scores: ArrayLike, root: Root = "single") -> None:
        check_choice(root, ("single", "multi"), "root")
        packed, impossible = pack([as_scores(scores)], self.trees, root, threads=1)
        for error in impossible.values():
            raise error
        self._set_up(packed)

    def _set_up(self, packed: Packed) -> None:
        self._packed = packed
        self._sums: SentenceSums | None = None
        self._marginals: FloatArray | None = None

    @classmethod
    def _from_packed(cls, packed: Packed) -> Self:
        self = cls.__new__(cls)
        self._set_up(packed)
        return self

    @classmethod
    def batch(
        cls,
        scores: Iterable[ArrayLike] | ArrayLike,
        root: Root = "single",
        *,
        lengths: ArrayLike | None = None,
        threads: int | None = None,
        errors: Literal["raise", "return"] = "raise",
    ) -> TreeBatch[Self]:
        """Many sentences, answered in parallel; see `TreeBatch`."""
        return TreeBatch.create(cls, scores, root, lengths=lengths, threads=threads, errors=errors)

    # What the distribution is over.

    @property
    def scores(self) -> FloatArray:
        """The scores, read-only, with -inf in column 0 and on the diagonal."""
        return self._packed.scores(0)

    @property
    def root(self) -> Root:
        """`"single"` or `"multi"`: how many words may depend on the root symbol."""
        return self._packed.root

    @property
    def n_words(self) -> int:
        """Number of words, n."""
        return int(self._packed.n_words[0])

    @property
    def n_labels(self) -> int | None:
        """The number of labels, or None if the scores have none."""
        return self._packed.n_labels

    def __repr__(self) -> str:
        labels = "" if self.n_labels is None else f", {self.n_labels} labels"
        return f"{type(self).__name__}({self.n_words} words{labels}, root={self.root!r})"

    # Sums over all trees.

    @property
    def log_partition(self) -> float:
        """log Z: the logarithm of the sum of exp(score) over all trees (Koo et al. 2007, Eq. 2)."""
        return self._log_sums().log_partition

    @property
    def marginals(self) -> FloatArray:
        """P(arc) for every arc, as probabilities: shape of the scores, each word's sum to 1."""
        if self._marginals is None:
            sums = self._packed.sums(marginals=True)
            self._sums = self._packed.sums_of(sums, 0)
            self._marginals = self._packed.piece(sums.marginals, 0)
        return self._marginals

    @property
    def arc_marginals(self) -> FloatArray:
        """P(arc) with labels summed out, shape (n+1, n+1)."""
        if self.n_labels is None:
            return self.marginals
        return read_only(self.marginals.sum(axis=2))

    def log_prob(self, heads: ArrayLike | Tree | Samples, labels: ArrayLike | None = None) -> Any:
        """log P of a tree, -inf if it is none; an array of them for heads of shape (k, n).

        Takes heads, a `Tree` or `Samples`. Labels that are not given, or -1, are summed out.
        """
        if isinstance(heads, Tree | Samples):
            labels = heads.labels if labels is None else labels
            heads = heads.heads
        given = as_heads(heads, self.n_words)
        words = np.atleast_2d(given)
        log_p = self._tree_scores(words, labels) - self._log_sums().relative
        possible = in_class(words, self.trees, self.root)
        answer = np.where(possible, np.minimum(log_p, 0.0), -np.inf)
        return float(answer[0]) if given.ndim == 1 else read_only(answer)

    def _tree_scores(self, heads: NDArray[np.int64], labels: ArrayLike | None) -> FloatArray:
        """Scores of trees relative to the column shifts."""
        modifiers = np.arange(1, self.n_words + 1)
        cells = self.scores[heads, modifiers]
        if self.n_labels is None:
            if labels is not None:
                raise ShapeError("labels are given, but the scores have none: leave them out.")
        else:
            cells = self._label_scores(cells, heads.shape, labels)
        shifted = cells - self._log_sums().shift[1:]
        return np.asarray(shifted.sum(axis=1))

    def _label_scores(
        self, cells: FloatArray, shape: tuple[int, ...], labels: ArrayLike | None
    ) -> FloatArray:
        summed = np.logaddexp.reduce(cells, axis=-1)
        if labels is None:
            return np.asarray(summed)
        chosen = np.atleast_2d(as_array(labels, "labels"))
        if chosen.shape != shape or chosen.dtype.kind not in "iu":
            raise ShapeError(f"labels must be integers of the same shape as heads, {shape}.")
        if (bad := (chosen < -1) | (chosen >= cells.shape[-1])).any():
            where = np.argwhere(bad)[0]
            raise ShapeError(
                f"the label of word {where[1] + 1} is {chosen[tuple(where)]}: "
                f"it must be from 0 to {cells.shape[-1] - 1}, or -1 if unknown."
            )
        known = np.take_along_axis(cells, np.maximum(chosen, 0)[..., None], axis=-1)[..., 0]
        return np.where(chosen == -1, summed, known)

    def entropy(self) -> float:
        """The entropy of the distribution over trees (and labels), in nats."""
        surprise = self._log_sums().relative - self._expected(self._shifted_scores())
        return max(0.0, surprise)

    def cross_entropy(self, other: TreeDistribution) -> float:
        """The expectation of -log P_other(tree) under this distribution; inf if that can be 0."""
        check_comparable(self, other)
        if has_more_trees(self, other):
            return float("inf")
        scores = other._shifted_scores()
        return other._log_sums().relative - self._expected(_zero_where_forbidden(scores))

    def kl(self, other: TreeDistribution) -> float:
        """KL(self || other) in nats; inf if this can draw a tree that the other cannot."""
        check_comparable(self, other)
        if has_more_trees(self, other):
            return float("inf")
        mine, theirs = self._shifted_scores(), other._shifted_scores()
        difference = _zero_where_forbidden(mine) - _zero_where_forbidden(theirs)
        shift = other._log_sums().relative - self._log_sums().relative
        return max(0.0, shift + self._expected(difference))

    def expect(self, values: ArrayLike) -> float:
        """The expectation of an additive function: the sum of `values` over a tree's arcs."""
        return self._expected(as_values(values, self.scores, "values"))

    def variance(self, values: ArrayLike) -> float:
        """The variance of an additive function."""
        return max(0.0, self.covariance(values, values))

    def covariance(self, a: ArrayLike, b: ArrayLike) -> float:
        """The covariance of two additive functions."""
        first = as_values(a, self.scores, "a")
        return float(np.sum(first * self.vjp(b)))

    def vjp(self, d_marginals: ArrayLike) -> FloatArray:
        """The gradient through the marginals: d_scores for a given d_marginals, same shape.

        Also the covariance of the additive function d_marginals with every arc, because the
        Jacobian of the marginals is the (symmetric) covariance matrix of the arcs.
        """
        gradient = as_values(d_marginals, self.scores, "d_marginals")
        return self._packed.vjp(self.marginals.ravel(), gradient.ravel())[0]

    def pair_marginal(self, first: Arc, second: Arc) -> float:
        """P(both arcs), each (head, modifier) or with a label; accurate even if tiny."""
        arcs = [as_arc(arc, self.n_words, self.n_labels, "") for arc in (first, second)]
        try:
            both = self.constrain(required=arcs)
        except (ConstraintError, NoTreeError):
            return 0.0
        return float(min(1.0, np.exp(both._relative_to(self))))

    def _relative_to(self, whole: TreeDistribution) -> float:
        """log Z of this, a constrained copy, minus log Z of the original."""
        own, all_trees = self._log_sums(), whole._log_sums()
        return float((own.shift - all_trees.shift).sum() + (own.relative - all_trees.relative))

    # Trees.

    def argmax(self) -> Tree:
        """The best tree."""
        return self._packed.argmax()[0]

    def mbr(self, loss: ArcLoss | None = None) -> Tree:
        """The tree with the least expected loss (Smith & Smith 2007, section 4).

        By default the loss is the number of wrong arcs; with labels, an arc is correct if its label
        is, too. Other losses that are sums over arcs are an array `loss[h, m, g]`, the loss of
        predicting head h for word m if its head is g, or a function from the marginals to the
        expected costs of arcs; see `arbora.inference.ArcLoss`. For losses that are no such
        sums, use `minimum_risk`. The `score` of the tree is the model's.
        """
        if loss is None:
            return minimum_bayes_risk(self._packed, self.marginals.ravel())[0]
        tree = least_cost(self._packed, expected_costs(loss, self.scores, self.marginals))
        return rescored(self.scores, tree.heads, tree.labels)

    def greedy(self, by: Literal["score", "marginal"] = "score") -> Tree:
        """Each word's best head, which may give no tree (Smith & Smith 2007, section 6)."""
        check_choice(by, ("score", "marginal"), "by")
        values = self.scores
        if by == "marginal":
            values = np.where(np.isneginf(values), -np.inf, self.marginals)
        return rescored(self.scores, *greedy_heads(values))

    def kbest(self, k: int) -> list[Tree]:
        """The k best trees, distinct, best first; fewer if there are fewer.

        With labels, the k best pairs of a tree and its labels.
        """
        return self._packed.kbest(as_count(k, "k"))[0]

    def sample(self, k: int = 1, seed: int | None = None) -> Any:
        """k independent exact draws: heads of shape (k, n), or `Samples` with labels.

        Draw i depends on the seed and on i only; without a seed it is different every time.
        """
        heads, labels = self._packed.sample(as_count(k, "k"), as_seed(seed))[0]
        return heads if labels is None else Samples(heads, labels)

    def arc_margins(self) -> FloatArray:
        """For every arc, the score of the best tree with it minus that of the best tree without.

        +inf for an arc that every tree has, -inf for one that none has; 0 in column 0 and on the
        diagonal.
        """
        if self.n_labels is None:
            return self._packed.margins()[0]
        arcs = type(self)(self.scores.max(axis=2), self.root)
        return labelled_margins(self.scores, arcs.arc_margins(), arcs.argmax().score)

    # New distributions from old.

    def constrain(self, required: Iterable[Arc] = (), forbidden: Iterable[Arc] = ()) -> Self:
        """The distribution given that the tree has the required and not the forbidden arcs.

        An arc is (head, modifier), or (head, modifier, label).
        """
        scores = masked(self.scores, required, forbidden, self.root)
        return self._with_scores(scores)

    def __mul__(self, other: Self) -> Self:
        """The product of experts: scores add up."""
        if type(other) is not type(self):
            return NotImplemented
        check_comparable(self, other)
        if other.root != self.root:
            raise ArgumentError(
                f"a product needs the same root, not {self.root!r} and {other.root!r}."
            )
        return self._with_scores(self.scores + other.scores)

    def _with_scores(self, scores: FloatArray) -> Self:
        packed = self._packed.with_scores(np.ascontiguousarray(scores).ravel())
        for error in packed.check().values():
            raise error
        told = self._from_packed(packed)
        told.words = self.words
        return told

    # Helpers.

    def _log_sums(self) -> SentenceSums:
        if self._sums is None:
            self._sums = self._packed.sums_of(self._packed.sums(marginals=False), 0)
        return self._sums

    def _shifted_scores(self) -> FloatArray:
        shift = self._log_sums().shift
        return self.scores - (shift if self.n_labels is None else shift[:, None])

    def _expected(self, values: FloatArray) -> float:
        """The sum of marginals times values, with 0 * (-inf) = 0."""
        marginals = self.marginals
        used = marginals > 0
        return float(np.sum(np.multiply(marginals, values, where=used, out=np.zeros(values.shape))))

    def __getstate__(self) -> Packed:
        return self._packed  # cached answers are recomputed

    def __setstate__(self, packed: Packed) -> None:
        self._set_up(packed)


def _zero_where_forbidden(scores: FloatArray) -> FloatArray:
    return np.where(np.isneginf(scores), 0.0, scores)
