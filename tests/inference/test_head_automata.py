"""HeadAutomata as people use it: answers, certificates, automata of their own, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import arbora
from arbora import (
    ArgumentError,
    Automaton,
    Decoded,
    HeadAutomata,
    Parts,
    ProjectiveTrees,
    SecondOrderTrees,
)
from arbora.scores import Scores
from arbora.testing import best_tree_slowly, enumerate_trees, random_parts

MODELS = [
    (),
    ("consecutive_siblings",),
    ("grandparents",),
    ("consecutive_siblings", "grandparents", "grandsiblings"),
]


def best_slowly(model):
    """The best tree by looking at all, automata included."""
    every = enumerate_trees(model.n_words, model.trees, model.root)
    return max(model.score(heads) for heads in every)


@pytest.mark.parametrize("kinds", MODELS, ids=len)
@pytest.mark.parametrize("solver", ["subgradient", "ad3"])
@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_answers(kinds, solver, trees, root):
    rng = np.random.default_rng(3)
    for _ in range(3):
        parts = random_parts(rng, 4, kinds, forbidden=0.2)
        model = HeadAutomata(parts, trees, root)
        _, best = best_tree_slowly(parts, trees, root)
        tree = model.argmax(solver=solver)
        assert isinstance(tree, Decoded)
        assert tree.score == pytest.approx(parts.score(tree.heads))
        assert tree.score <= best + 1e-9
        assert tree.bound >= best - 1e-9
        assert tree.gap == pytest.approx(tree.bound - tree.score)
        assert not tree.certified or tree.score == pytest.approx(best)
        exact = model.exact_argmax()
        assert exact.certified
        assert exact.gap == 0.0
        assert exact.score == pytest.approx(best)
        assert model.exact is False


@pytest.mark.parametrize("kinds", MODELS[1:], ids=len)
def test_the_solvers_agree_with_an_integer_program(kinds, root):
    """At lengths where not all trees can be looked at."""
    rng = np.random.default_rng(12)
    for n_words in (7, 8):
        parts = pruned_parts(rng, n_words, kinds, heads=4)
        model = HeadAutomata(parts, root=root)
        program, branch = model.exact_argmax("ilp"), model.exact_argmax()
        assert program.certified
        assert program.score == pytest.approx(branch.score, abs=1e-6)
        for solver in ("subgradient", "ad3"):
            tree = model.argmax(2000, solver)
            assert tree.bound >= program.score - 1e-6
            assert not tree.certified or tree.score == pytest.approx(program.score, abs=1e-6)


@pytest.mark.parametrize("kinds", MODELS[1:], ids=len)
def test_projective_decoding_agrees_with_the_exact_chart(kinds, root):
    """The projective variant at 30 words."""
    rng = np.random.default_rng(13)
    parts = pruned_parts(rng, 30, kinds, heads=4)
    best = SecondOrderTrees(parts, root).argmax()
    model = HeadAutomata(parts, "projective", root)
    assert model.exact_argmax().score == pytest.approx(best.score, abs=1e-6)
    for solver in ("subgradient", "ad3"):
        tree = model.argmax(1000, solver)
        assert tree.bound >= best.score - 1e-6
        assert tree.score <= best.score + 1e-6
        assert not tree.certified or tree.score == pytest.approx(best.score, abs=1e-6)


def pruned_parts(rng, n_words, kinds, heads):
    """Every word has so many possible heads, one of them of a projective tree that scores well."""
    side = n_words + 1
    tree = ProjectiveTrees(rng.normal(size=(side, side))).argmax().heads
    arcs = rng.normal(size=(side, side))
    arcs[tree, np.arange(1, side)] += 3.0
    np.fill_diagonal(arcs, -np.inf)
    arcs[arcs < np.sort(arcs, axis=0)[-heads]] = -np.inf
    arcs[tree, np.arange(1, side)] = np.maximum(arcs[tree, np.arange(1, side)], 0.0)
    packed = Scores.over(arcs.reshape(-1), np.array([n_words]), kinds)
    lists = {kind: packed.columns(kind, 0) for kind in kinds}
    rows = {kind: (columns, rng.normal(size=len(columns))) for kind, columns in lists.items()}
    return Parts(arcs, **rows)


def random_automaton(rng, n_words, states):
    def draw(*shape):
        return np.where(rng.random(shape) < 0.2, -np.inf, rng.normal(size=shape))

    initial = draw(states)
    initial[0] = 0.0
    final = rng.normal(size=states)  # every state may end: the empty walk is always there
    return Automaton(initial, draw(n_words + 1, states, states), final)


@pytest.mark.parametrize("kinds", MODELS, ids=len)
@pytest.mark.parametrize("seed", range(6))
def test_automata_with_states(kinds, seed, root):
    """Any scores by states, on top of any parts (D10, section 3, example 2)."""
    rng = np.random.default_rng(seed)
    parts = random_parts(rng, 4, kinds, forbidden=0.2 * (seed % 2))
    sides = [(h, side) for h in range(5) for side in (0, 1) if rng.random() < 0.6]
    automata = {key: random_automaton(rng, 4, 1 + seed % 3) for key in sides}
    for trees in ("nonprojective", "projective"):
        model = HeadAutomata(parts, trees, root, automata)
        best = best_slowly(model)
        if best == -np.inf:
            with pytest.raises(arbora.NoTreeError, match="automata"):
                model.exact_argmax()
            continue
        exact = model.exact_argmax()
        assert exact.score == pytest.approx(best)
        assert exact.score == pytest.approx(model.score(exact.heads))
        for solver in ("subgradient", "ad3"):
            tree = model.argmax(500, solver)
            assert tree.bound >= best - 1e-6
            assert not tree.certified or tree.score == pytest.approx(best)


@pytest.mark.parametrize("limit", [1, 2])
def test_at_most_so_many_modifiers(limit):
    """A valency-limited parser, whose automata are the user's."""
    rng = np.random.default_rng(limit)
    certified = 0
    for _ in range(12):
        arcs = rng.normal(size=(6, 6))
        arcs[2] += 2.0  # a head that everyone wants
        automaton = Automaton.at_most(limit)
        model = HeadAutomata(
            Parts(arcs), automata={(h, side): automaton for h in range(6) for side in (0, 1)}
        )
        best = best_slowly(model)
        tree, exact = model.argmax(), model.exact_argmax()
        certified += tree.certified
        assert not tree.certified or tree.score == pytest.approx(best)
        assert exact.score == pytest.approx(best)
        for head in range(6):
            of_head = np.flatnonzero(exact.heads == head) + 1
            assert (of_head < head).sum() <= limit
            assert (of_head > head).sum() <= limit
    assert certified > 6


