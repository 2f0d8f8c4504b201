"""Dual decomposition step by step, against figures 1 and 2 of Koo et al. (2010), word for word.

The twin searches all trees and all sets of modifiers. Every dual value depends on all steps before,
so equal histories mean equal steps: the split of the arc scores (appendix A.2), the first step and
its reduction (A.1), and the multipliers of arcs and of grandparents.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from arbora.inference.dual import dual_history
from arbora.scores import Scores
from arbora.testing import enumerate_trees, random_parts, score_parts_slowly

LEVEL = 0.1  # of the best arcs: cpp/src/inference/level_arcs.cpp
# With grandparents alone, a head without modifiers has equally good grandparents.
MODELS = {
    "arcs": (),
    "siblings": ("consecutive_siblings",),
    "grandsiblings": ("grandsiblings",),
    "g+s": ("consecutive_siblings", "grandparents", "grandsiblings"),
}


def on_one_level(arcs):
    """The arc scores with every word's best on one level, and what was subtracted in all."""
    first, second = np.sort(arcs[:, 1:], axis=0)[[-1, -2]]
    has_choice = np.isfinite(second)
    level = LEVEL * (first - second)[has_choice].sum() / max(1, has_choice.sum())
    answer = np.full(arcs.shape, -np.inf)
    answer[:, 1:] = arcs[:, 1:] - first + level
    return answer, float((first - level).sum())


class Walks:
    """All sets of modifiers of a head under all its grandparents, with the scores of their parts.

    A row of `modifiers` and one of `links` are a walk: its modifiers, and its grandparent, none of
    them for the root symbol and for models without grandparents. A head's grandparent is not its
    modifier.
    """

    def __init__(self, parts, tables, head):
        n = parts.n_words
        words = np.flatnonzero(np.isfinite(parts.arcs[head, 1:])) + 1
        above = np.flatnonzero(np.isfinite(parts.arcs[:, head])).tolist()
        grand = any("grand" in kind for kind in parts.kinds) and head > 0
        rows = [
            (set(chosen), g)
            for size in range(len(words) + 1)
            for chosen in itertools.combinations(words.tolist(), size)
            for g in (above if grand else [-1])
            if g not in chosen
        ]
        self.modifiers, self.links = np.zeros((2, len(rows), n + 1))
        self.scores = np.zeros(len(rows))
        for i, (chosen, g) in enumerate(rows):
            self.modifiers[i, list(chosen)] = 1.0
            if grand:
                self.links[i, g] = 1.0
            self.scores[i] = self._score(tables, head, chosen, g)

    def _score(self, tables, head, chosen, g):
        total = sum(tables["grandparents"].get((g, head, m), 0.0) for m in chosen)
        for side in (0, 1):
            outwards = sorted(
                (m for m in chosen if (m > head) == (side == 1)), key=lambda m: abs(m - head)
            )
            for pair in itertools.pairwise([-1, *outwards, -1]):
                total += tables["consecutive_siblings"].get((head, side, *pair), 0.0)
                total += tables["grandsiblings"].get((g, head, side, *pair), 0.0)
        return total


def slow_history(parts, trees, root, iterations, share):
    """The dual values, and the scores of the best trees so far."""
    n = parts.n_words
    theta, taken = on_one_level(parts.arcs)
    known = np.where(np.isfinite(theta), theta, 0.0)  # arcs that are forbidden are never used
    tables = {kind: {} for kind in MODELS["g+s"]}
    for kind in parts.kinds:
        rows, scores = getattr(parts, kind)
        tables[kind] = dict(zip(map(tuple, rows.tolist()), scores.tolist(), strict=True))
    walks = [Walks(parts, tables, head) for head in range(n + 1)]
    every = [
        heads for heads in enumerate_trees(n, trees, root)
        if np.isfinite(score_parts_slowly(parts, heads.tolist()))
    ]  # fmt: skip
    has = np.zeros((len(every), n + 1, n + 1))
    for i, heads in enumerate(every):
        has[i, heads, np.arange(1, n + 1)] = 1.0
    full = np.array([score_parts_slowly(parts, heads.tolist()) for heads in every]) - taken
    u, v = np.zeros((2, n + 1, n + 1))
    duals, best, increases, last = [], [], 0, np.inf
    for k in range(1, iterations + 1):
        of_trees = (has * (share * known + u + v)).sum(axis=(1, 2))
        chosen = int(of_trees.argmax())
        y, of_y = has[chosen], full[chosen]
        z, up, of_walks = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1)), 0.0
        for head, own in enumerate(walks):
            values = own.scores + own.modifiers @ ((1 - share) * known - u)[head]
            values -= own.links @ v[:, head]
            found = int(values.argmax())
            of_walks += values[found]
            z[head], up[:, head] = own.modifiers[found], own.links[found]
        dual = of_trees[chosen] + of_walks
        duals.append(dual + taken)
        best.append(max([of_y + taken, *best]))
        apart = z - y
        grand_apart = up - y * up.sum(axis=0)
        if not apart.any() and not grand_apart.any():
            break
        if min(duals) - best[-1] <= 1e-9 * max(1.0, abs(best[-1] - taken)):
            break
        if k == 1:
            of_z = of_walks + share * (z * known).sum()
            first = of_z - of_y if of_z > of_y else dual - of_y
        increases += dual > last
        last = dual
        u += first / (1 + increases) * apart
        v += first / (1 + increases) * grand_apart
    return np.array(duals), np.array(best)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("trees", "share"), [("nonprojective", 0.001), ("projective", 0.001), ("nonprojective", 0.3)]
)
def test_every_step_is_that_of_the_paper(model, trees, share, root):
    rng = np.random.default_rng(2010)
    lengths, rises = [], 0
    for i in range(4):
        parts = random_parts(rng, 4, MODELS[model], forbidden=0.2 * (i % 2), scale=1.0)
        expected, best = slow_history(parts, trees, root, 30, share)
        history = dual_history(
            Scores.from_parts(parts), 0, trees, root, max_iterations=30, tree_share=share
        )
        np.testing.assert_allclose(history.duals, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(history.scores, best, rtol=1e-9, atol=1e-9)
        lengths.append(len(expected))
        rises += (np.diff(expected) > 0).sum()
    if model != "arcs":
        assert max(lengths) > 3
        assert rises > 0  # so that steps have become smaller
