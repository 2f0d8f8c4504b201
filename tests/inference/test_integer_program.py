"""Linear programs against all trees: the best tree, upper bounds, and when these are tight."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import arbora
from arbora import Parts
from arbora.inference.dual import decode_dual
from arbora.inference.integer_program import solve_program
from arbora.inference.linear_program import LinearProgram
from arbora.inference.tree_checks import in_class
from arbora.scores import KINDS, Scores
from arbora.testing import (
    best_tree_slowly,
    enumerate_trees,
    part_rows_of_tree,
    random_parts,
)

CLOSE = 1e-6  # the absolute error at which HiGHS stops
CHOICES = [
    (),
    *((kind,) for kind in KINDS),
    ("consecutive_siblings", "grandparents"),
    ("siblings", "grandsiblings"),
    KINDS,
]
each_choice = pytest.mark.parametrize("kinds", CHOICES, ids=lambda kinds: "+".join(kinds) or "arcs")
each_class = pytest.mark.parametrize("trees", ["nonprojective", "projective"])
each_flow = pytest.mark.parametrize("tree_flow", ["single", "multi"])


def some_parts(kinds, n_words=4):
    """Ordinary scores; forbidden arcs; ties, and forbidden arcs too."""
    rng = np.random.default_rng(2010)
    yield random_parts(rng, n_words, kinds, scale=3.0)
    yield random_parts(rng, n_words, kinds, forbidden=0.3)
    yield random_parts(rng, n_words, kinds, forbidden=0.2, ties=True)


def random_steps(seed, n_words, kind):
    """Random scores on the steps of automata and nothing else (D10, section 7.2)."""
    arcs = np.zeros((n_words + 1, n_words + 1))
    rows = Scores.over(arcs.reshape(-1), np.array([n_words]), [kind]).columns(kind, 0)
    return Parts(arcs, **{kind: (rows, np.random.default_rng(seed).normal(size=len(rows)))})


@each_choice
@each_class
@each_flow
def test_the_best_tree_is_that_of_enumeration(kinds, trees, root, tree_flow):
    for parts in some_parts(kinds):
        _, best = best_tree_slowly(parts, trees, root)
        answer = solve_program(parts, trees, root, tree_flow=tree_flow)
        assert answer.score == pytest.approx(best, abs=CLOSE)
        assert answer.value == pytest.approx(best, abs=CLOSE)
        assert answer.score == parts.score(answer.heads)
        assert answer.certified
        assert in_class(answer.heads[None].astype(np.int64), trees, root)[0]


@pytest.mark.parametrize("kinds", [("grandparents",), KINDS], ids="+".join)
@each_class
def test_products_of_grandparents_give_the_same_tree_and_a_weaker_bound(kinds, trees, root):
    for parts in some_parts(kinds):
        _, best = best_tree_slowly(parts, trees, root)
        answer = solve_program(parts, trees, root, grandparents="products")
        assert answer.score == pytest.approx(best, abs=CLOSE)
        tight, loose = (
            solve_program(parts, trees, root, grandparents=way, relaxed=True).value
            for way in ("automata", "products")
        )
        assert best - CLOSE <= tight <= loose + CLOSE


def test_five_words_with_everything(root):
    for parts in some_parts(KINDS, n_words=5):
        _, best = best_tree_slowly(parts, "nonprojective", root)
        assert solve_program(parts, root=root).score == pytest.approx(best, abs=CLOSE)


@each_choice
@each_class
def test_relaxations_are_bounds_and_many_flows_are_tighter_than_one(kinds, trees, root):
    for parts in some_parts(kinds):
        _, best = best_tree_slowly(parts, trees, root)
        one, many = (
            solve_program(parts, trees, root, tree_flow=tree_flow, relaxed=True)
            for tree_flow in ("single", "multi")
        )
        assert best - CLOSE <= many.value <= one.value + CLOSE
        for answer in (one, many):
            assert answer.score <= best + CLOSE
            assert in_class(answer.heads[None].astype(np.int64), trees, root)[0]
            assert answer.arcs.sum(axis=0)[1:] == pytest.approx(1.0)
            assert not answer.arcs[np.isneginf(parts.arcs)].any()
            if answer.integral:
                assert answer.score == pytest.approx(best, abs=CLOSE)
                assert answer.value == pytest.approx(best, abs=CLOSE)


def walks(parts):
    """Everything that a head automaton may choose: (head, its head, modifiers, score).

    The root symbol has no head to choose (-1), and without grandparents no head has.
    """
    n = parts.n_words
    grand = not {"grandparents", "grandsiblings"}.isdisjoint(parts.kinds)
    for h, count in itertools.product(range(n + 1), range(n + 1)):
        others = [m for m in range(1, n + 1) if m != h]
        for chosen in itertools.combinations(others, count):
            above = [g for g in range(n + 1) if g not in (h, *chosen)]
            for g in above if grand and h > 0 else [-1]:
                arcs = sum(parts.arcs[h, m] for m in chosen)
                if arcs == -np.inf or (g >= 0 and parts.arcs[g, h] == -np.inf):
                    continue
                heads = [h if m in chosen else -2 for m in range(1, n + 1)]
                if h > 0:
                    heads[h - 1] = g
                yield h, g, chosen, arcs + walk_score(parts, h, heads)


def walk_score(parts, h, heads):
    total = 0.0
    for kind in parts.kinds:
        rows, scores = getattr(parts, kind)
        of_head = 0 if kind == "consecutive_siblings" else 1
        has = {row for row in part_rows_of_tree(kind, heads) if row[of_head] == h}
        total += sum(s for row, s in zip(rows.tolist(), scores, strict=True) if tuple(row) in has)
    return total


def agreement_bound(parts, trees, root):
    """Mixtures of trees and of walks that agree on their arcs: the dual of D10's Eq. 8."""
    every = [t for t in enumerate_trees(parts.n_words, trees, root) if parts.score(t) > -np.inf]
    chosen = list(walks(parts))
    program = LinearProgram()
    tree = program.add_variables(np.zeros(len(every)))
    walk = program.add_variables(np.array([score for *_, score in chosen]))
    one = np.ones(1)
    program.add_rows(one, one, (np.zeros(len(tree), dtype=int), tree, 1.0))
    side = parts.n_words + 1
    # Rows of arcs, seen from their heads and from their modifiers.
    seen = [[(side * h + m, i) for i, (h, _, ms, _) in enumerate(chosen) for m in ms],
            [(side * g + h, i) for i, (h, g, _, _) in enumerate(chosen) if g >= 0]]  # fmt: skip
    of_trees = np.array([(side * h + m, i) for i, t in enumerate(every)
                         for m, h in enumerate(t, start=1)]).T  # fmt: skip
    for rows, walks_there in (np.array(pairs).T for pairs in seen if pairs):
        nothing = np.zeros(side * side)
        program.add_rows(nothing, nothing, (of_trees[0], tree[of_trees[1]], 1.0),
                         (rows, walk[walks_there], -1.0))  # fmt: skip
    head = np.array([h for h, *_ in chosen])
    program.add_rows(np.ones(side), np.ones(side), (head, walk, 1.0))
    return program.solve(relaxed=True).value


