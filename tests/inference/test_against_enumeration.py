"""Every answer against the table of all trees."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import ProjectiveTrees, SpanningTrees
from arbora.errors import NoTreeError
from arbora.testing import EnumeratedTrees, check_distribution
from tests.helpers import random_scores

SCALES = [0.1, 1.0, 10.0, 30.0]


@pytest.mark.parametrize("mask", [0.0, 0.3])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 5])
def test_sums(kind, root, n_words, scale, mask, rng):
    for _ in range(5):
        scores = random_scores(rng, n_words, scale, mask)
        trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
        assert trees.log_partition == pytest.approx(table.log_partition, rel=1e-13, abs=1e-12)
        assert np.abs(trees.marginals - table.marginals).max() < 1e-12
        assert trees.entropy() == pytest.approx(table.entropy(), abs=1e-11)
        check_distribution(trees)


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_labelled_sums(kind, root, n_labels, scale, rng):
    for mask in (0.0, 0.3):
        scores = random_scores(rng, 3, scale, mask, n_labels)
        trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
        assert trees.log_partition == pytest.approx(table.log_partition, rel=1e-13, abs=1e-12)
        assert np.abs(trees.marginals - table.marginals).max() < 1e-12
        assert trees.entropy() == pytest.approx(table.entropy(), abs=1e-10)
        gradient = rng.normal(size=scores.shape)
        assert np.abs(trees.vjp(gradient) - table.vjp(gradient)).max() < 1e-10
        check_distribution(trees)


def test_random_masks_are_feasible_exactly_when_a_tree_exists(kind, root, rng):
    infeasible = 0
    for _ in range(400):
        scores = rng.normal(size=(5, 5))
        scores[rng.random(scores.shape) < 0.6] = -np.inf
        if len(EnumeratedTrees(scores, kind.trees, root)):
            assert np.isfinite(kind(scores, root).log_partition)
        else:
            infeasible += 1
            with pytest.raises(NoTreeError, match=r"there is no (projective )?tree: "):
                kind(scores, root)
    assert 50 < infeasible < 400


def test_named_word_is_to_blame(kind, root, rng):
    """Freeing the word that the error names cures it: no word is named twice on the way."""
    for _ in range(300):
        scores = rng.normal(size=(5, 5))
        scores[rng.random(scores.shape) < 0.6] = -np.inf
        named: list[int] = []
        for _ in range(6):
            (error,) = kind.batch([scores], root, errors="return").log_partition
            if isinstance(error, float) or error.word is None:
                break
            assert f"word {error.word}" in str(error)
            named.append(error.word)
            scores[:, error.word] = 0.0
        assert len(set(named)) == len(named) <= 4


@pytest.mark.parametrize("values", ["normal", "ties"])
def test_best_tree_and_kbest(kind, root, values, rng):
    for n_words in (1, 2, 3, 4, 5):
        for mask in (0.0, 0.3):
            scores = random_scores(rng, n_words, 1.0, mask)
            if values == "ties":
                scores = np.where(np.isfinite(scores), np.round(scores), scores)
            trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
            expected = table.sorted_scores()
            assert trees.argmax().score == pytest.approx(expected[0], abs=1e-12)
            listed = trees.kbest(len(expected) + 5)
            assert len(listed) == len(expected)
            assert np.allclose([tree.score for tree in listed], expected, rtol=0, atol=1e-12)
            found = {tuple(tree.heads.tolist()) for tree in listed}
            assert found == {tuple(heads) for heads in table.heads.tolist()}


def test_labelled_kbest(kind, root, rng):
    for values in (rng.normal(size=(4, 4, 3)), np.round(rng.normal(size=(4, 4, 3)))):
        values[rng.random(values.shape) < 0.2] = -np.inf
        values[[0, 1, 2], [1, 2, 3]] = 0.5
        trees, table = kind(values, root), EnumeratedTrees(values, kind.trees, root)
        listed = trees.kbest(len(table) + 1)
        assert len(listed) == len(table)
        assert np.allclose([tree.score for tree in listed], table.sorted_scores(), atol=1e-12)
        pairs = {(*t.heads.tolist(), *t.labels.tolist()) for t in listed}
        assert len(pairs) == len(table)
        first = trees.argmax()
        assert first.score == pytest.approx(listed[0].score, abs=1e-12)


def test_ties_are_broken_the_same_way_every_time(kind, root):
    scores = np.zeros((7, 7))
    assert kind(scores, root).argmax() == kind(scores, root).argmax()
    assert kind(scores, root).kbest(9) == kind(scores, root).kbest(9)


def test_nearest_head_wins_ties():
    from arbora import SpanningTrees

    scores = np.zeros((5, 5))
    assert SpanningTrees(scores, "multi").argmax().heads.tolist() == [0, 1, 2, 3]
    assert SpanningTrees(scores).greedy().heads.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n_words", [3, 7, 14, 15, 16, 20, 40])
def test_nearest_head_wins_ties_at_any_length(n_words):
    from arbora import SpanningTrees

    chain = list(range(n_words))
    assert SpanningTrees(np.zeros((n_words + 1,) * 2), "multi").argmax().heads.tolist() == chain
    far = np.zeros((n_words + 1,) * 2)
    far[:, n_words] = -1.0  # a tie in some columns only
    far[0, n_words] = 2.0
    assert SpanningTrees(far, "multi").argmax().heads.tolist() == [*chain[:-1], 0]


def test_nearest_head_wins_ties_into_a_cycle(root):
    """Words 3 and 4 choose each other; 1 and 2 are equally good ways in, and so are 3 and 4."""
    from arbora import SpanningTrees

    scores = np.full((5, 5), -20.0)
    scores[3, 4] = scores[4, 3] = 10.0
    scores[0, 1] = scores[1, 2] = 5.0
    scores[1, 3] = scores[1, 4] = scores[2, 3] = scores[2, 4] = 0.0
    assert SpanningTrees(scores, root).argmax().heads.tolist() == [0, 1, 2, 3]


def test_mbr_has_the_most_expected_arcs(kind, root, rng):
    for _ in range(20):
        scores = random_scores(rng, 4, 2.0, 0.2)
        trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
        gains = table.values_of(table.marginals)
        tree = trees.mbr()
        words = np.arange(1, 5)
        assert trees.marginals[tree.heads, words].sum() == pytest.approx(gains.max(), abs=1e-12)
        assert tree.score == pytest.approx(scores[tree.heads, words].sum())


def test_mbr_is_neither_the_best_tree_nor_the_best_product_of_marginals(kind, root, rng):
    """On some scores the three decoders differ: only expected arcs make the MBR tree."""
    differ = 0
    for _ in range(300):
        scores = random_scores(rng, 5, 1.0)
        trees = kind(scores, root)
        with np.errstate(divide="ignore"):
            product = kind(np.log(trees.marginals), root).argmax()
        decoded = trees.mbr()
        words = np.arange(1, 6)
        expected = trees.marginals[decoded.heads, words].sum()
        assert expected >= trees.marginals[product.heads, words].sum() - 1e-12
        differ += expected > trees.marginals[product.heads, words].sum() + 1e-6
        differ += expected > trees.marginals[trees.argmax().heads, words].sum() + 1e-6
    assert differ > 3


def test_log_odds_are_not_the_gains_of_mbr(rng):
    """Gormley et al. (2015), footnote 3: their best tree may have fewer expected arcs."""
    differ, words = 0, np.arange(1, 7)
    for _ in range(250):
        trees = ProjectiveTrees(random_scores(rng, 6, 1.0))
        with np.errstate(divide="ignore"):
            log_odds = np.log(trees.marginals) - np.log1p(-trees.marginals)
        other = ProjectiveTrees(log_odds).argmax().heads
        most = trees.marginals[trees.mbr().heads, words].sum()
        assert most >= trees.marginals[other, words].sum() - 1e-12
        differ += most > trees.marginals[other, words].sum() + 1e-6
    assert differ > 1


def test_log_prob_of_every_tree(kind, root, rng):
    scores = random_scores(rng, 4, 3.0, 0.2)
    trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
    every = EnumeratedTrees(np.zeros((5, 5)), "nonprojective", "multi").heads
    log_probs = dict(zip(map(tuple, every.tolist()), trees.log_prob(every), strict=True))
    for heads, p in zip(table.heads.tolist(), table.probabilities, strict=True):
        assert log_probs.pop(tuple(heads)) == pytest.approx(np.log(p), abs=1e-11)
    assert set(log_probs.values()) <= {-np.inf}
    assert trees.log_prob([2, 1, 0, 1]) == -np.inf  # a cycle


def test_log_prob_sums_unknown_labels_out(kind, root, rng):
    scores = random_scores(rng, 3, 2.0, 0.0, 2)
    trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
    heads = np.array([0, 1, 2])
    same = (table.heads == heads).all(axis=1)
    assert trees.log_prob(heads) == pytest.approx(np.log(table.probabilities[same].sum()))
    known = same & (table.labels[:, 1] == 1)
    expected = np.log(table.probabilities[known].sum())
    assert trees.log_prob(heads, [-1, 1, -1]) == pytest.approx(expected)


def test_pair_marginals(kind, root, rng):
    scores = random_scores(rng, 4, 2.0, 0.2)
    trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
    arcs = [(h, m) for h in range(5) for m in range(1, 5) if h != m and np.isfinite(scores[h, m])]
    for h, m in arcs:
        for h2, m2 in arcs:
            both = (table.heads[:, m - 1] == h) & (table.heads[:, m2 - 1] == h2)
            expected = table.probabilities[both].sum()
            assert trees.pair_marginal((h, m), (h2, m2)) == pytest.approx(expected, abs=1e-12)


def test_arc_margins(kind, root, rng):
    for mask in (0.0, 0.4):
        scores = random_scores(rng, 4, 2.0, mask)
        trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
        margins = trees.arc_margins()
        for h in range(5):
            for m in range(1, 5):
                has = table.heads[:, m - 1] == h
                with_arc = table.tree_scores[has].max(initial=-np.inf)
                without = table.tree_scores[~has].max(initial=-np.inf)
                if h == m:
                    assert margins[h, m] == 0
                elif with_arc == -np.inf:
                    assert margins[h, m] == -np.inf
                else:
                    assert margins[h, m] == pytest.approx(with_arc - without, abs=1e-11)


def test_labelled_arc_margins(kind, root, rng):
    scores = random_scores(rng, 3, 2.0, 0.3, 2)
    trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
    margins = trees.arc_margins()
    for h in range(4):
        for m in range(1, 4):
            for label in range(2):
                has = (table.heads[:, m - 1] == h) & (table.labels[:, m - 1] == label)
                if h == m or not has.any():
                    continue
                with_arc = table.tree_scores[has].max(initial=-np.inf)
                without = table.tree_scores[~has].max(initial=-np.inf)
                assert margins[h, m, label] == pytest.approx(with_arc - without, abs=1e-11)


def test_divergences(kind, root, rng):
    a, b = random_scores(rng, 4, 2.0), random_scores(rng, 4, 2.0)
    p, q = EnumeratedTrees(a, kind.trees, root), EnumeratedTrees(b, kind.trees, root)
    expected = np.sum(p.probabilities * np.log(p.probabilities / q.probabilities))
    assert kind(a, root).kl(kind(b, root)) == pytest.approx(expected, abs=1e-12)
    assert kind(a, root).entropy() == pytest.approx(p.entropy(), abs=1e-12)
    cross = -np.sum(p.probabilities * np.log(q.probabilities))
    assert kind(a, root).cross_entropy(kind(b, root)) == pytest.approx(cross, abs=1e-12)
    b[0, 1] = -np.inf
    assert kind(a, root).kl(kind(b, root)) == np.inf
    assert np.isfinite(kind(b, root).kl(kind(a, root)))


def test_kl_to_a_wider_class_of_trees(rng):
    scores = random_scores(rng, 4)
    narrow, wide = ProjectiveTrees(scores), SpanningTrees(scores, "multi")
    expected = wide.log_partition - narrow.log_partition
    assert narrow.kl(wide) == pytest.approx(expected, abs=1e-12)


def test_kl_to_a_narrower_class_of_trees(rng):
    """Infinite, unless the arcs leave no tree outside the narrower class."""
    scores = random_scores(rng, 4)
    assert SpanningTrees(scores).kl(ProjectiveTrees(scores)) == np.inf
    assert SpanningTrees(scores, "multi").cross_entropy(SpanningTrees(scores)) == np.inf
    chain = np.full((5, 5), -np.inf)
    chain[[0, 1, 1, 3, 2], [1, 2, 3, 4, 3]] = scores[[0, 1, 1, 3, 2], [1, 2, 3, 4, 3]]
    assert SpanningTrees(chain, "multi").kl(ProjectiveTrees(chain)) == pytest.approx(0, abs=1e-12)


def test_kl_looks_at_trees_not_at_marginals(kind, root):
    """Underflow must not hide a tree, nor rounding invent one."""
    p = np.zeros((3, 3))
    p[1, 2] = -800.0
    q = p.copy()
    q[1, 2] = -np.inf
    assert kind(p).marginals[1, 2] == 0
    assert kind(p).kl(kind(q)) == kind(p).cross_entropy(kind(q)) == np.inf
    p = np.array(
        [[0, -np.inf, -np.inf, 0], [0, 0, -np.inf, -np.inf], [0, 10, 0, 0], [0, -10, -10, 0]]
    )
    q = p.copy()
    q[2, 3] = -np.inf  # 3 is the only head of 2, so 2 -> 3 is in no tree
    assert kind(p, root).kl(kind(q, root)) == pytest.approx(0, abs=1e-12)


def test_trees_and_samples_know_their_labels(kind, root, rng):
    trees = kind(random_scores(rng, 3, 1.0, 0.0, 2), root)
    tree, drawn = trees.argmax(), trees.sample(4, seed=0)
    assert trees.log_prob(tree) == trees.log_prob(tree.heads, tree.labels)
    assert (trees.log_prob(drawn) == trees.log_prob(drawn.heads, drawn.labels)).all()


def test_expectations(kind, root, rng):
    scores = random_scores(rng, 4, 2.0, 0.2)
    a, b = rng.normal(size=(5, 5)), rng.normal(size=(5, 5))
    trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
    p, x, y = table.probabilities, table.values_of(a), table.values_of(b)
    assert trees.expect(a) == pytest.approx(np.sum(p * x), abs=1e-12)
    covariance = np.sum(p * x * y) - np.sum(p * x) * np.sum(p * y)
    assert trees.covariance(a, b) == pytest.approx(covariance, abs=1e-12)
    assert trees.variance(a) == pytest.approx(np.sum(p * x * x) - np.sum(p * x) ** 2, abs=1e-12)
    # -inf scores of forbidden arcs count as 0 * (-inf) = 0.
    assert trees.expect(scores) == pytest.approx(np.sum(p * table.tree_scores), abs=1e-12)


def test_product_of_experts(kind, root, rng):
    a, b = random_scores(rng, 4), random_scores(rng, 4)
    product = kind(a, root) * kind(b, root)
    table = EnumeratedTrees(a + b, kind.trees, root)
    assert np.abs(product.marginals - table.marginals).max() < 1e-12


@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 7, 15, 16, 17, 33, 40])
@pytest.mark.parametrize("mirrored", [False, True])
def test_best_heads_that_make_a_tree_are_the_best_tree(n_words, mirrored, rng):
    """Ties too: the nearest head, then the leftmost. Arcs in one direction make no cycles."""
    for _ in range(20):
        scores = rng.integers(0, 3, size=(n_words + 1, n_words + 1)).astype(float)
        backwards = np.triu if mirrored else np.tril
        scores[1:, 1:] -= 10 * backwards(np.ones((n_words, n_words)))
        trees = SpanningTrees(scores, "multi")
        assert trees.argmax() == trees.greedy()
