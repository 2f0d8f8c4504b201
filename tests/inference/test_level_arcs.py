"""A constant added to all arcs into a word changes nothing that a decoder does.

Scores are multiples of 2^-10 and constants are whole numbers, so that sums are not rounded and
answers can be compared as they are; where they are rounded, paths may part at near ties.
"""

from __future__ import annotations

import numpy as np
import pytest

import arbora
from arbora import HeadAutomata, Parts, ProjectiveTrees
from arbora.inference.dual import decode_dual, dual_history
from arbora.inference.hill_climbing import head_changes, hill_climb
from arbora.inference.integer_program import solve_program
from arbora.scores import Scores

SIBLINGS = ("consecutive_siblings",)
ALL = ("consecutive_siblings", "grandparents", "grandsiblings")
CONSTANTS = (2.0, -7.0, 1e3, 2.0**20)
each_class = pytest.mark.parametrize("trees", ["nonprojective", "projective"])
each_model = pytest.mark.parametrize("kinds", [SIBLINGS, ALL], ids=["siblings", "g+s"])


def draw(rng, *shape, scale=1.0):
    return np.round(1024.0 * scale * rng.normal(size=shape)) / 1024.0


def pruned_sentence(rng, n_words, kinds, n_arcs, scale=0.5):
    """The best arcs, among them a projective tree that scores well; parts of the given scale."""
    side = n_words + 1
    words = np.arange(1, side)
    arcs = draw(rng, side, side, scale=2.0)
    tree = ProjectiveTrees(rng.normal(size=(side, side))).argmax().heads
    arcs[tree, words] += 3.0
    kept = np.zeros((side, side), dtype=bool)
    kept[tree, words] = True
    others = arcs.copy()
    others[kept] = -np.inf
    others[:, 0] = others[np.diag_indices(side)] = -np.inf
    kept.flat[np.argsort(others, axis=None)[::-1][: n_arcs - n_words]] = True
    packed = Scores.over(
        np.where(kept, arcs, -np.inf).reshape(-1), np.array([n_words]), kinds, threads=1
    )
    for table in packed.tables.values():
        table[:] = draw(rng, len(table), scale=scale)
    return packed


def shifted(packed, constants):
    """The same sentences with constants for all words, one sentence after the other."""
    arcs, place, word = packed.arcs.copy(), 0, 0
    for n in packed.n_words.tolist():
        side = n + 1
        arcs[place : place + side * side].reshape(side, side)[:, 1:] += constants[word : word + n]
        place, word = place + side * side, word + n
    return packed.with_values(arcs, packed.tables)


def whole_constants(rng, packed, size):
    return np.round(size * rng.uniform(-1.0, 1.0, size=int(packed.n_words.sum())))


@each_class
@each_model
@pytest.mark.parametrize("solver", ["subgradient", "ad3", "branch", "exact"])
def test_no_solver_sees_the_constants(solver, kinds, trees, root):
    rng = np.random.default_rng(14)
    for constant in CONSTANTS:
        packed = pruned_sentence(rng, 12, kinds, 60)
        constants = whole_constants(rng, packed, constant)
        one = decode_dual(packed, trees, root, 300, solver)
        other = decode_dual(shifted(packed, constants), trees, root, 300, solver)
        assert other.heads.tolist() == one.heads.tolist()
        assert other.certified == one.certified
        assert other.iterations == one.iterations
        assert other.scores - one.scores == pytest.approx(constants.sum(), abs=1e-8)
        assert other.bounds - other.scores == pytest.approx(one.bounds - one.scores, abs=1e-8)


@each_model
@pytest.mark.parametrize("solver", ["subgradient", "ad3", "branch", "exact"])
def test_rounded_constants_hardly_matter(solver, kinds):
    """With constants of any size: the same trees, and certificates but for one in a hundred."""
    rng = np.random.default_rng(15)
    packed = Scores.joined(
        [pruned_sentence(rng, 10, kinds, 40, scale=0.2).sentence(0) for _ in range(100)]
    )
    one = decode_dual(packed, max_iterations=500, solver=solver)
    for size in (1.0, 1e5):
        constants = size * rng.normal(size=1000)
        other = decode_dual(shifted(packed, constants), max_iterations=500, solver=solver)
        sure = (one.certified & other.certified).repeat(10)
        assert (one.heads == other.heads)[sure].all()
        assert (one.certified != other.certified).sum() <= 1
        assert other.iterations.sum() == pytest.approx(one.iterations.sum(), rel=0.05)


