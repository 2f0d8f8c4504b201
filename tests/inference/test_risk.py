"""Minimum Bayes risk: losses that are sums over arcs, and any loss over lists of trees."""

from __future__ import annotations

import numpy as np
import pytest

from arbora import (
    ArgumentError,
    LoopyTrees,
    Mixture,
    ProjectiveTrees,
    Samples,
    SecondOrderTrees,
    ShapeError,
    SpanningTrees,
    Tree,
    minimum_risk,
)
from arbora.inference import head_errors, undirected_errors
from arbora.testing import EnumeratedParts, EnumeratedTrees, enumerate_trees, random_parts


def random_scores(rng, n_words, n_labels=None, forbidden=0.2):
    """Scores with some arcs forbidden, but never those of the chain."""
    shape = (n_words + 1, n_words + 1) + (() if n_labels is None else (n_labels,))
    scores = rng.normal(scale=1.5, size=shape)
    scores[rng.random(shape) < forbidden] = -np.inf
    chain = np.arange(n_words)
    scores[chain, chain + 1] = rng.normal(size=(n_words, *shape[2:]))
    return scores


def wrong_heads(n_words):
    """The array of the default loss."""
    same = np.eye(n_words + 1)[:, None, :]
    return np.broadcast_to(1.0 - same, (n_words + 1,) * 3)


def slow_risks(candidates, table, loss):
    """The expected loss of every candidate, tree by tree and word by word."""
    words = np.arange(1, candidates.shape[1] + 1)
    return np.array(
        [table.probabilities @ loss[heads, words, table.heads].sum(axis=1) for heads in candidates]
    )


def risk_of(tree, candidates, risks):
    return risks[np.flatnonzero((candidates == tree.heads).all(axis=1))[0]]


def undirected(heads, truth, weights):
    links = {frozenset(arc) for arc in enumerate(truth.tolist(), start=1)}
    return sum(
        weights[word - 1] * (frozenset((word, head)) not in links)
        for word, head in enumerate(heads.tolist(), start=1)
    )


def looked_up(losses, trees):
    """The loss of two trees, from a table."""
    places = {tuple(heads): i for i, heads in enumerate(trees.tolist())}
    return lambda a, b: losses[places[tuple(a.heads)], places[tuple(b.heads)]]


def test_any_sum_over_words_by_enumeration(kind, root, rng):
    for n_words in (1, 2, 3, 4, 4, 4):
        scores = random_scores(rng, n_words)
        trees, table = kind(scores, root=root), EnumeratedTrees(scores, kind.trees, root)
        loss = rng.normal(size=(n_words + 1,) * 3)
        risks = slow_risks(table.heads, table, loss)
        best = trees.mbr(loss)
        assert risk_of(best, table.heads, risks) == pytest.approx(risks.min(), abs=1e-12)
        words = np.arange(1, n_words + 1)
        assert best.score == pytest.approx(scores[best.heads, words].sum(), abs=1e-12)
        usual = slow_risks(table.heads, table, wrong_heads(n_words))
        for tree in (trees.mbr(), trees.mbr(wrong_heads(n_words)), trees.mbr(head_errors())):
            assert risk_of(tree, table.heads, usual) == pytest.approx(usual.min(), abs=1e-12)


def test_any_sum_over_labelled_words_by_enumeration(kind, root, rng):
    for n_words in (1, 2, 3, 3):
        scores = random_scores(rng, n_words, n_labels=2)
        trees, table = kind(scores, root=root), EnumeratedTrees(scores, kind.trees, root)
        side, words = n_words + 1, np.arange(1, n_words + 1)
        loss = rng.normal(size=(side, side, 2, side, 2))
        risks = np.array([
            table.probabilities @ loss[h, words, k, table.heads, table.labels].sum(axis=1)
            for h, k in zip(table.heads, table.labels, strict=True)
        ])  # fmt: skip
        best = trees.mbr(loss)
        same = (table.heads == best.heads).all(axis=1) & (table.labels == best.labels).all(axis=1)
        assert risks[same] == pytest.approx(risks.min(), abs=1e-12)
        # A loss of heads alone: labels are summed out, and each arc has its likeliest label.
        loss = rng.normal(size=(side,) * 3)
        best, risks = trees.mbr(loss), slow_risks(table.heads, table, loss)
        assert risk_of(best, table.heads, risks) == pytest.approx(risks.min(), abs=1e-12)
        chosen = trees.marginals[best.heads, words]
        assert (chosen.max(axis=1) == chosen[np.arange(n_words), best.labels]).all()


