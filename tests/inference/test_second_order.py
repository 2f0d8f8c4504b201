"""Second-order projective trees: against enumeration, each other and first order."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import chisquare

from arbora import (
    ArgumentError,
    ConstraintError,
    NoTreeError,
    Parts,
    ProjectiveTrees,
    SecondOrderTrees,
    ShapeError,
)
from arbora.testing import EnumeratedParts, finite_difference, random_parts
from tests.helpers import random_scores

KINDS = ("consecutive_siblings", "grandparents", "grandsiblings")


@pytest.mark.parametrize("forbidden", [0.0, 0.3])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1e3])
def test_sums_against_enumeration(kinds, root, forbidden, scale, rng):
    for n_words in (1, 2, 3, 4, 5):
        parts = random_parts(rng, n_words, kinds, forbidden=forbidden, scale=scale)
        table, trees = EnumeratedParts(parts, root=root), SecondOrderTrees(parts, root)
        size = max(1.0, abs(table.log_partition))
        assert abs(trees.log_partition - table.log_partition) < 1e-13 * size
        assert np.abs(trees.marginals - table.marginals).max() < 1e-10
        assert (trees.marginals[np.isneginf(parts.arcs)] == 0).all()
        for kind, expected in table.part_marginals.items():
            assert np.abs(trees.part_marginals[kind] - expected).max() < 1e-10
        assert abs(trees.entropy() - table.entropy()) < 1e-10
        log_p = trees.log_prob(table.heads)
        assert np.abs(np.exp(log_p) - table.probabilities).max() < 1e-10


@pytest.mark.parametrize("ties", [False, True])
def test_trees_against_enumeration(kinds, root, ties, rng):
    for n_words in (1, 2, 3, 4, 5):
        parts = random_parts(rng, n_words, kinds, forbidden=0.3, ties=ties)
        table, trees = EnumeratedParts(parts, root=root), SecondOrderTrees(parts, root)
        expected = np.sort(table.tree_scores)[::-1]
        ranked = trees.kbest(len(expected) + 5)
        assert np.abs(np.array([tree.score for tree in ranked]) - expected).max() < 1e-12
        assert {tuple(tree.heads) for tree in ranked} == {tuple(row) for row in table.heads}
        assert trees.kbest(2) == ranked[:2]
        best = trees.argmax()
        assert best.score == pytest.approx(expected[0], abs=1e-12)
        assert best == ranked[0]
        assert parts.score(best.heads) == pytest.approx(best.score, abs=1e-12)
        expected_correct = np.tensordot(table.has_arcs(), table.marginals, axes=2)
        mbr = trees.mbr()
        gain = table.marginals[mbr.heads, np.arange(1, n_words + 1)].sum()
        assert gain == pytest.approx(expected_correct.max(), abs=1e-12)
        assert mbr.score == pytest.approx(parts.score(mbr.heads), abs=1e-12)


def test_margins_against_enumeration(kinds, root, rng):
    parts = random_parts(rng, 4, kinds, forbidden=0.3)
    table = EnumeratedParts(parts, root=root)
    has = table.has_arcs() > 0
    margins = SecondOrderTrees(parts, root).arc_margins()
    for h, m in np.ndindex(5, 5):
        if m == 0 or h == m:
            assert margins[h, m] == 0
            continue
        with_arc, without = table.tree_scores[has[:, h, m]], table.tree_scores[~has[:, h, m]]
        if not len(with_arc):
            assert margins[h, m] == -np.inf
        elif not len(without):
            assert margins[h, m] == np.inf
        else:
            assert margins[h, m] == pytest.approx(with_arc.max() - without.max(), abs=1e-12)


def test_samples(kinds, root, rng):
    parts = random_parts(rng, 4, kinds, forbidden=0.2)
    table, trees = EnumeratedParts(parts, root=root), SecondOrderTrees(parts, root)
    rows = {tuple(row): i for i, row in enumerate(table.heads.tolist())}
    drawn = trees.sample(20_000, seed=3)
    counts = np.bincount([rows[tuple(row)] for row in drawn.tolist()], minlength=len(rows))
    expected = table.probabilities * len(drawn)
    common = expected >= 5
    observed = np.append(counts[common], counts[~common].sum())
    wanted = np.append(expected[common], expected[~common].sum())
    keep = wanted > 0
    assert chisquare(observed[keep], wanted[keep]).pvalue > 1e-3
    assert (trees.sample(7, seed=3) == drawn[:7]).all()
    assert (trees.sample(50) != trees.sample(50)).any() or len(rows) < 3


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_gradient_against_the_enumerated_covariance(kinds, root, scale, rng):
    for n_words in (1, 3, 5):
        parts = random_parts(rng, n_words, kinds, forbidden=0.3, scale=scale)
        table, trees = EnumeratedParts(parts, root=root), SecondOrderTrees(parts, root)
        d_arcs = rng.normal(size=parts.arcs.shape)
        d_parts = {kind: rng.normal(size=len(p)) for kind, p in trees.part_marginals.items()}
        arcs, of_parts = table.vjp(np.where(np.isneginf(parts.arcs), 0, d_arcs), d_parts)
        answer = trees.vjp(d_arcs, d_parts)
        assert np.abs(answer.arcs - arcs).max() < 1e-11
        for kind in kinds:
            assert np.abs(answer.parts[kind] - of_parts[kind]).max() < 1e-11
        alone = trees.vjp(d_arcs).arcs
        assert np.sum(alone * d_arcs) == pytest.approx(trees.variance(d_arcs), abs=1e-10)


def test_gradient_against_finite_differences(root, rng):
    parts = random_parts(rng, 4, KINDS, forbidden=0.2)
    trees = SecondOrderTrees(parts, root)
    d_arcs = rng.normal(size=parts.arcs.shape)
    d_parts = {kind: rng.normal(size=len(p)) for kind, p in trees.part_marginals.items()}
    lists = {kind: getattr(parts, kind) for kind in KINDS}

    def loss(moved):
        marginals = moved.part_marginals
        inner = sum(float(d_parts[kind] @ marginals[kind]) for kind in KINDS)
        return float(np.sum(d_arcs * moved.marginals)) + inner

    answer = trees.vjp(d_arcs, d_parts)
    numeric = finite_difference(
        lambda arcs: loss(SecondOrderTrees(Parts(arcs, **lists), root)), parts.arcs
    )
    assert np.abs(answer.arcs - numeric).max() < 1e-8
    rows, scores = lists["grandparents"]

    def of_scores(moved):
        changed = Parts(parts.arcs, **{**lists, "grandparents": (rows, moved)})
        return loss(SecondOrderTrees(changed, root))

    numeric = finite_difference(of_scores, scores)
    assert np.abs(answer.parts["grandparents"] - numeric).max() < 1e-8


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_first_order_is_that_of_projective_trees(kinds, root, scale, rng):
    """Whatever the recursion: parts that all score 0 change nothing."""
    scores = random_scores(rng, 9, scale, 0.3)
    first = ProjectiveTrees(scores, root)
    lists = {kind: ([], []) for kind in kinds}
    trees = SecondOrderTrees(Parts(scores, **lists), root)
    assert trees.kinds == kinds
    assert trees.log_partition == pytest.approx(first.log_partition, rel=1e-13)
    assert np.abs(trees.marginals - first.marginals).max() < 1e-11
    assert trees.argmax() == first.argmax()
    assert trees.kbest(20) == first.kbest(20)
    assert trees.entropy() == pytest.approx(first.entropy(), abs=1e-9)
    gradient = rng.normal(size=scores.shape)
    assert np.abs(trees.vjp(gradient).arcs - first.vjp(gradient)).max() < 1e-10
    assert trees.kl(first) < 1e-9
    assert np.allclose(trees.arc_margins(), first.arc_margins(), rtol=1e-9, atol=1e-9)
    assert trees.greedy().heads.tolist() == first.greedy(by="marginal").heads.tolist()


def test_grandparents_alone_agree_with_the_larger_recursion(root, rng):
    """Model 0 against Model 1 with grandsiblings that score 0."""
    parts = random_parts(rng, 5, ["grandparents"])
    nothing = (np.zeros((0, 5), dtype=np.int64), np.empty(0))
    small = SecondOrderTrees(parts, root)
    large = SecondOrderTrees(
        Parts(parts.arcs, grandparents=parts.grandparents, grandsiblings=nothing), root
    )
    assert small.log_partition == pytest.approx(large.log_partition, rel=1e-14)
    assert np.abs(small.marginals - large.marginals).max() < 1e-13
    one, two = small.part_marginals["grandparents"], large.part_marginals["grandparents"]
    assert np.abs(one - two).max() < 1e-13
    assert [t.heads.tolist() for t in small.kbest(9)] == [t.heads.tolist() for t in large.kbest(9)]


def test_grandsiblings_can_say_what_the_others_say(root, rng):
    """A grandsibling is a consecutive pair with a grandparent: scores move from kind to kind."""
    parts = random_parts(rng, 4, ["consecutive_siblings"])
    pairs = {
        tuple(r): s
        for r, s in zip(*map(np.ndarray.tolist, parts.consecutive_siblings), strict=True)
    }
    rows = random_parts(rng, 4, ["grandsiblings"]).grandsiblings.rows
    moved = Parts(parts.arcs, grandsiblings=(rows, [pairs[tuple(r)] for r in rows[:, 1:].tolist()]))
    one, two = SecondOrderTrees(parts, root), SecondOrderTrees(moved, root)
    assert one.log_partition == pytest.approx(two.log_partition, rel=1e-13)
    assert np.abs(one.marginals - two.marginals).max() < 1e-12


def test_divergences(kinds, root, rng):
    p = SecondOrderTrees(random_parts(rng, 4, kinds, forbidden=0.3), root)
    q_parts = random_parts(rng, 4, KINDS)
    q = SecondOrderTrees(q_parts, root)
    table = EnumeratedParts(q_parts, root=root)
    log_p, log_q = p.log_prob(table.heads), q.log_prob(table.heads)
    used = log_p > -np.inf
    weights = np.exp(log_p[used])
    assert p.cross_entropy(q) == pytest.approx(-np.sum(weights * log_q[used]), abs=1e-10)
    expected = np.sum(weights * (log_p[used] - log_q[used]))
    assert p.kl(q) == pytest.approx(expected, abs=1e-10)
    assert p.cross_entropy(p) == pytest.approx(p.entropy(), abs=1e-10)
    assert p.kl(p) < 1e-10
    if not used.all():
        assert q.kl(p) == np.inf
    with pytest.raises(ShapeError, match="same words"):
        p.kl(SecondOrderTrees(Parts(np.zeros((3, 3)))))
    with pytest.raises(ArgumentError, match="first-order"):
        ProjectiveTrees(np.zeros((5, 5))).kl(p)


def test_constraints(root, rng):
    parts = random_parts(rng, 4, KINDS, forbidden=0.1)
    table, trees = EnumeratedParts(parts, root=root), SecondOrderTrees(parts, root)
    best, *_, worse = trees.kbest(9)
    h, m = worse.arcs[1]
    other = next(arc for arc in best.arcs if arc not in worse.arcs and arc[1] != m)
    told = trees.constrain(required=[(h, m)], forbidden=[other])
    left = (table.heads[:, m - 1] == h) & (table.heads[:, other[1] - 1] != other[0])
    p = np.where(left, table.probabilities, 0)
    assert told.log_partition - trees.log_partition == pytest.approx(np.log(p.sum()), abs=1e-11)
    p /= p.sum()
    assert np.abs(told.marginals - np.tensordot(p, table.has_arcs(), axes=1)).max() < 1e-12
    for kind in KINDS:
        assert np.abs(told.part_marginals[kind] - p @ table.has_parts(kind)).max() < 1e-12
    both = table.probabilities[(table.heads[:, m - 1] == h)
                               & (table.heads[:, other[1] - 1] == other[0])]  # fmt: skip
    assert trees.pair_marginal((h, m), other) == pytest.approx(both.sum(), abs=1e-12)
    with pytest.raises(ConstraintError):
        trees.constrain(required=[(1, 2), (2, 1)])


def test_products(root, rng):
    one, two = random_parts(rng, 4, KINDS[:2], forbidden=0.2), random_parts(rng, 4, KINDS[1:])
    a, b = SecondOrderTrees(one, root), SecondOrderTrees(two, root)
    table = EnumeratedParts(one, root=root)
    scores = table.tree_scores + np.array([two.score(heads) for heads in table.heads])
    assert (a * b).argmax().score == pytest.approx(scores.max())
    assert (a * b).log_partition == pytest.approx(np.logaddexp.reduce(scores))


def test_bad_input(rng):
    with pytest.raises(ArgumentError, match="LoopyTrees"):
        SecondOrderTrees(random_parts(rng, 3, ["siblings"]))
    with pytest.raises(ArgumentError, match="takes Parts"):
        SecondOrderTrees(np.zeros((3, 3)))
    with pytest.raises(ArgumentError, match="root"):
        SecondOrderTrees(Parts(np.zeros((3, 3))), "both")
    two_roots = np.full((3, 3), -np.inf)
    two_roots[0] = 0.0
    assert SecondOrderTrees(Parts(two_roots), "multi").argmax().heads.tolist() == [0, 0]
    with pytest.raises(NoTreeError, match="second root"):
        SecondOrderTrees(Parts(two_roots))
    trees = SecondOrderTrees(random_parts(rng, 3, KINDS))
    with pytest.raises(ArgumentError, match="siblings"):
        trees.vjp(np.zeros((4, 4)), {"siblings": [1.0]})
    with pytest.raises(ShapeError):
        trees.vjp(np.zeros((4, 4)), {"grandparents": [1.0]})
    with pytest.raises(ShapeError, match="finite"):
        trees.vjp(
            np.zeros((4, 4)),
            {"grandparents": np.full(len(trees.part_marginals["grandparents"]), np.nan)},
        )
    assert trees.log_prob([2, 1, 0]) == -np.inf


def test_values(rng):
    trees = SecondOrderTrees(random_parts(rng, 4, KINDS))
    again = pickle.loads(pickle.dumps(trees))
    assert again.log_partition == trees.log_partition
    assert (again.part_marginals["grandsiblings"] == trees.part_marginals["grandsiblings"]).all()
    assert not trees.marginals.flags.writeable
    assert not trees.part_marginals["grandparents"].flags.writeable
    assert trees.exact
    assert repr(trees).startswith("SecondOrderTrees(4 words, consecutive_siblings, ")
    ones = np.ones((5, 5))
    assert trees.expect(ones) == pytest.approx(4)
    assert trees.variance(ones) < 1e-10
    assert trees.covariance(ones, trees.scores) == pytest.approx(0, abs=1e-10)