@each_class
def test_automata_with_states_do_not_see_the_constants(trees, root):
    rng = np.random.default_rng(16)
    parts = pruned_sentence(rng, 7, SIBLINGS, 35).sentence(0)
    automata = {(h, side): arbora.Automaton.at_most(2) for h in range(8) for side in (0, 1)}
    constants = 50.0 * np.arange(7)
    plain, moved = (Parts(parts.arcs + np.append(0.0, more)) for more in (0 * constants, constants))
    for solver in ("subgradient", "ad3", "branch"):
        one = HeadAutomata(plain, trees, root, automata).argmax(solver=solver)
        other = HeadAutomata(moved, trees, root, automata).argmax(solver=solver)
        assert (one.heads.tolist(), one.certified, one.iterations) == (
            other.heads.tolist(), other.certified, other.iterations,
        )  # fmt: skip
        assert other.score == pytest.approx(one.score + constants.sum())


def test_the_history_is_moved_by_the_constants():
    rng = np.random.default_rng(17)
    packed = pruned_sentence(rng, 12, SIBLINGS, 60)
    constants = whole_constants(rng, packed, 50.0)
    one = dual_history(packed)
    other = dual_history(shifted(packed, constants))
    assert one.recomputed.tolist() == other.recomputed.tolist()
    np.testing.assert_allclose(other.duals, one.duals + constants.sum())
    np.testing.assert_allclose(other.scores, one.scores + constants.sum())


@each_class
@each_model
def test_hill_climbing_does_not_see_the_constants(kinds, trees, root):
    rng = np.random.default_rng(18)
    for constant in (*CONSTANTS, 2.0**40):
        packed = pruned_sentence(rng, 20, kinds, 150, scale=2.0)
        constants = whole_constants(rng, packed, constant)
        moved = shifted(packed, constants)
        for restarts in (0, 20):
            (one,), (other,) = (
                hill_climb(some, trees, root, restarts=restarts) for some in (packed, moved)
            )
            assert one.heads.tolist() == other.heads.tolist()
            assert other.score == pytest.approx(one.score + constants.sum())
        gains = [head_changes(some, 0, one.heads, trees, root) for some in (packed, moved)]
        np.testing.assert_allclose(*gains, atol=1e-9)


@pytest.mark.parametrize("constant", [100.0, 2.0**30])
def test_an_integer_program_does_not_see_the_constants(constant, root):
    rng = np.random.default_rng(19)
    packed = pruned_sentence(rng, 8, SIBLINGS, 40)
    constants = whole_constants(rng, packed, constant)
    one, other = (
        solve_program(some.sentence(0), root=root) for some in (packed, shifted(packed, constants))
    )
    assert one.certified
    assert other.certified
    assert one.heads.tolist() == other.heads.tolist()
    assert other.value == pytest.approx(one.value + constants.sum(), rel=1e-12, abs=1e-6)


@each_model
@pytest.mark.parametrize("constant", [0.0, 2.0, 100.0])
def test_positive_scores_of_a_long_sentence(kinds, constant):
    """62 words with 354 arcs: heads that all want every word made a certificate out of reach."""
    packed = pruned_sentence(np.random.default_rng(1), 62, kinds, 354)
    assert np.isfinite(packed.arcs).sum() == 354
    moved = shifted(packed, np.full(62, constant))
    found = decode_dual(moved, max_iterations=40_000, solver="branch")
    assert found.certified[0]
    assert found.scores[0] == pytest.approx(float(found.bounds[0]), abs=1e-9)


@each_model
@pytest.mark.parametrize("limit", [30, 100, 150, 600])
def test_branching_is_never_worse_than_the_subgradient(kinds, limit):
    rng = np.random.default_rng(limit)
    sentences = [
        pruned_sentence(rng, n_words, kinds, n_arcs, scale).sentence(0)
        for n_words, n_arcs in ((10, 90), (20, 150), (40, 400))
        for scale in (0.5, 2.0)
        for _ in range(3)
    ]
    packed = Scores.joined(sentences)
    plain, branch = (
        decode_dual(packed, max_iterations=limit, solver=solver)
        for solver in ("subgradient", "branch")
    )
    assert (branch.scores >= plain.scores - 1e-9).all()
    assert (branch.bounds <= plain.bounds + 1e-9).all()
    assert (branch.certified >= plain.certified).all()
    assert (~plain.certified).any()
    assert (branch.iterations <= 2 * limit).all()
