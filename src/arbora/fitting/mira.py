"""MIRA: the smallest change of the weights that wins the margin (Crammer et al. 2006).

`1-best`: against the cost-augmented best tree. `k-best`: against the k best trees at once
(McDonald, Crammer & Pereira 2005). `factored`: each word's head against its strongest rival
(McDonald et al. 2005b). `mbr`: against the tree with most expected correct arcs, which Smith &
Smith (2007, section 4) suggest.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from arbora.inference.decoding import minimum_bayes_risk
from arbora.scores import Places
from arbora.inference.packed import Packed
from arbora.losses import Gold, Loss, best_gold_tree, cost_augmented
from arbora.losses.margin import cells_of, chosen_cells, tree_loss
from arbora.scoring import ArcScorer
from arbora.training.dot import dot
from arbora.training.treebank import Batch
from arbora.types import FloatArray

__all__ = ["Mira", "MiraVariant", "hildreth"]

_SWEEPS = 2000  # of coordinate ascent; rivals that are nearly alike need many

MiraVariant = Literal["1-best", "k-best", "factored", "mbr"]


class Mira:
    """An objective whose gradient is already the step: learn with rate 1."""

    def __init__(
        self, scorer: ArcScorer, variant: MiraVariant, largest_step: float, k: int
    ) -> None:
        self.scorer, self.variant, self.largest_step, self.k = scorer, variant, largest_step, k

    def __call__(self, batch: Batch, trees: Packed, gold: Gold) -> Loss:
        right = best_gold_tree(trees, gold)
        if self.variant == "k-best":
            return self._against(batch, gold, self._kbest_rivals(trees, gold, right), trees)
        if self.variant == "factored":
            return self._factored(batch, gold, trees, right)
        return self._one_best(batch, gold, trees, right)

    def _one_best(self, batch: Batch, gold: Gold, trees: Packed, right: Places) -> Loss:
        augmented = cost_augmented(trees.flat, right)
        if self.variant == "mbr":
            chosen = _mbr_cells(trees, gold)
        else:
            chosen = chosen_cells(trees.with_scores(augmented), gold)
        loss = tree_loss(gold, trees.flat, chosen, right)
        violation = gold.layout.per_sentence(augmented[chosen] - trees.flat[right])
        products = self.scorer.inner_products(batch.encoded, batch.sentences, loss.d_scores)
        norms = np.maximum(products[:, 0, 0], 1e-12)
        steps = np.clip(violation / norms, 0.0, self.largest_step)
        steps = np.repeat(steps, gold.layout.n_cells * gold.n_labels)
        return Loss(np.maximum(violation, 0.0), loss.d_scores * steps)

    def _kbest_rivals(self, trees: Packed, gold: Gold, right: Places) -> list[FloatArray]:
        """Per sentence, (k, cells): the k best trees minus the right one."""
        base = gold.layout.indicator(right, gold.n_labels)
        rivals = []
        sizes = gold.layout.n_cells * gold.n_labels
        ends = np.cumsum(sizes)
        for i, best in enumerate(trees.kbest(self.k)):
            truth = base[ends[i] - sizes[i] : ends[i]]
            side = int(gold.layout.n_words[i]) + 1
            rows = np.repeat(-truth[None, :], len(best), axis=0)
            for row, tree in zip(rows, best, strict=True):
                cells = tree.heads * side + np.arange(1, side)
                row[cells if tree.labels is None else cells * gold.n_labels + tree.labels] += 1.0
            rivals.append(rows)
        return rivals

    def _factored(self, batch: Batch, gold: Gold, trees: Packed, right: Places) -> Loss:
        """Each word's right head against the best of its other heads."""
        rivals = []
        sizes = gold.layout.n_cells * gold.n_labels
        ends = np.cumsum(sizes)
        for i, words in enumerate(gold.layout.n_words.tolist()):
            first = int(gold.layout.first_word[i])
            own = right[first : first + words] - (ends[i] - sizes[i])
            table = trees.flat[ends[i] - sizes[i] : ends[i]].reshape(words + 1, words + 1, -1)
            others = table.copy().reshape(-1)
            others[own] = -np.inf
            others = others.reshape(table.shape).transpose(1, 0, 2).reshape(words + 1, -1)[1:]
            best = others.argmax(axis=1)
            possible = np.flatnonzero(others[np.arange(words), best] > -np.inf)
            heads, labels = np.divmod(best[possible], table.shape[2])
            cells = (heads * (words + 1) + possible + 1) * table.shape[2] + labels
            rows = np.zeros((len(possible), int(sizes[i])))
            rows[np.arange(len(possible)), cells] = 1.0
            rows[np.arange(len(possible)), own[possible]] = -1.0
            rivals.append(rows)
        return self._against(batch, gold, rivals, trees)

    def _against(self, batch: Batch, gold: Gold, rivals: list[FloatArray], trees: Packed) -> Loss:
        """Wins the margin against all rivals of each sentence at once."""
        d_scores = np.zeros(gold.layout.size * gold.n_labels)
        losses = np.zeros(len(rivals))
        sizes = gold.layout.n_cells * gold.n_labels
        ends = np.cumsum(sizes)
        for i, rows in enumerate(rivals):
            part = slice(int(ends[i] - sizes[i]), int(ends[i]))
            scores = np.where(np.isfinite(trees.flat[part]), trees.flat[part], 0.0)
            violation = (rows > 0.0).sum(axis=1) + dot(rows, scores)
            if not (violation > 0.0).any():
                continue
            one = batch.sentences[i : i + 1]
            products = self.scorer.inner_products(batch.encoded, one, rows.reshape(-1), len(rows))
            steps = hildreth(products[0], violation, self.largest_step)
            d_scores[part] = dot(rows.T, steps)
            losses[i] = violation.max()
        return Loss(losses, d_scores)


def hildreth(products: FloatArray, violations: FloatArray, largest: float) -> FloatArray:
    """Maximises violations·a - a·products·a / 2 over 0 <= a <= largest, by coordinates."""
    steps = np.zeros(len(violations))
    gradient = violations.astype(np.float64).copy()
    for _ in range(_SWEEPS):
        change = 0.0
        for j in range(len(steps)):
            if products[j, j] <= 0.0:
                continue
            target = min(max(steps[j] + gradient[j] / products[j, j], 0.0), largest)
            moved = target - steps[j]
            if moved != 0.0:
                steps[j] = target
                gradient -= moved * products[j]
                change = max(change, abs(moved) * products[j, j])
        if change < 1e-8:
            break
    return steps


def _mbr_cells(trees: Packed, gold: Gold) -> Places:
    marginals = trees.sums(marginals=True).marginals
    return cells_of(minimum_bayes_risk(trees, marginals), gold)
