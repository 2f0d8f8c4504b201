"""Koo et al. (2010), figures 1 and 2, word for word, with walks by enumeration.

Appendix A.1 gives the step sizes and A.2 the split of the arc scores. Our only addition is that
arc scores are normalised first: a constant for each word, which all trees have.
"""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ProjectiveTrees, SpanningTrees
from arbora.inference.dual import decode_dual, dual_history
from arbora.scores import Scores
from arbora.testing import random_parts
from tests.inference.test_automata import all_walks

SHARE = 0.001  # of the arc scores, for the tree (appendix A.2)
MODELS = {
    "siblings": ("consecutive_siblings",),
    "grandparents": ("grandparents",),
    "g+s": ("consecutive_siblings", "grandparents", "grandsiblings"),
}
TREES = {"nonprojective": SpanningTrees, "projective": ProjectiveTrees}


class TieError(Exception):
    """Rounding decides which of two walks is the better one: from here on, paths may part."""


class Walks:
    """All walks of a head with their scores; `up` marks the head's own head, if there is one."""

    def __init__(self, parts, head):
        listed = list(all_walks(parts, head))
        self.head, side = head, parts.n_words + 1
        self.scores = np.array([score for *_, score in listed])
        self.on = np.array([[m in chosen for m in range(side)] for _, chosen, _ in listed]) * 1.0
        self.up = np.array([[g == above for above in range(side)] for g, _, _ in listed]) * 1.0

    def best(self, arcs, links):
        """The best walk if `arcs` and `links` are added: its score, modifiers and own head."""
        scores = self.scores + self.on @ arcs[self.head] + self.up @ links[:, self.head]
        best = int(scores.argmax())
        if links[:, self.head].any() and (scores > scores[best] - 1e-9).sum() > 1:
            raise TieError
        return scores[best], self.on[best], self.up[best]


def constants(arcs):
    """What is taken from all arcs into a word, so that the best of them score the same."""
    ranked = np.sort(arcs[:, 1:], axis=0)[::-1]
    level = 0.1 * np.mean((ranked[0] - ranked[1])[np.isfinite(ranked[1])])
    return np.append(0.0, ranked[0] - level)


def slow_duals(parts, kind, root):
    """The dual values of figure 1 or 2, until y and z agree."""
    shift, words = constants(parts.arcs), np.arange(1, parts.n_words + 1)
    theta, taken = parts.arcs - shift, shift.sum()
    own = np.where(np.isfinite(theta), theta, 0.0)
    walks = [Walks(parts, head) for head in range(parts.n_words + 1)]
    u, v = np.zeros((2, *theta.shape))
    increases, last, delta = 0, np.inf, None
    while True:
        tree = kind(SHARE * theta + u + v, root).argmax()
        y = np.zeros(theta.shape)
        y[tree.heads, words] = 1.0
        found = [one.best(-shift - SHARE * own - u, -v) for one in walks]
        z, up = np.array([on for _, on, _ in found]), np.array([up for *_, up in found]).T
        dual = tree.score + sum(score for score, *_ in found)
        yield dual + taken
        up = up if up.any() else y
        if (y == z).all() and (y == up).all():
            return
        if delta is None:  # A.1: f(z) - f(y) of the first iteration
            delta = dual - tree.score + SHARE * (z * own).sum() - (parts.score(tree.heads) - taken)
            assert delta > 0.0
        increases += dual > last
        last = dual
        u += delta / (1 + increases) * (z - y)
        v += delta / (1 + increases) * (up - y)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("trees", TREES)
def test_every_iteration_is_that_of_the_paper(model, trees, root):
    compared = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        parts = random_parts(rng, 4, MODELS[model], forbidden=0.2 * (seed % 2))
        found = dual_history(Scores.from_parts(parts), 0, trees, root, 30).duals
        slow = slow_duals(parts, TREES[trees], root)
        try:
            for dual in found:
                assert next(slow) == pytest.approx(dual, abs=1e-9)
                compared += 1
            assert len(found) == 30 or next(slow, None) is None  # both have agreed
        except TieError:
            continue
    assert compared > 25


def test_five_thousand_iterations_by_default():
    rng = np.random.default_rng(0)
    packed = Scores.over(rng.normal(size=100), np.array([9]), MODELS["g+s"])
    for table in packed.tables.values():
        table[:] = rng.normal(size=len(table))
    answers = decode_dual(packed)
    assert not answers.certified[0]
    assert answers.iterations[0] == 5000