@pytest.mark.parametrize(
    "kinds",
    [
        ("consecutive_siblings",),
        ("grandparents",),
        ("grandsiblings",),
        ("consecutive_siblings", "grandparents"),
        ("consecutive_siblings", "grandparents", "grandsiblings"),
    ],
    ids="+".join,
)
def test_the_relaxation_is_that_of_dual_decomposition(kinds, root):
    """Tight or not: in eight of these ten cases it is not for some sentence."""
    for parts in some_parts(kinds):
        bound = agreement_bound(parts, "nonprojective", root)
        answer = solve_program(parts, root=root, tree_flow="multi", relaxed=True)
        assert answer.value == pytest.approx(bound, abs=CLOSE)


@pytest.mark.parametrize("kind", ["consecutive_siblings", "grandsiblings"])
@each_class
def test_dual_decomposition_comes_down_to_the_relaxation(kind, trees, root):
    """From above, slowly: 5000 subgradient steps leave up to 0.02 here, the gap being up to 1."""
    for seed in range(3):
        parts = random_steps(seed, 6, kind)
        answer = decode_dual(Scores.from_parts(parts), trees, root)
        exact = solve_program(parts, trees, root)
        assert answer.scores[0] <= exact.score + CLOSE
        assert answer.bounds[0] >= exact.value - CLOSE
        if answer.certified[0]:
            assert answer.scores[0] == pytest.approx(exact.score, abs=CLOSE)
        if trees == "nonprojective":
            relaxed = solve_program(parts, root=root, tree_flow="multi", relaxed=True)
            assert -CLOSE <= answer.bounds[0] - relaxed.value <= 0.05