def test_automata_may_forbid_every_tree():
    parts = Parts(np.zeros((4, 4)))
    nothing = {(h, side): Automaton.at_most(0) for h in range(4) for side in (0, 1)}
    model = HeadAutomata(parts, automata=nothing)
    with pytest.raises(arbora.NoTreeError, match="automata forbid"):
        model.exact_argmax()
    tree = model.argmax(max_iterations=20)
    assert tree.score == -np.inf
    assert not tree.certified
    refusing = {(1, 0): Automaton([0.0], [[0.0]], [-np.inf])}
    for solver in ("subgradient", "ad3"):
        with pytest.raises(arbora.NoTreeError, match="automata forbid"):
            HeadAutomata(parts, automata=refusing).argmax(solver=solver)


def test_the_score_of_an_automaton():
    scores = np.arange(12.0).reshape(3, 2, 2)
    automaton = Automaton([0.0, -np.inf], scores, [1.0, 2.0])
    assert automaton.score([]) == 1.0
    assert automaton.score([1]) == max(4.0 + 1.0, 5.0 + 2.0)
    assert automaton.score([2, 1]) == max(8 + 4 + 1, 8 + 5 + 2, 9 + 6 + 1, 9 + 7 + 2)


def test_a_decoded_tree_is_a_value():
    tree = HeadAutomata(Parts(np.arange(16.0).reshape(4, 4))).argmax()
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert (again.score, again.bound, again.certified, again.iterations) == (
        tree.score, tree.bound, tree.certified, tree.iterations,
    )  # fmt: skip
    assert tree == arbora.SpanningTrees(np.arange(16.0).reshape(4, 4)).argmax()
    assert repr(tree).startswith("Decoded(heads=[")
    assert not again.heads.flags.writeable


def test_copies_of_a_decoder():
    parts = Parts(np.arange(16.0).reshape(4, 4), grandparents=([[0, 1, 2]], [30.0]))
    model = HeadAutomata(parts, "projective", "multi", {(0, 1): Automaton.at_most(1)})
    again = pickle.loads(pickle.dumps(model))
    assert repr(again) == repr(model)
    assert again.argmax() == model.argmax()


def test_impossible_sentences_are_named_when_they_are_made():
    arcs = np.zeros((3, 3))
    arcs[:, 2] = -np.inf
    arcs[0, 2] = 0.0  # both words only under the root
    arcs[2, 1] = -np.inf
    assert HeadAutomata(Parts(arcs), root="multi").argmax().certified
    with pytest.raises(arbora.NoTreeError, match="second root arc"):
        HeadAutomata(Parts(arcs))
    crossing = np.full((5, 5), -np.inf)
    for h, m in [(0, 1), (1, 3), (4, 2), (3, 4)]:
        crossing[h, m] = 0.0
    assert HeadAutomata(Parts(crossing)).argmax().heads.tolist() == [0, 4, 1, 3]
    with pytest.raises(arbora.NoTreeError, match="crossing"):
        HeadAutomata(Parts(crossing), trees="projective")


