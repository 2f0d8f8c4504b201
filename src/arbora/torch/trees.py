"""First-order distributions over the trees of padded batches."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Self

import torch
from torch import Tensor

from arbora.errors import ArgumentError, ShapeError
from arbora.inference.arguments import as_count, check_choice
from arbora.torch import checks
from arbora.torch import operators as ops
from arbora.torch.convert import arcs_of_heads
from arbora.torch.estimators import Estimators
from arbora.torch.questions import (
    as_heads_tensor,
    as_mask_or_lengths,
    as_seed_tensor,
    checked_scores,
    per_word,
)
from arbora.types import Root, TreeClass

__all__ = ["ProjectiveTrees", "Samples", "SpanningTrees", "TreeDistribution", "Trees"]


class Trees(NamedTuple):
    """Heads (B, N) or (B, k, N), labels of the same shape or None, and scores (B,) or (B, k).

    `heads[b, m - 1]` is the head of word m, 0 for the root symbol; -1 is padding.
    """

    heads: Tensor
    labels: Tensor | None
    scores: Tensor


class Samples(NamedTuple):
    """Heads (B, k, N) of draws, and labels of the same shape or None; -1 is padding."""

    heads: Tensor
    labels: Tensor | None


class TreeDistribution(Estimators):
    """What `SpanningTrees` and `ProjectiveTrees` have in common.

    Parameters
    ----------
    scores
        `scores[b, h, m]` is the log-score of the arc from head h to modifier m in sentence b, shape
        (B, N+1, N+1), or (B, N+1, N+1, L) with labels, of any float dtype; index 0 is the root
        symbol. Column 0, the diagonal and the padding are never read; -inf forbids an arc.
    root
        "single": the root symbol has exactly one modifier; "multi": at least one.
    lengths
        The number of words of each sentence, (B,); by default all have N.
    mask
        Instead of lengths, a boolean mask of words, (B, N), or (B, N+1) with the root symbol. Or,
        with or without lengths, a mask of allowed arcs, (B, N+1, N+1).

    Answers are computed in float64 and have the dtype and the device of the scores.
    """

    trees: ClassVar[TreeClass]
    exact: ClassVar[bool] = True

    def __init__(
        self,
        scores: Tensor,
        *,
        root: Root = "single",
        lengths: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> None:
        check_choice(root, ("single", "multi"), "root")
        self.scores = checked_scores(scores)
        self.root: Root = root
        self.lengths, allowed = as_mask_or_lengths(self.scores, lengths, mask)
        if allowed is not None:
            every = allowed if scores.dim() == 3 else allowed.unsqueeze(3)
            scores = scores.masked_fill(~every, -torch.inf)
        # Half precision is too little for marginals that only log Z's gradient uses.
        narrow = scores.dtype in (torch.float32, torch.float64)
        self._given = scores if narrow else scores.double()
        self._log: tuple[Tensor, ...] | None = None
        self._all: tuple[Tensor, ...] | None = None

    def __repr__(self) -> str:
        shape = tuple(self.scores.shape)
        return f"{type(self).__name__}({shape}, {self.scores.dtype}, root={self.root!r})"

    @property
    def n_labels(self) -> int | None:
        """The number of labels, or None if the scores have none."""
        return self.scores.shape[3] if self.scores.dim() == 4 else None

    # Sums over all trees.

    @property
    def log_partition(self) -> Tensor:
        """log Z of every sentence, (B,); can be differentiated twice."""
        return self._log_sums()[0].to(self.scores.dtype)

    @property
    def marginals(self) -> Tensor:
        """P(arc), in the shape of the scores, 0 in the padding; can be differentiated once."""
        return self._marginals().to(self.scores.dtype)

    @property
    def arc_marginals(self) -> Tensor:
        """P(arc) with labels summed out, (B, N+1, N+1)."""
        marginals = self._marginals()
        summed = marginals if marginals.dim() == 3 else marginals.sum(3)
        return summed.to(self.scores.dtype)

    def log_prob(self, heads: Tensor | Trees | Samples, labels: Tensor | None = None) -> Tensor:
        """log P of trees, (B,) for heads (B, N), (B, k) for (B, k, N); -inf for those of no tree.

        Heads of the padding are not read. Labels that are not given, or -1, are summed out. Can
        be differentiated twice.
        """
        if isinstance(heads, Trees | Samples):
            labels = heads.labels if labels is None else labels
            heads = heads.heads
        given, possible = checks.checked_heads(
            as_heads_tensor(heads, self.scores), self.lengths, *self._class_of_trees(), False
        )
        _, relative, shift = self._log_sums()
        cells = per_word(self._given, given, self._words(), labels).double()
        total = (cells - shift.detach()[:, None, 1:]).sum(2) - relative[:, None]
        answer = torch.where(possible, total.clamp(max=0.0), -torch.inf).to(self.scores.dtype)
        return answer.squeeze(1) if heads.dim() == 2 else answer

    def entropy(self) -> Tensor:
        """The entropy of every distribution, (B,), in nats; can be differentiated once."""
        _, relative, shift, marginals = self._sums()
        answer = relative - _summed(marginals * self._finite_scores(shift))
        return answer.clamp(min=0.0).to(self.scores.dtype)

    def cross_entropy(self, other: TreeDistribution) -> Tensor:
        """The expectation of -log P_other(tree), (B,); inf if some tree has P_other = 0."""
        answer = self._divergence(other, own=False)
        return answer.to(self.scores.dtype)

    def kl(self, other: TreeDistribution) -> Tensor:
        """KL(self || other) of every sentence, (B,); inf if some tree has P_other = 0."""
        answer = self._divergence(other, own=True)
        return answer.clamp(min=0.0).to(self.scores.dtype)

    def expect(self, values: Tensor) -> Tensor:
        """Expectations (B,) of additive functions: sums of `values` over a tree's arcs.

        Values have the shape of the scores, or (B, N+1, N+1) with labels, too. Can be
        differentiated once by the scores, and by the values.
        """
        return _summed(self._marginals() * self._values(values, "values")).to(self.scores.dtype)

    def covariance(self, a: Tensor, b: Tensor) -> Tensor:
        """Covariances (B,) of two additive functions; differentiable by these, not by the scores.

        The scores' gradient is a third derivative of log Z.
        """
        second = self._values(b, "b")
        along = ops.tree_vjp(
            self._wide(), self.lengths, self._marginals(), second, *self._class_of_trees()
        )
        return _summed(self._values(a, "a") * along).to(self.scores.dtype)

    def variance(self, values: Tensor) -> Tensor:
        """Variances (B,) of additive functions."""
        return self.covariance(values, values).clamp(min=0.0)

    def risk(self, heads: Tensor, labels: Tensor | None = None) -> Tensor:
        """The expected number of words whose head (or label) differs from the given one, (B,).

        Heads of -1 do not count. Can be differentiated once.
        """
        if heads.dim() != 2:
            raise ShapeError(f"heads must have shape (B, N), not {tuple(heads.shape)}.")
        given, _ = checks.checked_heads(
            as_heads_tensor(heads, self.scores), self.lengths, *self._class_of_trees(), True
        )
        right = per_word(self._marginals(), given, self._words(), labels, probability=True)
        counted = self._words() & (given[:, 0] >= 0)
        return torch.where(counted, 1.0 - right[:, 0], 0.0).sum(1).to(self.scores.dtype)

    # Trees; none of them has a gradient.

    def argmax(self) -> Trees:
        """The best trees."""
        heads, labels, scores = ops.tree_argmax(
            self._fixed(), self.lengths, *self._class_of_trees()
        )
        return self._trees(heads, labels, scores)

    def mbr(self) -> Trees:
        """The trees with the most expected correct arcs; their scores are the model's."""
        gains = self._marginals().detach().masked_fill(self._fixed() == -torch.inf, -torch.inf)
        heads, labels, _ = ops.tree_argmax(gains, self.lengths, *self._class_of_trees())
        return self._trees(heads, labels, self._tree_scores(self._fixed(), heads, labels))

    def kbest(self, k: int) -> Trees:
        """The k best trees, best first: heads (B, k, N); scores of -inf where there are fewer."""
        count = as_count(k, "k")
        found = ops.tree_kbest(self._fixed(), self.lengths, *self._class_of_trees(), count)
        return self._trees(*found)

    def sample(self, k: int = 1, seed: int | Tensor | None = None) -> Samples:
        """k exact draws: heads (B, k, N). Without a seed, torch's own generator gives one."""
        heads, labels = ops.tree_sample(
            self._fixed(), self.lengths, as_seed_tensor(seed), *self._class_of_trees(),
            as_count(k, "k"),
        )  # fmt: skip
        return Samples(heads, None if self.n_labels is None else labels)

    # New distributions from old.

    def constrain(self, required: Tensor | None = None, forbidden: Tensor | None = None) -> Self:
        """The distribution given that trees have the required and not the forbidden arcs.

        Boolean masks, (B, N+1, N+1) or in the shape of the scores.
        """
        scores = self._given
        for what, arcs in (("required", required), ("forbidden", forbidden)):
            if arcs is None:
                continue
            marked = self._values(arcs, what).bool()
            if what == "required":
                heads = (1, 3) if marked.dim() == 4 else (1,)
                marked = marked.sum(heads, keepdim=True).bool() & ~marked
            scores = scores.masked_fill(marked, -torch.inf)
        return type(self)(scores.to(self.scores.dtype), root=self.root, lengths=self.lengths)

    # The names of torch-struct.

    @property
    def log_potentials(self) -> Tensor:
        """The scores, as torch-struct calls them."""
        return self.scores

    @property
    def partition(self) -> Tensor:
        """`log_partition`, as torch-struct calls it."""
        return self.log_partition

    @property
    def max(self) -> Tensor:
        """The scores of the best trees, (B,); the gradient is their arcs."""
        best = self.argmax()
        return self._tree_scores(self._given, best.heads, best.labels).to(self.scores.dtype)

    @property
    def mode(self) -> Tensor:
        """The arcs of the best trees: 0 and 1 in the shape of the scores."""
        return self._indicator(self.argmax())

    def topk(self, k: int) -> Tensor:
        """The arcs of the k best trees: 0 and 1, (k, B, N+1, N+1) or with labels."""
        return self._indicator(self.kbest(k)).transpose(0, 1)

    def kmax(self, k: int) -> Tensor:
        """The scores of the k best trees, (k, B)."""
        return self.kbest(k).scores.mT

    @property
    def count(self) -> Tensor:
        """How many trees (with labels) each sentence has, (B,); inf beyond the dtype."""
        allowed = torch.where(self._fixed() == -torch.inf, -torch.inf, 0.0)
        sums = ops.log_sums(allowed, self.lengths, *self._class_of_trees())[0]
        return sums.exp().to(self.scores.dtype)

    # Helpers.

    def _class_of_trees(self) -> tuple[bool, bool]:
        return self.trees == "projective", self.root == "multi"

    def _log_sums(self) -> tuple[Tensor, Tensor, Tensor]:
        """log Z, log Z relative to the shifts, and the shifts, in float64.

        Where there will be a backward, marginals are kept for it in the dtype of the scores.
        """
        known = self._all or self._log
        if known is None or (self._differentiates() and not known[0].requires_grad):
            kernel = ops.sums if self._differentiates() else ops.log_sums
            self._log = known = kernel(self._given, self.lengths, *self._class_of_trees())
        return known[0], known[1], known[2]

    def _sums(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The same and marginals, all in float64."""
        known = self._all
        if known is None and self._log is not None and len(self._log) == 4:
            known = self._log if self._given.dtype == torch.float64 else None
        if known is None or (self._differentiates() and not known[0].requires_grad):
            known = ops.sums(self._wide(), self.lengths, *self._class_of_trees())
        self._all = known
        return known[0], known[1], known[2], known[3]

    def _differentiates(self) -> bool:
        return self._given.requires_grad and torch.is_grad_enabled()

    def _marginals(self) -> Tensor:
        return self._sums()[3]

    def _wide(self) -> Tensor:
        return self._given.double()

    def _fixed(self) -> Tensor:
        return self._given.detach()

    def _words(self) -> Tensor:
        """Which places of (B, N) are words."""
        places = torch.arange(1, self.scores.shape[1], device=self.scores.device)
        return places <= self.lengths[:, None]

    def _values(self, values: Tensor, what: str) -> Tensor:
        """Numbers for arcs in the shape of the scores; 0 where there is no arc."""
        if self.scores.dim() == 4 and values.shape == self.scores.shape[:3]:
            values = values.unsqueeze(3).expand(self.scores.shape)
        if values.shape != self.scores.shape:
            raise ShapeError(
                f"{what} must have the shape of the scores, {tuple(self.scores.shape)}, not "
                f"{tuple(values.shape)}."
            )
        if values.dtype == torch.bool:
            return values
        return torch.where(self._arcs(), values.double(), 0.0)

    def _arcs(self) -> Tensor:
        """Which cells are arcs, forbidden ones not."""
        side = self.scores.shape[1]
        words = torch.nn.functional.pad(self._words(), (1, 0), value=True)
        arcs = words[:, :, None] & self._words_or_root()[:, None, :]
        arcs = arcs & ~torch.eye(side, dtype=torch.bool, device=arcs.device)
        if self.scores.dim() == 4:
            arcs = arcs.unsqueeze(3)
        return arcs & (self._given != -torch.inf)

    def _words_or_root(self) -> Tensor:
        return torch.nn.functional.pad(self._words(), (1, 0), value=False)

    def _finite_scores(self, shift: Tensor) -> Tensor:
        """Scores minus the columns' shifts, 0 where there is no arc."""
        columns = shift.detach()[:, None, :]
        columns = columns if self._given.dim() == 3 else columns.unsqueeze(3)
        arcs = self._arcs()
        return torch.where(arcs, self._wide(), 0.0) - torch.where(arcs, columns, 0.0)

    def _divergence(self, other: TreeDistribution, *, own: bool) -> Tensor:
        """The cross-entropy, or KL if `own` subtracts the entropy of this distribution."""
        self._check_comparable(other)
        marginals = self._marginals()
        _, theirs, their_shift = other._log_sums()
        values = -other._finite_scores(their_shift)
        answer = theirs
        if own:
            _, relative, shift = self._sums()[:3]
            values = values + self._finite_scores(shift)
            answer = answer - relative
        answer = answer + _summed(marginals * values)
        more = checks.has_more_trees(
            self._fixed(), other._fixed(), self.lengths, other.lengths, *self._class_of_trees(),
            *other._class_of_trees(),
        )  # fmt: skip
        return torch.where(more, torch.inf, answer)

    def _check_comparable(self, other: TreeDistribution) -> None:
        if not isinstance(other, TreeDistribution):
            raise ArgumentError(
                f"{type(self).__name__} is compared with SpanningTrees or ProjectiveTrees, not "
                f"with {type(other).__name__}."
            )
        if other.scores.shape != self.scores.shape:
            raise ShapeError(
                f"the two distributions have scores of shapes {tuple(self.scores.shape)} and "
                f"{tuple(other.scores.shape)}: they must be over the same words and labels."
            )

    def _tree_scores(self, scores: Tensor, heads: Tensor, labels: Tensor | None) -> Tensor:
        """The scores (B,) of one tree per sentence."""
        chosen = None if labels is None or self.n_labels is None else labels[:, None, :]
        cells = per_word(scores.double(), heads[:, None, :], self._words(), chosen)
        return cells.sum((1, 2))

    def _trees(self, heads: Tensor, labels: Tensor, scores: Tensor) -> Trees:
        labelled = None if self.n_labels is None else labels
        return Trees(heads, labelled, scores.to(self.scores.dtype))

    def _indicator(self, trees: Trees) -> Tensor:
        return arcs_of_heads(trees.heads, trees.labels, self.n_labels).to(self.scores.dtype)


class SpanningTrees(TreeDistribution):
    """Distributions over all dependency trees, crossing arcs allowed: the matrix-tree theorem."""

    trees: ClassVar[TreeClass] = "nonprojective"


class ProjectiveTrees(TreeDistribution):
    """Distributions over trees without crossing arcs: Eisner's chart."""

    trees: ClassVar[TreeClass] = "projective"


def _summed(values: Tensor) -> Tensor:
    """The sum of each sentence's numbers, (B,)."""
    return values.flatten(1).sum(1)