def test_undirected_and_weighted_errors(kind, root, rng):
    for n_words in (2, 3, 4, 4):
        scores, weights = random_scores(rng, n_words, forbidden=0.0), rng.random(n_words)
        trees, table = kind(scores, root=root), EnumeratedTrees(scores, kind.trees, root)
        risks = np.array(
            [
                table.probabilities @ [undirected(h, t, weights) for t in table.heads]
                for h in table.heads
            ]
        )
        best = trees.mbr(undirected_errors(weights))
        assert risk_of(best, table.heads, risks) == pytest.approx(risks.min(), abs=1e-12)
        weights = np.where(rng.random(n_words) < 0.5, 0.0, 1.0)  # some are punctuation
        loss = wrong_heads(n_words) * np.concatenate([[0.0], weights])[None, :, None]
        risks = slow_risks(table.heads, table, loss)
        best = trees.mbr(head_errors(weights))
        assert risk_of(best, table.heads, risks) == pytest.approx(risks.min(), abs=1e-12)
        labelled = kind(np.stack([scores, scores + 1.0], axis=2), root=root)
        assert labelled.mbr(head_errors(weights)).heads.tolist() == best.heads.tolist()


def test_second_order_beliefs_and_mixtures(root, rng):
    loss = rng.normal(size=(5, 5, 5))
    kinds = ("consecutive_siblings", "grandparents")
    parts = random_parts(rng, 4, kinds)
    table = EnumeratedParts(parts, "projective", root)
    best, risks = SecondOrderTrees(parts, root=root).mbr(loss), slow_risks(table.heads, table, loss)
    assert risk_of(best, table.heads, risks) == pytest.approx(risks.min(), abs=1e-12)
    assert best.score == pytest.approx(parts.score(best.heads))

    beliefs, every = LoopyTrees(parts, root=root), enumerate_trees(4, "nonprojective", root)
    costs = np.einsum("gm,hmg->hm", beliefs.marginals, loss)
    risks = costs[every, np.arange(1, 5)].sum(axis=1)
    best = beliefs.mbr(loss)
    assert risk_of(best, every, risks) == pytest.approx(risks.min(), abs=1e-12)
    assert best.score == pytest.approx(parts.score(best.heads))

    both = [SpanningTrees(rng.normal(size=(5, 5)), root=root) for _ in range(2)]
    mixture, tables = (
        Mixture(both, [1, 3]),
        [EnumeratedTrees(one.scores, root=root) for one in both],
    )
    risks = sum(
        w * slow_risks(every, one, loss) for w, one in zip((0.25, 0.75), tables, strict=True)
    )
    assert risk_of(mixture.mbr(loss), every, risks) == pytest.approx(risks.min(), abs=1e-12)


def test_batches(rng):
    sizes = (2, 4, 3)
    scores = [rng.normal(size=(n + 1, n + 1)) for n in sizes]
    losses = [rng.normal(size=(n + 1,) * 3) for n in sizes]
    alone = [ProjectiveTrees(one) for one in scores]
    batch = ProjectiveTrees.batch(scores)
    assert batch.mbr(losses) == [one.mbr(loss) for one, loss in zip(alone, losses, strict=True)]
    assert batch.mbr(undirected_errors()) == [one.mbr(undirected_errors()) for one in alone]
    parts = [random_parts(rng, n, ("grandparents",)) for n in sizes]
    second, alone = SecondOrderTrees.batch(parts), [SecondOrderTrees(one) for one in parts]
    assert second.mbr(losses) == [one.mbr(loss) for one, loss in zip(alone, losses, strict=True)]
    assert second.mbr() == [one.mbr() for one in alone]


