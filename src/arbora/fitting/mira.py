"""MIRA: the smallest update of the weights that achieves the margin (Crammer et al. 2006).

Variants differ in the rivals of the gold tree. `1-best`: the best tree when the score of every
wrong arc is raised by 1. `k-best`: the k best trees at once (McDonald, Crammer & Pereira 2005).
`factored`: each word's best wrong head (McDonald et al. 2005b). `mbr`: the tree with most expected
correct arcs, as Smith & Smith (2007, section 4) suggest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arbora.fitting.dot import dot
from arbora.inference.decoding import possible_marginals
from arbora.inference.engines import FirstOrderEngine
from arbora.losses import (
    Gold,
    Loss,
    Rival,
    completed_gold,
    cost_augmented,
    decoded_rival,
    minus_gold,
)
from arbora.options import MiraOptions
from arbora.scores import Scores
from arbora.scoring import Batch, InnerProducts
from arbora.types import FloatArray

__all__ = ["Mira", "hildreth"]

_SWEEPS = 2000  # of coordinate ascent; nearly identical rivals need many


class Mira:
    """An objective whose gradient is the complete step, to be applied with a rate of 1."""

    def __init__(
        self,
        options: MiraOptions,
        scorer: InnerProducts,
        engine: FirstOrderEngine,
        rival: Rival | None = None,
    ) -> None:
        self.options, self.scorer, self.engine = options, scorer, engine
        self.rival = decoded_rival(engine) if rival is None else rival

    def __call__(self, batch: Batch, scores: Scores, gold: Gold) -> Loss:
        gold = completed_gold(scores, gold, self.engine)
        if self.options.variant == "k-best":
            return self._against(batch, scores, gold, self._kbest_rivals(scores, gold))
        if self.options.variant == "factored":
            return self._against(batch, scores, gold, _strongest_rivals(scores, gold))
        return self._one_best(batch, scores, gold)

    def _one_best(self, batch: Batch, scores: Scores, gold: Gold) -> Loss:
        augmented = cost_augmented(scores, gold)
        if self.options.variant == "mbr":
            marginals = self.engine.infer(scores).arcs
            found = self.rival(possible_marginals(scores, marginals))
            of_rival = scores.layout.per_sentence(augmented.arcs[np.flatnonzero(found.parts.arcs)])
            found = found._replace(scores=of_rival)
        else:
            found = self.rival(augmented)
        violation, d_scores = minus_gold(scores, gold, found, self.engine.threads)
        norms = np.maximum(self.scorer.squared_norms(batch, d_scores), 1e-12)
        steps = np.clip(violation / norms, 0.0, self.options.largest_step)
        return Loss(np.maximum(violation, 0.0), d_scores.scaled(steps))

    def _kbest_rivals(self, scores: Scores, gold: Gold) -> list[FloatArray]:
        """Per sentence, (k, cells): the k best trees minus the gold tree."""
        base = gold.layout.indicator(gold.cells(), gold.n_labels)
        rivals = []
        sizes = gold.layout.n_cells * gold.n_labels
        ends = np.cumsum(sizes)
        for i, best in enumerate(self.engine.packed(scores).kbest(self.options.k)):
            truth = base[ends[i] - sizes[i] : ends[i]]
            side = int(gold.layout.n_words[i]) + 1
            rows = np.repeat(-truth[None, :], len(best), axis=0)
            for row, tree in zip(rows, best, strict=True):
                cells = tree.heads * side + np.arange(1, side)
                row[cells if tree.labels is None else cells * gold.n_labels + tree.labels] += 1.0
            rivals.append(rows)
        return rivals

    def _against(self, batch: Batch, scores: Scores, gold: Gold, rivals: list[FloatArray]) -> Loss:
        """The update that achieves the margin against all rivals of each sentence."""
        d_scores = np.zeros(gold.layout.size * gold.n_labels)
        losses = np.zeros(len(rivals))
        sizes = gold.layout.n_cells * gold.n_labels
        ends = np.cumsum(sizes)
        for i, rows in enumerate(rivals):
            part = slice(int(ends[i] - sizes[i]), int(ends[i]))
            own = np.where(np.isfinite(scores.arcs[part]), scores.arcs[part], 0.0)
            violation = (rows > 0.0).sum(axis=1) + dot(rows, own)
            if not (violation > 0.0).any():
                continue
            one = replace(batch, sentences=batch.sentences[i : i + 1])
            products = self.scorer.inner_products(one, rows.reshape(-1), len(rows))
            steps = hildreth(products[0], violation, self.options.largest_step)
            d_scores[part] = dot(rows.T, steps)
            losses[i] = violation.max()
        return Loss(losses, scores.with_values(d_scores))


def _strongest_rivals(scores: Scores, gold: Gold) -> list[FloatArray]:
    """Per sentence, (words, cells): each word's best wrong head minus its gold head."""
    rivals, right = [], gold.cells()
    sizes = gold.layout.n_cells * gold.n_labels
    ends = np.cumsum(sizes)
    for i, words in enumerate(gold.layout.n_words.tolist()):
        first = int(gold.layout.first_word[i])
        own = right[first : first + words] - (ends[i] - sizes[i])
        table = scores.arcs[ends[i] - sizes[i] : ends[i]].reshape(words + 1, words + 1, -1)
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
    return rivals


def hildreth(products: FloatArray, violations: FloatArray, largest: float) -> FloatArray:
    """Maximises violations·a - a·products·a / 2 over 0 <= a <= largest by coordinate ascent."""
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