@pytest.mark.parametrize("seed", range(5))
def test_many_flows_are_the_hull_of_all_trees(root, seed):
    """Martins et al. (2009): with arc scores alone the relaxation has whole solutions."""
    parts = random_parts(np.random.default_rng(seed), 6, (), forbidden=0.2)
    answer = solve_program(parts, root=root, tree_flow="multi", relaxed=True)
    best = arbora.SpanningTrees(parts.arcs, root=root).argmax()
    assert answer.integral
    assert answer.heads.tolist() == best.heads.tolist()
    assert answer.value == pytest.approx(best.score, abs=CLOSE)


def test_random_automata_are_rarely_tight():
    """Table 2 of D10, last column: some sibling relaxations are whole, LP(M) more than LP(S)."""
    whole = {"single": 0, "multi": 0}
    for seed in range(10):
        parts = random_steps(seed, 8, "consecutive_siblings")
        for tree_flow in whole:
            answer = solve_program(parts, root="multi", tree_flow=tree_flow, relaxed=True)
            whole[tree_flow] += answer.integral
    assert whole["single"] <= whole["multi"]
    assert 0 < whole["multi"] < 10


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9])
def test_the_size_of_scores_does_not_matter(scale):
    rng = np.random.default_rng(5)
    parts = random_parts(rng, 4, KINDS)
    lists = {kind: getattr(parts, kind) for kind in KINDS}
    scaled = {kind: (rows, scores * scale) for kind, (rows, scores) in lists.items()}
    same = Parts(parts.arcs * scale, **scaled)
    heads, _ = best_tree_slowly(parts, "nonprojective", "single")
    answer = solve_program(same)
    assert answer.heads.tolist() == heads
    assert answer.value == pytest.approx(answer.score, rel=1e-8)


def test_one_word_and_scores_of_zero(root):
    answer = solve_program(Parts(np.zeros((2, 2))), "projective", root)
    assert answer.heads.tolist() == [0]
    assert answer.score == answer.value == 0.0


def test_out_of_time_is_said():
    parts = random_steps(0, 12, "grandsiblings")
    for relaxed in (False, True):
        with pytest.raises(arbora.SolverError, match=r"not solved within 0\.001 seconds"):
            solve_program(parts, time_limit=0.001, relaxed=relaxed)


def test_a_tree_found_in_time_is_not_called_the_best(monkeypatch):
    """The solver stops with a tree and a bound: as SciPy reports it, at no particular moment."""
    import scipy.optimize

    solve = scipy.optimize.milp

    def interrupted(*arguments, **options):
        found = solve(*arguments, **options)
        found.status, found.mip_dual_bound = 1, found.fun - 1024.0
        return found

    monkeypatch.setattr(scipy.optimize, "milp", interrupted)
    answer = solve_program(random_parts(np.random.default_rng(0), 3, KINDS), time_limit=1.0)
    assert answer.status == "time limit"
    assert answer.integral
    assert not answer.certified
    assert answer.value > answer.score


def test_a_program_without_a_solution_is_an_error():
    program = LinearProgram()
    one = program.add_variables(np.ones(1), upper=1.0)
    program.add_rows(np.full(1, 2.0), np.full(1, 3.0), (np.zeros(1, dtype=int), one, 1.0))
    with pytest.raises(arbora.SolverError, match="HiGHS could not solve"):
        program.solve()


def test_bad_arguments_are_refused():
    parts = Parts(np.zeros((4, 4)))
    with pytest.raises(arbora.ArgumentError, match="tree_flow must be"):
        solve_program(parts, tree_flow="both")
    with pytest.raises(arbora.ArgumentError, match="time_limit"):
        solve_program(parts, time_limit=0.0)
    arcs = np.full((3, 3), -np.inf)
    arcs[0, 1:] = 0.0
    with pytest.raises(arbora.NoTreeError, match="second root arc"):
        solve_program(Parts(arcs), root="single")
    assert solve_program(Parts(arcs), root="multi").heads.tolist() == [0, 0]