class TestLists:
    def test_all_trees_with_any_loss(self, kind, root, rng):
        """With all trees as candidates and evidence, the answer is exact for any function."""
        for n_words in (1, 2, 3, 4):
            scores = random_scores(rng, n_words)
            trees, table = kind(scores, root=root), EnumeratedTrees(scores, kind.trees, root)
            losses = rng.normal(size=(len(table), len(table)))
            risks = losses @ table.probabilities
            found = minimum_risk(trees, looked_up(losses, table.heads), candidates=10_000)
            assert found.risk == pytest.approx(risks.min(), abs=1e-9)
            assert risk_of(found.tree, table.heads, risks) == pytest.approx(risks.min(), abs=1e-9)
            expected = [risk_of(tree, table.heads, risks) for tree in found.candidates]
            np.testing.assert_allclose(found.risks, expected, atol=1e-9)

    def test_whole_trees_give_the_best_tree_and_heads_the_usual_one(self, kind, root, rng):
        """0-1 loss is MAP (Gormley et al. 2015, footnote 2), the number of wrong heads is MBR."""
        for n_words in (2, 3, 4):
            trees = kind(rng.normal(size=(n_words + 1,) * 2), root=root)
            found = minimum_risk(trees, lambda a, b: a != b, candidates=10_000)
            assert found.tree == trees.argmax()
            assert found.risk == pytest.approx(1.0 - np.exp(trees.log_prob(found.tree)))
            found = minimum_risk(trees, lambda a, b: (a.heads != b.heads).sum(), candidates=10_000)
            assert found.tree == trees.mbr()
            words = np.arange(1, n_words + 1)
            kept = trees.marginals[found.tree.heads, words].sum()
            assert found.risk == pytest.approx(n_words - kept)

    def test_weights(self, rng):
        trees = SpanningTrees(rng.normal(size=(4, 4)))
        best = trees.kbest(3)

        def loss(candidate, truth):
            return candidate.heads @ [1, 10, 100] + truth.heads @ [0.1, 0.01, 0.001]

        def mean(rows, weights):
            truths = np.array([row.heads if isinstance(row, Tree) else row for row in rows])
            return np.average(truths @ [0.1, 0.01, 0.001], weights=weights)

        by_probability = np.exp([trees.log_prob(tree) for tree in best])
        drawn = trees.sample(40, seed=5)
        for evidence, weights, given in (
            (best, by_probability, None), ([*best, best[0]], by_probability, None),
            (best, [1, 5, 2], [1, 5, 2]), (drawn, np.ones(40), None),
            (drawn.tolist(), np.ones(40), None), (drawn, np.arange(40), np.arange(40)),
        ):  # fmt: skip
            found = minimum_risk(trees, loss, candidates=best, evidence=evidence, weights=given)
            rows = evidence[: len(weights)]
            own = [tree.heads @ [1, 10, 100] for tree in best]
            np.testing.assert_allclose(found.risks, own + mean(rows, weights))
            assert found.tree is best[int(np.argmin(own))]
        found = minimum_risk(trees, loss, candidates=drawn, evidence=40, seed=5)
        again = minimum_risk(trees, loss, candidates=drawn, evidence=drawn)
        assert found.risks.tolist() == again.risks.tolist()
        assert len(found.candidates) == len(np.unique(drawn, axis=0))
        for tree in found.candidates:
            assert tree.score == pytest.approx(trees.scores[tree.heads, np.arange(1, 4)].sum())

    def test_draws_approach_the_expectation(self, rng):
        trees = ProjectiveTrees(rng.normal(size=(5, 5)))

        def loss(candidate, truth):
            return abs(candidate.heads.max() - truth.heads.max())

        exact = minimum_risk(trees, loss, candidates=10_000)
        near = minimum_risk(trees, loss, candidates=10_000, evidence=4000, seed=1)
        np.testing.assert_allclose(near.risks, exact.risks, atol=0.05)

    def test_labels(self, rng):
        trees = SpanningTrees(rng.normal(size=(3, 3, 2)))

        def loss(candidate, truth):
            wrong = (candidate.heads != truth.heads) | (candidate.labels != truth.labels)
            return wrong.sum()

        assert minimum_risk(trees, loss, candidates=1000).tree == trees.mbr()
        drawn = trees.sample(50, seed=2)
        assert isinstance(drawn, Samples)
        found = minimum_risk(trees, loss, candidates=drawn, evidence=50, seed=2)
        rows = np.hstack(drawn)
        assert len(found.candidates) == len(np.unique(rows, axis=0))
        by_hand = [np.mean([loss(one, Tree(*row, 0.0)) for row in zip(*drawn, strict=True)])
                   for one in found.candidates]  # fmt: skip
        np.testing.assert_allclose(found.risks, by_hand)

    def test_every_distribution(self, root, rng):
        def loss(candidate, truth):
            return (candidate.heads != truth.heads).sum()

        parts = random_parts(rng, 3, ("grandparents",))
        exact = SecondOrderTrees(parts, root=root)
        assert minimum_risk(exact, loss, candidates=1000).tree == exact.mbr()
        # Beliefs have no list of trees; the scores of a given list are enough for its weights.
        beliefs = LoopyTrees(parts, "projective", root=root)
        found, same = (
            minimum_risk(one, loss, candidates=exact.kbest(1000)) for one in (beliefs, exact)
        )
        np.testing.assert_allclose(found.risks, same.risks)
        drawn = exact.sample(30, seed=0)
        found, same = (minimum_risk(one, loss, candidates=drawn) for one in (beliefs, exact))
        assert found.tree == same.tree
        assert found.tree.score == pytest.approx(same.tree.score)
        mixture = Mixture([SpanningTrees(parts.arcs, root=root)])
        found = minimum_risk(mixture, loss, candidates=mixture.components[0].kbest(1000))
        assert found.tree == mixture.mbr()
        assert minimum_risk(mixture, loss, candidates=drawn, evidence=9, seed=1).risk >= 0.0


