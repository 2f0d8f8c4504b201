"""Distributions over trees that score parts: exact ones, and beliefs."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from arbora.errors import ArgumentError, ShapeError
from arbora.inference.arguments import as_count, check_choice
from arbora.inference.packed_loopy import checked_damping
from arbora.inference.packed_second_order import SUMMABLE
from arbora.options import Factors, ScheduleName
from arbora.scores import PartKind
from arbora.torch import checks
from arbora.torch import operators as ops
from arbora.torch import part_operators as part_ops
from arbora.torch.part_operators import Engine
from arbora.torch.parts import Parts, weighted
from arbora.torch.questions import as_heads_tensor, as_seed_tensor, per_word
from arbora.torch.trees import Samples, Trees
from arbora.types import Root, TreeClass

__all__ = ["LoopyTrees", "SecondOrderTrees"]


class PartDistribution:
    """What `SecondOrderTrees` and `LoopyTrees` have in common."""

    def __init__(self, parts: Parts, engine: Engine) -> None:
        if not isinstance(parts, Parts):
            raise ArgumentError(
                f"{type(self).__name__} takes arbora.torch.Parts, not {type(parts).__name__}: use "
                "Parts(scores) for scores of arcs alone."
            )
        self.parts = parts
        self._engine = engine
        self._sums: tuple[Tensor, Tensor, Tensor, list[Tensor]] | None = None

    @property
    def scores(self) -> Tensor:
        """The scores of arcs."""
        return self.parts.arcs

    @property
    def lengths(self) -> Tensor:
        """The number of words of each sentence, (B,)."""
        return self.parts.lengths

    @property
    def root(self) -> Root:
        """`"single"` or `"multi"`: how many words may depend on the root symbol."""
        return "multi" if self._engine.multi else "single"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.parts!r}, root={self.root!r})"

    @property
    def marginals(self) -> Tensor:
        """P(arc), (B, N+1, N+1), 0 in the padding; can be differentiated once."""
        return self._all_sums()[2].to(self.scores.dtype)

    @property
    def part_marginals(self) -> dict[PartKind, Tensor]:
        """P(part), in the shape in which the scores of each kind were given."""
        return dict(zip(self.parts.kinds, self._all_sums()[3], strict=True))

    def expect(self, values: Tensor) -> Tensor:
        """Expectations (B,) of additive functions of arcs; can be differentiated once."""
        if values.shape != self.scores.shape:
            raise ShapeError(
                f"values must have the shape of the arcs, {tuple(self.scores.shape)}, not "
                f"{tuple(values.shape)}."
            )
        marginals = self._arc_marginals()
        products = torch.where(marginals > 0, marginals * values.double(), 0.0)
        return products.flatten(1).sum(1).to(self.scores.dtype)

    def risk(self, heads: Tensor) -> Tensor:
        """The expected number of words whose head differs from the given one, (B,).

        Heads of -1 do not count. Can be differentiated once.
        """
        if heads.dim() != 2:
            raise ShapeError(f"heads must have shape (B, N), not {tuple(heads.shape)}.")
        given, _ = checks.checked_heads(
            as_heads_tensor(heads, self.scores), self.lengths, False, True, True
        )
        right = per_word(self._arc_marginals(), given, self._words()).squeeze(1)
        counted = self._words() & (given[:, 0] >= 0)
        return torch.where(counted, 1.0 - right, 0.0).sum(1).to(self.scores.dtype)

    def mbr(self) -> Trees:
        """The trees with the most expected correct arcs; their scores are the model's."""
        gains = self._arc_marginals().detach()
        gains = gains.masked_fill(self._fixed()[0] == -torch.inf, -torch.inf)
        heads = ops.tree_argmax(gains, self.lengths, self._engine.projective, self._engine.multi)[0]
        with torch.no_grad():
            clean = heads.clamp(min=0)[:, None, :]
            scores, _ = self._tree_scores(clean, clean.new_ones(clean.shape[:2]).bool())
        return Trees(heads, None, scores[:, 0].to(self.scores.dtype))

    def _arc_marginals(self) -> Tensor:
        return self._all_sums()[2]

    def _all_sums(self) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
        if self._sums is None:
            self._sums = part_ops.part_sums(*self.parts._arguments(), *self._engine)
        return self._sums

    def _fixed(self) -> tuple[Tensor, Tensor, list[Tensor], list[Tensor], list[int]]:
        """The arguments of operators without gradients."""
        wide, lengths, values, rows, kinds = self.parts._arguments()
        return wide.detach(), lengths, [value.detach() for value in values], rows, kinds

    def _words(self) -> Tensor:
        places = torch.arange(1, self.scores.shape[1], device=self.scores.device)
        return places <= self.lengths[:, None]

    def _tree_scores(self, heads: Tensor, possible: Tensor) -> tuple[Tensor, Tensor]:
        """Scores (B, k) of trees, and which of them have no forbidden arc."""
        wide, lengths, values, rows, kinds = self.parts._arguments()
        cells = per_word(wide, heads, self._words())
        exists = possible & (cells.detach() > -torch.inf).all(2)
        arcs = torch.where(exists[:, :, None], cells, 0.0).sum(2)
        if not kinds:
            return arcs, exists
        fixed = wide.detach()
        parts = part_ops.part_scores(fixed, lengths, values, rows, kinds, heads, exists)
        return arcs + parts, exists


