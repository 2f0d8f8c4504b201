"""Head bigrams: one chain over the words, for belief propagation, AD3 and integer programs only."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ArboraError, HeadAutomata, LoopyTrees, Parts, SecondOrderTrees
from arbora.inference.automata import best_choices, best_walks, walk_sums
from arbora.inference.engines import (
    BeliefPropagation,
    DualDecomposition,
    Eisner,
    HillClimbing,
    MatrixTree,
    SecondOrder,
)
from arbora.inference.integer_program import solve_program
from arbora.scores import Scores
from arbora.testing import best_tree_slowly, random_parts, score_parts_slowly

KINDS = [
    ("head_bigrams",),
    ("consecutive_siblings", "head_bigrams"),
    ("consecutive_siblings", "grandparents", "grandsiblings", "head_bigrams"),
]
CLOSE = 1e-6


@pytest.fixture(params=["nonprojective", "projective"])
def trees(request):
    return request.param


@pytest.mark.parametrize("kinds", KINDS, ids="+".join)
def test_ad3_bounds_every_tree(kinds, trees, root, rng):
    certified = 0
    for scale in (0.3, 2.0, 1e4):
        for forbidden in (0.0, 0.3):
            parts = random_parts(rng, 4, kinds, forbidden=forbidden, scale=scale)
            _, best = best_tree_slowly(parts, trees, root)
            found = HeadAutomata(parts, trees, root).argmax(solver="ad3")
            assert found.score == pytest.approx(score_parts_slowly(parts, found.heads), rel=1e-12)
            assert found.bound >= best - 1e-9 * scale
            if found.certified:
                certified += 1
                assert found.score == pytest.approx(best, abs=1e-8 * scale)
    assert certified > 0


@pytest.mark.parametrize("kinds", KINDS, ids="+".join)
def test_the_bound_of_ad3_is_the_relaxation(kinds, rng):
    """Both are the smallest polytope of trees, walks and a chain."""
    for _ in range(4):
        parts = random_parts(rng, 4, kinds, forbidden=0.2)
        found = HeadAutomata(parts).argmax(solver="ad3", max_iterations=2000)
        relaxed = solve_program(parts, tree_flow="multi", relaxed=True)
        assert -CLOSE <= found.bound - relaxed.value <= 1e-3


@pytest.mark.parametrize("kinds", KINDS, ids="+".join)
def test_exact_argmax_asks_an_integer_program(kinds, trees, root, rng):
    for forbidden in (0.0, 0.3):
        parts = random_parts(rng, 4, kinds, forbidden=forbidden)
        _, best = best_tree_slowly(parts, trees, root)
        for method in ("branch", "ilp"):
            found = HeadAutomata(parts, trees, root).exact_argmax(method)
            assert found.certified
            assert found.score == pytest.approx(best, abs=CLOSE)


def test_beliefs_at_any_scale(rng):
    """Sums are in logarithms: no score makes a belief anything but a probability."""
    for scale in (1e-3, 1.0, 1e3, 1e6):
        parts = random_parts(rng, 6, ("head_bigrams",), forbidden=0.2, scale=scale)
        beliefs = LoopyTrees(parts)
        for table in (beliefs.marginals, beliefs.part_marginals["head_bigrams"]):
            assert np.isfinite(table).all()
            assert (table >= 0.0).all()
            assert (table <= 1.0 + 1e-9).all()
        gradient = beliefs.vjp(rng.normal(size=parts.arcs.shape))
        assert np.isfinite(gradient.arcs).all()


def test_a_constant_changes_nothing(rng):
    """Every tree has one bigram of each word, so a constant cancels."""
    parts = random_parts(rng, 5, ("head_bigrams",))
    rows, scores = parts.head_bigrams
    shifted = scores + np.array([0, 0, 3.0, -2.0, 50.0, 1.0])[rows[:, 0]]
    other = Parts(parts.arcs, head_bigrams=(rows, shifted))
    assert np.abs(LoopyTrees(parts).marginals - LoopyTrees(other).marginals).max() < 1e-12


@pytest.mark.parametrize("n_words", [1, 2])
def test_short_sentences(n_words, root, rng):
    parts = Parts(rng.normal(size=(n_words + 1, n_words + 1)), head_bigrams=([], []))
    assert LoopyTrees(parts, root=root).marginals.sum() == pytest.approx(n_words)
    assert HeadAutomata(parts, root=root).argmax(solver="ad3").certified
    assert HeadAutomata(parts, root=root).exact_argmax().certified


@pytest.mark.parametrize("row", [(1, 0, 0), (3, 1, 3), (3, 2, 0), (4, 0, 0), (2, 0, -1)], ids=str)
def test_bad_rows(row):
    with pytest.raises(ArboraError, match=r"head_bigrams\[0\] is .*the second word or a later one"):
        Parts(np.zeros((4, 4)), head_bigrams=([row], [1.0]))


def test_rows_with_a_forbidden_arc():
    arcs = np.zeros((4, 4))
    arcs[1, 2] = -np.inf
    with pytest.raises(ArboraError, match="it has an arc that is forbidden"):
        Parts(arcs, head_bigrams=([(3, 1, 0)], [1.0]))


REFUSED = {
    "matrix-tree": lambda scores: MatrixTree().decode(scores),
    "Eisner": lambda scores: Eisner().infer(scores).arcs,
    "second order": lambda scores: SecondOrder().infer(scores).arcs,
    "hill climbing": lambda scores: HillClimbing().decode(scores),
    "subgradient": lambda scores: DualDecomposition(solver="subgradient").decode(scores),
    "branch": lambda scores: DualDecomposition(solver="branch").decode(scores),
    "walks": best_walks,
    "choices": best_choices,
    "sums of walks": walk_sums,
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=list(REFUSED))
def test_other_engines_refuse_them(call, rng):
    scores = Scores.from_parts(random_parts(rng, 3, ("head_bigrams",)))
    with pytest.raises(ArboraError, match=r"head_bigrams.*\.$"):
        call(scores)


def test_classes_that_refuse_them(rng):
    parts = random_parts(rng, 3, ("head_bigrams",))
    with pytest.raises(ArboraError, match="no chart sums over head_bigrams"):
        SecondOrderTrees(parts)
    with pytest.raises(ArboraError, match="use solver='ad3'"):
        HeadAutomata(parts).argmax()


def test_engines_take_them(rng):
    parts = [random_parts(rng, n, ("siblings", "head_bigrams")) for n in (3, 4)]
    scores = Scores.joined(parts)
    marginals = BeliefPropagation().infer(scores).marginals
    for i, one in enumerate(parts):
        alone = LoopyTrees(one).part_marginals["head_bigrams"]
        listed = one.listed("head_bigrams", marginals.piece("head_bigrams", i))
        assert np.abs(listed - alone).max() < 1e-12
    chains = Scores.joined([random_parts(rng, n, ("head_bigrams",)) for n in (3, 4)])
    found = DualDecomposition().decode(chains)  # chooses AD3 by itself
    for i in range(2):
        one = HeadAutomata(chains.sentence(i)).argmax(solver="ad3")
        assert found.tree(i).score == pytest.approx(one.score)