def test_what_is_refused(rng):
    trees = SpanningTrees(rng.normal(size=(4, 4)))
    labelled = SpanningTrees(rng.normal(size=(4, 4, 2)))
    for one, loss, reason in (
        (trees, np.zeros((4, 4)), r"shape \(4, 4, 4\), not \(4, 4\)"),
        (labelled, np.zeros(3), r"shape \(4, 4, 4\), or \(4, 4, 2, 4, 2\), not"),
        (trees, np.full((4, 4, 4), np.nan), "must be a finite number"),
        (trees, lambda p: p * 1e20, "at most 1e"),
        (trees, lambda _: np.zeros(4), r"shape of the scores, \(4, 4\)"),
        (trees, lambda _: "no", "must be real numbers"),
        (trees, head_errors([1.0]), "one number for each of 3 words"),
    ):
        with pytest.raises(ShapeError, match=rf"{reason}.*\.$"):
            one.mbr(loss)
    with pytest.raises(ArgumentError, match=r"^loss failed: .*\.$"):
        trees.mbr(lambda _: {}["no"])
    unread = np.full((4, 4, 4), np.nan)  # column 0 and the diagonal are never read
    for h, m, g in np.ndindex(4, 4, 4):
        if m not in (0, h, g):
            unread[h, m, g] = h != g
    assert trees.mbr(unread) == trees.mbr()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"loss": np.zeros((4, 4, 4))}, "loss must be a function of two trees"),
        ({"loss": lambda *_: None}, "loss must return a finite number, not None"),
        ({"loss": lambda *_: 1 // 0}, "loss failed: "),
        ({"loss": lambda *_: np.inf}, "loss must return a finite number"),
        ({"candidates": []}, "candidates must be integers"),
        ({"candidates": 0}, "candidates must be a whole number"),
        ({"candidates": 2.5}, "candidates must be a whole number"),
        ({"evidence": -1}, "evidence must be a whole number"),
        ({"evidence": "all"}, "evidence must be a list of trees, or draws"),
        ({"evidence": [[1, 2]]}, "evidence must have one number per word"),
        ({"evidence": np.zeros((0, 3), int)}, "evidence must contain at least one tree"),
        ({"weights": [1.0]}, "one number for each of the 2 trees"),
        ({"weights": [-1.0, 1.0]}, "non-negative finite numbers"),
        ({"trees": 3}, "trees must be a distribution over trees"),
    ],
    ids=range(14),
)
def test_what_lists_refuse(given, reason):
    trees = SpanningTrees(np.zeros((4, 4)))
    good = {"trees": trees, "loss": lambda *_: 0.0, "candidates": trees.kbest(2)}
    with pytest.raises((ArgumentError, ShapeError), match=rf"{reason}.*\.$"):
        minimum_risk(**(good | given))


def test_impossible_lists():
    trees = SpanningTrees(np.zeros((3, 3)))
    loops = [Tree(np.array([2, 1], np.int32), None, 0.0)]
    with pytest.raises(ArgumentError, match="no tree of candidates is possible"):
        minimum_risk(trees, lambda *_: 0.0, candidates=loops)
    with pytest.raises(ArgumentError, match="LoopyTrees has no kbest: give candidates as"):
        minimum_risk(LoopyTrees(random_parts(np.random.default_rng(0), 2, ())), lambda *_: 0.0)