class SecondOrderTrees(PartDistribution):
    """Exact distributions over projective trees with parts of second order.

    Consecutive siblings, grandparents and grandsiblings, as `arbora.SecondOrderTrees`.
    """

    trees: ClassVar[TreeClass] = "projective"
    exact: ClassVar[bool] = True

    def __init__(self, parts: Parts, root: Root = "single") -> None:
        check_choice(root, ("single", "multi"), "root")
        super().__init__(parts, Engine(True, True, root == "multi"))
        others = [kind for kind in parts.kinds if kind not in SUMMABLE]
        if others:
            raise ArgumentError(
                f"no chart sums over {', '.join(others)} exactly: leave them out, or use "
                "LoopyTrees, which approximates."
            )

    @property
    def log_partition(self) -> Tensor:
        """log Z of every sentence, (B,); can be differentiated twice."""
        return self._all_sums()[0].to(self.scores.dtype)

    def log_prob(self, heads: Tensor | Trees | Samples) -> Tensor:
        """log P of trees, (B,) for heads (B, N), (B, k) for (B, k, N); -inf for those of no tree.

        Can be differentiated twice.
        """
        heads = heads.heads if isinstance(heads, Trees | Samples) else heads
        given, possible = checks.checked_heads(
            as_heads_tensor(heads, self.scores), self.lengths, True, self._engine.multi, False
        )
        total, exists = self._tree_scores(given, possible)
        log_p = total - self._all_sums()[0][:, None]
        answer = torch.where(exists, log_p.clamp(max=0.0), -torch.inf).to(self.scores.dtype)
        return answer.squeeze(1) if heads.dim() == 2 else answer

    def entropy(self) -> Tensor:
        """The entropy of every distribution, (B,), in nats; can be differentiated once."""
        answer = self._all_sums()[0] - self._expected_scores(self.parts)
        return answer.clamp(min=0.0).to(self.scores.dtype)

    def cross_entropy(self, other: SecondOrderTrees) -> Tensor:
        """The expectation of -log P_other(tree), (B,); inf if some tree has P_other = 0.

        The other must have the same kinds of parts, given in the same way.
        """
        answer = other._all_sums()[0] - self._comparable_scores(other)
        return torch.where(self._has_more_trees(other), torch.inf, answer).to(self.scores.dtype)

    def kl(self, other: SecondOrderTrees) -> Tensor:
        """KL(self || other) of every sentence, (B,); see `cross_entropy`."""
        expected = self._expected_scores(self.parts) - self._comparable_scores(other)
        answer = other._all_sums()[0] - self._all_sums()[0] + expected
        answer = torch.where(self._has_more_trees(other), torch.inf, answer.clamp(min=0.0))
        return answer.to(self.scores.dtype)

    def argmax(self) -> Trees:
        """The best trees."""
        heads, scores = part_ops.part_argmax(*self._fixed(), self._engine.multi)
        return Trees(heads, None, scores.to(self.scores.dtype))

    def kbest(self, k: int) -> Trees:
        """The k best trees, best first: heads (B, k, N); scores of -inf where there are fewer."""
        heads, scores = part_ops.part_kbest(*self._fixed(), self._engine.multi, as_count(k, "k"))
        return Trees(heads, None, scores.to(self.scores.dtype))

    def sample(self, k: int = 1, seed: int | Tensor | None = None) -> Samples:
        """k exact draws: heads (B, k, N). Without a seed, torch's own generator gives one."""
        heads = part_ops.part_sample(
            *self._fixed(), as_seed_tensor(seed), self._engine.multi, as_count(k, "k")
        )
        return Samples(heads, None)

    def _expected_scores(self, parts: Parts) -> Tensor:
        """The expectation of the scores of trees under other scores of the same parts, (B,)."""
        _, _, marginals, part_marginals = self._all_sums()
        wide, _, values, rows, _ = parts._arguments()
        total = (marginals * torch.where(marginals > 0, wide, 0.0)).flatten(1).sum(1)
        for value, row, mu in zip(values, rows, part_marginals, strict=True):
            # Numbers that are never read may be anything, also NaN.
            total = total + weighted(torch.where(mu > 0, value, 0.0), row, mu, len(total))
        return total

    def _comparable_scores(self, other: SecondOrderTrees) -> Tensor:
        if not isinstance(other, SecondOrderTrees) or not self.parts._same_parts(other.parts):
            raise ArgumentError(
                "SecondOrderTrees are compared with SecondOrderTrees of the same shape whose kinds "
                "of parts are the same and are given in the same way."
            )
        return self._expected_scores(other.parts)

    def _has_more_trees(self, other: SecondOrderTrees) -> Tensor:
        return checks.has_more_trees(
            self._fixed()[0], other._fixed()[0], self.lengths, other.lengths,
            True, self._engine.multi, True, other._engine.multi,
        )  # fmt: skip