def test_bad_arguments_are_refused_in_a_sentence():
    parts = Parts(np.zeros((4, 4)))
    pairs = Parts(np.zeros((4, 4)), siblings=([[0, 1, 2]], [1.0]))
    with pytest.raises(arbora.ArgumentError, match="LoopyTrees"):
        HeadAutomata(pairs)
    with pytest.raises(arbora.ArgumentError, match="parts must be Parts"):
        HeadAutomata(np.zeros((4, 4)))
    with pytest.raises(arbora.ArgumentError, match="trees must be"):
        HeadAutomata(parts, trees="planar")
    with pytest.raises(arbora.ArgumentError, match="root must be"):
        HeadAutomata(parts, root="two")
    model = HeadAutomata(parts)
    for limit in (0, -3, 2.5):
        with pytest.raises(arbora.ArgumentError, match="max_iterations must be"):
            model.argmax(max_iterations=limit)
    with pytest.raises(arbora.ArgumentError, match="solver must be"):
        model.argmax(solver="exact")
    with pytest.raises(arbora.ArgumentError, match="method must be"):
        model.exact_argmax(method="guess")


def test_bad_automata_are_refused_in_a_sentence():
    parts = Parts(np.zeros((4, 4)))
    one = Automaton.at_most(1)
    for key in ((4, 0), (-1, 0), (1, 2), 3):
        with pytest.raises(arbora.ArgumentError, match="automat"):
            HeadAutomata(parts, automata={key: one})
    with pytest.raises(arbora.ShapeError, match="4 words"):
        HeadAutomata(parts, automata={(1, 0): Automaton([0.0], np.zeros((3, 1, 1)), [0.0])})
    with pytest.raises(arbora.ArgumentError, match="branch"):
        HeadAutomata(parts, automata={(1, 0): one}).exact_argmax("ilp")
    with pytest.raises(arbora.ArgumentError, match="history"):
        HeadAutomata(parts, automata={(1, 0): one}).history()
    with pytest.raises(arbora.ShapeError, match="transitions"):
        Automaton([0.0], [0.0], [0.0])
    with pytest.raises(arbora.ShapeError, match="final"):
        Automaton([0.0], [[0.0]], [0.0, 1.0])
    with pytest.raises(arbora.ShapeError, match="initial"):
        Automaton([], [[0.0]], [])
    with pytest.raises(arbora.ScoreError, match="final"):
        Automaton([0.0], [[0.0]], [np.nan])
    with pytest.raises(arbora.ScoreError, match="up to 1e"):
        Automaton([1e300], [[0.0]], [0.0])
    for automata in ([(1, 0)], {(1, 0): 3}, {(1.5, 0): one}):
        with pytest.raises(arbora.ArgumentError, match="utomat"):
            HeadAutomata(parts, automata=automata)
    with pytest.raises(arbora.ArgumentError, match="modifiers"):
        Automaton.at_most(-1)


def hopeless(n_words=60, kinds=MODELS[1]):
    """Random scores of a long sentence, which nobody should hope to decode exactly."""
    rng = np.random.default_rng(3)
    side = n_words + 1
    flat = rng.normal(size=side * side)
    packed = Scores.over(flat, np.array([n_words]), kinds)
    for table in packed.tables.values():
        table[:] = 3 * rng.normal(size=len(table))
    return HeadAutomata(packed.sentence(0))


def test_a_time_limit_ends_with_the_best_so_far():
    model = hopeless()
    tree = model.exact_argmax(time_limit=0.05)
    assert not tree.certified
    assert tree.gap > 0.0
    assert tree.score == pytest.approx(model.score(tree.heads))
    assert "gap=" in repr(tree)


@pytest.mark.parametrize("solver", ["subgradient", "ad3", "branch"])
def test_every_solver_has_a_time_limit(solver):
    model = hopeless()
    tree = model.argmax(10**9, solver, time_limit=0.05)
    assert tree.iterations < 10**6
    assert not tree.certified
    assert tree.gap > 0.0
    assert tree.score == pytest.approx(model.score(tree.heads))


def test_ad3_ends_by_itself():
    """20 words of random scores: each iteration takes a millisecond, and there are few."""
    model = hopeless(20, MODELS[2])
    tree = model.argmax(solver="ad3")
    assert not tree.certified
    assert tree.iterations == 500
    assert model.argmax(501, "ad3").iterations == 501


def test_a_time_limit_changes_nothing_if_there_is_time(rng):
    for _ in range(5):
        model = HeadAutomata(random_parts(rng, 5, MODELS[-1]))
        for method in ("branch", "ilp"):
            assert model.exact_argmax(method, time_limit=60.0).certified


def test_bad_time_limits():
    model = HeadAutomata(Parts(np.zeros((3, 3))))
    for method in ("branch", "ilp"):
        with pytest.raises(ArgumentError, match="seconds above 0"):
            model.exact_argmax(method, time_limit=0.0)
    for solver in ("subgradient", "ad3", "branch"):
        with pytest.raises(ArgumentError, match="seconds above 0"):
            model.argmax(solver=solver, time_limit=-1.0)
