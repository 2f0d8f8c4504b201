"""Head automata: each head's best walk against all sets of modifiers and all grandparents."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from arbora.inference.automata import best_choices, best_walks, walk_sums
from arbora.inference.tree_parts import list_parts, tree_parts
from arbora.scores import Scores
from arbora.testing import enumerate_trees, random_parts, score_parts_slowly

MODELS = [
    ("consecutive_siblings",),
    ("grandparents",),
    ("grandsiblings",),
    ("consecutive_siblings", "grandparents", "grandsiblings"),
]


def all_walks(parts, head):
    """For all of a head's own heads and all sets of its modifiers: both, and the score."""
    n_words = parts.n_words
    listed = {
        kind: dict(zip(map(tuple, rows.tolist()), scores.tolist(), strict=True))
        for kind in parts.kinds
        for rows, scores in [getattr(parts, kind)]
    }
    possible = [m for m in range(1, n_words + 1) if parts.arcs[head, m] > -np.inf]
    grand = any(kind.startswith("grand") for kind in parts.kinds)
    own = [g for g in range(n_words + 1) if head and parts.arcs[g, head] > -np.inf]
    for g in own if grand and head else [-1]:
        for size in range(len(possible) + 1):
            for chosen in itertools.combinations(possible, size):
                if g in chosen:
                    continue
                score = sum(parts.arcs[head, m] for m in chosen)
                for side in (0, 1):
                    path = sorted((m for m in chosen if (m > head) == bool(side)),
                                  key=lambda m: abs(m - head))  # fmt: skip
                    for a, b in itertools.pairwise([-1, *path, -1]):
                        row = (head, side, a, b)
                        score += listed.get("consecutive_siblings", {}).get(row, 0.0)
                        score += listed.get("grandsiblings", {}).get((g, *row), 0.0)
                grandparents = listed.get("grandparents", {})
                score += sum(grandparents.get((g, head, m), 0.0) for m in chosen)
                yield g, chosen, score


@pytest.mark.parametrize("kinds", MODELS, ids=lambda kinds: "+".join(kinds))
@pytest.mark.parametrize("seed", range(6))
def test_best_walks_are_best(kinds, seed):
    rng = np.random.default_rng(seed)
    some = [random_parts(rng, n, kinds, forbidden=0.2 * (seed % 3), ties=seed > 3) for n in (4, 1)]
    packed = Scores.joined(some)
    counts, values = best_walks(packed)
    for parts, value in zip(some, values, strict=True):
        heads = range(parts.n_words + 1)
        expected = sum(max(score for *_, score in all_walks(parts, head)) for head in heads)
        assert value == pytest.approx(expected, abs=1e-9)
    total = counts.arcs[counts.arcs > 0] @ packed.arcs[counts.arcs > 0]
    for kind in packed.kinds:
        total += counts.tables[kind] @ packed.tables[kind]
    assert total == pytest.approx(values.sum(), abs=1e-9)


@pytest.mark.parametrize("kinds", MODELS, ids=lambda kinds: "+".join(kinds))
@pytest.mark.parametrize("seed", range(4))
def test_best_choices_are_best(kinds, seed):
    """Walks that choose a head's own head as well, or choices of heads beside the walks."""
    parts = random_parts(np.random.default_rng(seed), 4, kinds, forbidden=0.2, ties=seed > 2)
    grand = any(kind.startswith("grand") for kind in kinds)
    expected = 0.0 if grand else parts.arcs[:, 1:].max(axis=0).sum()
    for head in range(5):
        own = {g: parts.arcs[g, head] if grand and head else 0.0 for g in range(-1, 5)}
        expected += max(score + own[g] for g, _, score in all_walks(parts, head))
    packed = Scores.joined([parts])
    counts, values = best_choices(packed)
    assert values[0] == pytest.approx(expected, abs=1e-9)
    total = counts.arcs[counts.arcs > 0] @ packed.arcs[counts.arcs > 0]
    for kind in packed.kinds:
        total += counts.tables[kind] @ packed.tables[kind]
    assert total == pytest.approx(values[0], abs=1e-9)