class LoopyTrees(PartDistribution):
    """Beliefs about trees of any class with parts of any kind, by loopy belief propagation.

    Approximate in general; the arguments are those of `arbora.LoopyTrees`. Gradients go back
    through every iteration.
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
        schedule: ScheduleName = "serial",
        factors: Factors = "pairs",
    ) -> None:
        check_choice(trees, ("nonprojective", "projective"), "trees")
        check_choice(root, ("single", "multi"), "root")
        check_choice(schedule, ("serial", "parallel"), "schedule")
        check_choice(factors, ("pairs", "automata"), "factors")
        self.trees: TreeClass = trees
        self.iterations = as_count(iterations, "iterations")
        engine = Engine(
            False, trees == "projective", root == "multi", self.iterations,
            checked_damping(damping), schedule == "parallel", factors == "automata",
        )  # fmt: skip
        super().__init__(parts, engine)
        self._arcs: Tensor | None = None

    @property
    def marginals(self) -> Tensor:
        """The belief in every arc, (B, N+1, N+1); can be differentiated once."""
        return self._arc_marginals().to(self.scores.dtype)

    @property
    def bethe_log_partition(self) -> Tensor:
        """The Bethe approximation of log Z, (B,).

        Its gradient is the beliefs, as in the surrogate likelihood: that is the derivative where
        the messages have converged, and an approximation before.
        """
        return self._all_sums()[0].to(self.scores.dtype)

    @property
    def residuals(self) -> Tensor:
        """The largest change of a message in each iteration, (B, iterations)."""
        return self._all_sums()[1].detach().to(self.scores.dtype)

    @property
    def converged(self) -> Tensor:
        """Whether the last iteration changed no message by more than `tolerance`, (B,)."""
        return self._all_sums()[1].detach()[:, -1] <= self.tolerance

    def _arc_marginals(self) -> Tensor:
        if self._sums is not None:
            return self._sums[2]
        if self._arcs is None:
            self._arcs = part_ops.loopy_arcs(*self.parts._arguments(), *self._engine)
        return self._arcs
