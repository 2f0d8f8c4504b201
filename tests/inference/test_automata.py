"""Head automata: each head's best walk against all sets of modifiers and all grandparents."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from arbora.inference.automata import best_walks, tree_parts
from arbora.parts import PackedParts
from arbora.testing import enumerate_trees, random_parts, score_parts_slowly

MODELS = [
    ("consecutive_siblings",),
    ("grandparents",),
    ("grandsiblings",),
    ("consecutive_siblings", "grandparents", "grandsiblings"),
]


def best_walk_slowly(parts, head):
    """The best score of a head over all sets of modifiers and all of its own heads."""
    n_words = parts.n_words
    listed = {
        kind: dict(zip(map(tuple, rows.tolist()), scores.tolist(), strict=True))
        for kind in parts.kinds
        for rows, scores in [getattr(parts, kind)]
    }
    possible = [m for m in range(1, n_words + 1) if parts.arcs[head, m] > -np.inf]
    grand = any(kind.startswith("grand") for kind in parts.kinds)
    own = [g for g in range(n_words + 1) if head and parts.arcs[g, head] > -np.inf]
    best = -np.inf
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
                best = max(best, score)
    return best


@pytest.mark.parametrize("kinds", MODELS, ids=lambda kinds: "+".join(kinds))
@pytest.mark.parametrize("seed", range(6))
def test_best_walks_are_best(kinds, seed):
    rng = np.random.default_rng(seed)
    some = [random_parts(rng, n, kinds, forbidden=0.2 * (seed % 3), ties=seed > 3) for n in (4, 1)]
    packed = PackedParts.joined(some)
    counts, values = best_walks(packed)
    for parts, value in zip(some, values, strict=True):
        expected = sum(best_walk_slowly(parts, head) for head in range(parts.n_words + 1))
        assert value == pytest.approx(expected, abs=1e-9)
    total = counts.arcs[counts.arcs > 0] @ packed.arcs[counts.arcs > 0]
    for kind in packed.kinds:
        total += counts.tables[kind] @ packed.tables[kind]
    assert total == pytest.approx(values.sum(), abs=1e-9)


@pytest.mark.parametrize("kinds", MODELS, ids=lambda kinds: "+".join(kinds))
def test_parts_of_given_trees(kinds):
    rng = np.random.default_rng(1)
    some = [random_parts(rng, 4, kinds) for _ in range(3)]
    packed = PackedParts.joined(some)
    trees = enumerate_trees(4, "nonprojective", "multi")
    chosen = trees[rng.integers(len(trees), size=3)]
    counts, values = tree_parts(packed, chosen.reshape(-1).astype(np.int32), 2.0)
    for i, parts in enumerate(some):
        assert values[i] == pytest.approx(score_parts_slowly(parts, chosen[i].tolist()))
    total = counts.arcs[counts.arcs > 0] @ packed.arcs[counts.arcs > 0]
    for kind in packed.kinds:
        total += counts.tables[kind] @ packed.tables[kind]
    assert total == pytest.approx(2.0 * values.sum())


def test_walks_do_not_depend_on_threads():
    rng = np.random.default_rng(2)
    some = [random_parts(rng, 5, MODELS[3]) for _ in range(40)]
    answers = [best_walks(PackedParts.joined(some, threads))[0] for threads in (1, 2)]
    assert np.array_equal(answers[0].arcs, answers[1].arcs)
    for kind in MODELS[3]:
        assert np.array_equal(answers[0].tables[kind], answers[1].tables[kind])
