"""Learning parts of second order: rivals from head automata or decoded trees, sums, beliefs.

The loop is that of `online.py`; scores are those of arcs that survived pruning and of the parts
over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.inference.automata import best_choices, best_walks, tree_parts, walk_sums
from arbora.inference.dual import Solver, decode_dual
from arbora.scores import Layout
from arbora.inference.packed_second_order import PackedSecondOrder
from arbora.inference.part_inference import Infer
from arbora.losses import BeliefLoss, PartLoss, loss_of_parts, part_likelihood
from arbora.scores import Scores
from arbora.scoring import PartScorer
from arbora.training.online import SteppingTrainer
from arbora.training.treebank import Batch, Treebank
from arbora.types import FloatArray, IntArray, Root, TreeClass

__all__ = [
    "KeptArcs",
    "PartMira",
    "PartObjective",
    "PartProblem",
    "PartTrainer",
    "Rival",
    "Rivals",
    "choice_rival",
    "dual_rival",
    "exact_rival",
    "part_belief_objective",
    "part_perceptron",
    "sum_likelihood",
    "walk_likelihood",
    "walk_rival",
]


class KeptArcs:
    """The arcs of each sentence of a treebank that survived pruning: a mask over its cells."""

    def __init__(self, n_words: NDArray[np.int64]) -> None:
        self._first = np.concatenate([[0], np.cumsum((n_words + 1) ** 2)])
        self._kept = np.zeros(int(self._first[-1]), dtype=np.uint8)

    def put(self, sentences: NDArray[np.int64], kept: NDArray[np.uint8]) -> None:
        """Sets the masks of some sentences, one after the other."""
        start = 0
        for i in sentences.tolist():
            size = int(self._first[i + 1] - self._first[i])
            self._kept[self._first[i] : self._first[i + 1]] = kept[start : start + size]
            start += size

    def of(self, sentences: NDArray[np.int64]) -> NDArray[np.uint8]:
        pieces = [self._kept[self._first[i] : self._first[i + 1]] for i in sentences.tolist()]
        return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.uint8)


PartObjective = Callable[[Batch, Scores], PartLoss]


class Rivals(NamedTuple):
    """What gold trees are compared with: the parts of each sentence's rival, and its score.

    Where words chose their own heads besides (`own_heads`, 1 or 0), the arcs of these choices count
    too, and a tree has every arc twice.
    """

    parts: Scores
    scores: FloatArray
    own_heads: FloatArray


Rival = Callable[[Scores], Rivals]

# Iterations of dual decomposition for a rival: enough to settle nearly every sentence.
_ITERATIONS = 1500


@dataclass(frozen=True)
class PartProblem:
    """What is to be learnt: the trees of a treebank, over the arcs that were kept."""

    scorer: PartScorer
    treebank: Treebank
    kept: KeptArcs

    def scores(self, weights: FloatArray, batch: Batch, scale: float = 1.0) -> Scores:
        kept = self.kept.of(batch.sentences)
        return self.scorer.scores(weights, batch.encoded, batch.sentences, kept, scale)


class PartTrainer(SteppingTrainer[PartProblem, PartObjective]):
    """Learns scores of arcs and parts."""

    def look_at(self, batch: Batch) -> float:
        parts = self.problem.scores(self.rule.weights, batch, self.rule.scale)
        answer = self.objective(batch, parts)
        self.problem.scorer.expand(self.gradient, batch.encoded, batch.sentences, answer.d_scores)
        return float(answer.values.sum())


def walk_rival(parts: Scores) -> Rivals:
    """The best walks of all heads, which need not form a tree (Koo et al. 2010, section 6)."""
    return Rivals(*best_walks(parts), np.zeros(len(parts)))


def choice_rival(parts: Scores) -> Rivals:
    """The best walks of all heads and the heads that words choose for themselves."""
    return Rivals(*best_choices(parts), np.ones(len(parts)))


def dual_rival(trees: TreeClass, root: Root, max_iterations: int, solver: Solver) -> Rival:
    """The best tree, where dual decomposition is sure of it; elsewhere walks and choices.

    A tree that is only the best so far would not do. Often it scores less than gold, so nothing is
    learnt from it, and what is learnt are scores under which trees are ever harder to find. Walks
    and choices score at least as much as any tree whose arcs count twice, and go against just such
    scores.
    """
    limit = min(max_iterations, _ITERATIONS)

    def rival(parts: Scores) -> Rivals:
        found = decode_dual(parts, trees, root, limit, solver)
        best = Rivals(*tree_parts(parts, found.heads), np.zeros(len(parts)))
        if found.certified.all():
            return best
        sure = found.certified.astype(np.float64)
        return _mixed(best, sure, choice_rival(parts))

    return rival


def _mixed(one: Rivals, share: FloatArray, other: Rivals) -> Rivals:
    """So much of one in every sentence, and the rest of the other."""
    rest = 1.0 - share
    parts, more = one.parts.scaled(share), other.parts.scaled(rest)
    tables = {kind: table + more.tables[kind] for kind, table in parts.tables.items()}
    return Rivals(
        parts.with_scores(parts.arcs + more.arcs, tables),
        share * one.scores + rest * other.scores,
        share * one.own_heads + rest * other.own_heads,
    )


def exact_rival(root: Root) -> Rival:
    """The best projective tree."""

    def rival(parts: Scores) -> Rivals:
        best = tree_parts(parts, PackedSecondOrder(parts, root).argmax()[0])
        return Rivals(*best, np.zeros(len(parts)))

    return rival


def walk_likelihood(smallest: float) -> PartObjective:
    """-log P of every head's modifiers by themselves, without what has a tiny gradient.

    It is a product over heads of sums over their walks; the gold tree's parts are part of it.
    """

    def objective(batch: Batch, parts: Scores) -> PartLoss:
        expected = Rivals(*walk_sums(parts), np.ones(len(parts)))
        return _without_tiny(_minus_gold(batch, parts, expected), smallest)

    return objective


def sum_likelihood(infer: Infer, smallest: float) -> PartObjective:
    """-log P(gold), exact or its surrogate, without arcs and parts whose gradients are tiny."""

    def objective(batch: Batch, parts: Scores) -> PartLoss:
        return _without_tiny(part_likelihood(infer(parts), batch.heads), smallest)

    return objective


def part_belief_objective(
    infer: Infer, loss: BeliefLoss, trees: TreeClass, root: Root, smallest: float
) -> PartObjective:
    """A loss of the beliefs in arcs, back through the inference."""

    def objective(batch: Batch, parts: Scores) -> PartLoss:
        found = loss_of_parts(infer(parts), batch.gold(None), loss, trees, root)
        return _without_tiny(found, smallest)

    return objective


def _without_tiny(loss: PartLoss, smallest: float) -> PartLoss:
    for values in (loss.d_scores.arcs, *loss.d_scores.tables.values()):
        values[np.abs(values) < smallest] = 0.0
    return loss


def part_perceptron(rival: Rival) -> PartObjective:
    """Score of the rival minus that of the gold tree (Collins 2002)."""

    def objective(batch: Batch, parts: Scores) -> PartLoss:
        return _minus_gold(batch, parts, rival(parts))

    return objective


def _minus_gold(batch: Batch, parts: Scores, rivals: Rivals) -> PartLoss:
    """What rivals score above the gold trees, and how often they have a part more often."""
    d_scores, gold = tree_parts(parts, batch.heads, -1.0, into=rivals.parts)
    if rivals.own_heads.any():
        arcs = batch.layout.arcs(batch.heads)
        own = np.repeat(rivals.own_heads, batch.layout.n_words)
        d_scores.arcs[arcs] -= own
        gold = gold + batch.layout.per_sentence(own * parts.arcs[arcs])
    return PartLoss(rivals.scores - gold, d_scores)


@dataclass(frozen=True)
class PartMira:
    """MIRA against the rival that is best when every wrong arc scores one more."""

    rival: Rival
    scorer: PartScorer
    largest_step: float

    def __call__(self, batch: Batch, parts: Scores) -> PartLoss:
        augmented = parts.with_scores(
            _with_cost(parts.arcs, batch.layout, batch.heads), parts.tables
        )
        found = _minus_gold(batch, parts, self.rival(augmented))
        norms = self.scorer.norms(batch.encoded, batch.sentences, found.d_scores)
        steps = np.clip(found.values / np.maximum(norms, 1e-12), 0.0, self.largest_step)
        return PartLoss(np.maximum(found.values, 0.0), found.d_scores.scaled(steps))


def _with_cost(arcs: FloatArray, layout: Layout, heads: IntArray) -> FloatArray:
    """Arc scores plus 1 for every arc that is not gold."""
    augmented = arcs + 1.0
    augmented[layout.arcs(heads)] -= 1.0
    return augmented