@pytest.mark.parametrize("kinds", [*MODELS, ("siblings", "grandparents")], ids="+".join)
def test_parts_of_given_trees(kinds):
    rng = np.random.default_rng(1)
    some = [random_parts(rng, 4, kinds) for _ in range(3)]
    packed = Scores.joined(some)
    trees = enumerate_trees(4, "nonprojective", "multi")
    chosen = trees[rng.integers(len(trees), size=3)]
    counts, values = tree_parts(packed, chosen.reshape(-1).astype(np.int32), amount=2.0)
    for i, parts in enumerate(some):
        assert values[i] == pytest.approx(score_parts_slowly(parts, chosen[i].tolist()))
    total = counts.arcs[counts.arcs > 0] @ packed.arcs[counts.arcs > 0]
    for kind in packed.kinds:
        total += counts.tables[kind] @ packed.tables[kind]
    assert total == pytest.approx(2.0 * values.sum())


@pytest.mark.parametrize("kinds", [*MODELS, ("siblings", "grandparents")], ids="+".join)
def test_parts_of_lists_of_trees(kinds):
    """Several trees of a sentence, each with its own amount, as if one tree after the other."""
    rng = np.random.default_rng(2)
    some = [random_parts(rng, 4, kinds) for _ in range(3)]
    trees = enumerate_trees(4, "nonprojective", "multi")
    counts = np.array([3, 0, 5])
    chosen = trees[rng.integers(len(trees), size=8)].astype(np.int32)
    amounts = np.array([1.5, 0.0, -2.0, 0.25, 1.0, 0.0, -0.5, 3.0])
    packed = Scores.joined(some)
    found, values = list_parts(packed, chosen.reshape(-1), counts, amounts, threads=2)
    expected = packed.zeros()
    for tree, amount, value, i in zip(chosen, amounts, values, [0] * 3 + [2] * 5, strict=True):
        assert value == pytest.approx(score_parts_slowly(some[i], tree.tolist()))
        expected.arcs_of(i)[tree, np.arange(1, 5)] += amount
        for kind in packed.kinds:
            expected.piece(kind, i)[packed.of_tree(kind, i, tree)] += amount
    for one, other in zip(found.arrays(), expected.arrays(), strict=True):
        assert one == pytest.approx(other)


@pytest.mark.parametrize("kinds", MODELS, ids=lambda kinds: "+".join(kinds))
@pytest.mark.parametrize("seed", range(3))
def test_sums_over_walks(kinds, seed):
    """Every head's walks, and with them, or beside them, the choice of its own head."""
    parts = random_parts(np.random.default_rng(seed), 4, kinds, forbidden=0.2, scale=2.0)
    grand = any(kind.startswith("grand") for kind in kinds)
    total, arcs = 0.0, np.zeros((5, 5))
    for head in range(5):
        walks = list(all_walks(parts, head))
        scores = np.array([score for *_, score in walks])
        if grand and head:
            scores += [parts.arcs[g, head] for g, *_ in walks]
        top = scores.max()
        weights = np.exp(scores - top)
        total += top + np.log(weights.sum())
        for (g, chosen, _), p in zip(walks, weights / weights.sum(), strict=True):
            arcs[head, list(chosen)] += p
            if grand and head:
                arcs[g, head] += p
    if not grand:
        weights = np.exp(parts.arcs[:, 1:])
        total += np.log(weights.sum(axis=0)).sum()
        arcs[:, 1:] += weights / weights.sum(axis=0)
    expected, values = walk_sums(Scores.joined([parts]))
    assert values[0] == pytest.approx(total, abs=1e-9)
    assert expected.arcs == pytest.approx(arcs.reshape(-1), abs=1e-9)


@pytest.mark.parametrize("kinds", MODELS, ids=lambda kinds: "+".join(kinds))
def test_expected_parts_are_the_derivative_of_the_sums(kinds):
    packed = Scores.joined([random_parts(np.random.default_rng(3), 4, kinds, forbidden=0.2)])
    expected, _ = walk_sums(packed)

    def moved(kind, i, step):
        tables = {name: table.copy() for name, table in packed.tables.items()}
        tables[kind][i] += step
        return walk_sums(packed.with_values(packed.arcs, tables))[1][0]

    for kind in packed.kinds:
        for i in range(0, len(packed.tables[kind]), 5):
            slope = (moved(kind, i, 1e-5) - moved(kind, i, -1e-5)) / 2e-5
            assert expected.tables[kind][i] == pytest.approx(slope, abs=1e-8)


def test_walks_do_not_depend_on_threads():
    rng = np.random.default_rng(2)
    some = [random_parts(rng, 5, MODELS[3]) for _ in range(40)]
    answers = [best_walks(Scores.joined(some), threads)[0] for threads in (1, 2)]
    assert np.array_equal(answers[0].arcs, answers[1].arcs)
    for kind in MODELS[3]:
        assert np.array_equal(answers[0].tables[kind], answers[1].tables[kind])
