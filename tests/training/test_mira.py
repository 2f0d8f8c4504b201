"""MIRA's steps against quadratic programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from arbora.inference.packed import Packed
from arbora.testing import EnumeratedTrees
from arbora.training.mira import Mira, hildreth
from tests.toys import dense_gradient, toy_problem, toy_sentences

LARGE = 1e6
VARIANTS = ["1-best", "k-best", "factored", "mbr"]


def dual(a, products, violations):
    return float(violations @ a - 0.5 * a @ products @ a)


@pytest.mark.parametrize("largest", [0.05, 1.0, LARGE])
def test_hildreth_against_scipy(rng, largest):
    for _ in range(20):
        k = int(rng.integers(1, 6))
        vectors = rng.normal(size=(k, 8))
        products, violations = vectors @ vectors.T, rng.normal(size=k) + 0.5
        found = hildreth(products, violations, largest)
        assert (found >= 0.0).all()
        assert (found <= largest).all()
        slow = minimize(
            lambda a: -dual(a, products, violations), np.zeros(k),
            jac=lambda a: products @ a - violations, bounds=[(0.0, largest)] * k,
            method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10},
        )  # fmt: skip
        assert dual(found, products, violations) == pytest.approx(-slow.fun, rel=1e-6, abs=1e-9)


def test_hildreth_without_features():
    """A rival that cannot be told from the right tree is left alone."""
    products = np.array([[0.0, 0.0], [0.0, 2.0]])
    assert hildreth(products, np.array([1.0, 1.0]), 10.0).tolist() == [0.0, 0.5]


class Case:
    """A batch, its scores under random weights, and one step of MIRA."""

    def __init__(self, rng, variant, kind, root, *, largest=LARGE, outcomes=None, k=4):
        sentences = toy_sentences(rng, [3, 4, 2], kind.trees, root)
        self.problem = toy_problem(
            sentences, trees=kind.trees, root=root, bits=12, outcomes=outcomes
        )
        self.batch = self.problem.treebank.batch(np.arange(3))
        self.gold = self.problem.gold(self.batch)
        self.weights = rng.normal(size=self.problem.scorer.size) * 0.2
        self.scores = self.problem.scores(self.weights, self.batch)
        self.mira = Mira(self.problem.scorer, variant, largest, k)
        self.loss = self.mira(self.batch, self.trees(self.scores), self.gold)
        step = dense_gradient(
            self.problem.scorer, self.batch.encoded, self.loss.d_scores, self.batch.sentences
        )
        self.after = self.problem.scores(self.weights - step, self.batch)
        self.step = step

    def trees(self, scores):
        return self.problem.distribution(scores, self.batch)

    def tables(self, scores):
        return [np.array(self.trees(scores).scores(i)) for i in range(len(self.batch))]

    def gold_of(self, i):
        first = self.problem.treebank.first_word
        words = slice(first[i], first[i + 1])
        labels = None if self.gold.labels is None else self.gold.labels[words]
        return self.gold.heads[words], labels

    def margins(self, i, heads, labels, scores):
        """Gold score minus a tree's score, and how many of its arcs are wrong."""
        table = self.tables(scores)[i]
        right, right_labels = self.gold_of(i)
        words = np.arange(1, len(right) + 1)
        wrong = heads != right
        if labels is None:
            return (table[right, words] - table[heads, words]).sum(), wrong.sum()
        wrong = wrong | (labels != right_labels)
        difference = table[right, words, right_labels] - table[heads, words, labels]
        return difference.sum(), wrong.sum()


@pytest.mark.parametrize("outcomes", [None, "label"])
def test_the_margin_holds_after_a_large_step(rng, kind, root, outcomes):
    """One sentence at a time, since sentences of a batch share weights."""
    for variant in VARIANTS:
        case = Case(rng, variant, kind, root, outcomes=outcomes)
        for i in range(3):
            one = case.problem.treebank.batch(np.array([i]))
            gold = case.problem.gold(one)
            scores = case.problem.scores(case.weights, one)
            trees = case.problem.distribution(scores, one)
            loss = case.mira(one, trees, gold)
            step = dense_gradient(case.problem.scorer, one.encoded, loss.d_scores, one.sentences)
            after = case.problem.scores(case.weights - step, one)
            for heads, labels in rivals_of(variant, trees, scores, gold):
                cells, right = gold.labelled(heads, labels), gold.cells()
                margin = (after[right] - after[cells])[cells != right].sum()
                assert margin >= (cells != right).sum() - 1e-5, variant


def rivals_of(variant, trees, scores, gold):
    """The trees that the variant has to win against, found slowly."""
    if variant == "factored":
        for word in range(len(gold.heads)):
            for head in range(len(gold.heads) + 1):
                if head != word + 1:
                    heads = gold.heads.copy()
                    heads[word] = head
                    labels = None if gold.labels is None else gold.labels.copy()
                    if strongest(scores, gold, heads, labels, word):
                        yield heads, labels
        return
    every = EnumeratedTrees(trees.scores(0), trees.trees, trees.root)
    labelled = gold.labels is not None
    order = np.argsort(-every.tree_scores, kind="stable")
    if variant == "1-best":
        wrong = every.heads != gold.heads
        if labelled:
            wrong |= every.labels != gold.labels
        order = np.argsort(-(every.tree_scores + wrong.sum(axis=1)), kind="stable")[:1]
    elif variant == "k-best":
        order = order[:4]
    else:
        gains = every.values_of(every.marginals)
        order = np.argsort(-gains, kind="stable")[:1]
    for i in order:
        heads = every.heads[i].astype(np.int32)
        yield heads, every.labels[i].astype(np.int32) if labelled else None


def strongest(scores, gold, heads, labels, word):
    """Whether this head (with the gold label) is the word's best wrong one."""
    side = len(gold.heads) + 1
    table = scores.reshape(side, side, -1)[:, word + 1].copy()
    mine = table[heads[word], 0 if labels is None else labels[word]]
    table[gold.heads[word], 0 if labels is None else gold.labels[word]] = -np.inf
    return heads[word] != gold.heads[word] and mine == table.max()


def test_one_best_is_the_smallest_step(rng, kind, root):
    case = Case(rng, "1-best", kind, root)
    for i in range(3):
        one = case.problem.treebank.batch(np.array([i]))
        gold, scores = case.problem.gold(one), case.problem.scores(case.weights, one)
        trees = Packed(scores, one.n_words, None, kind.trees, root)
        loss = case.mira(one, trees, gold)
        (heads, _), = rivals_of("1-best", trees, scores, gold)
        difference = np.zeros(len(scores))
        difference[gold.labelled(heads, None)] += 1.0
        difference[gold.cells()] -= 1.0
        vector = dense_gradient(case.problem.scorer, one.encoded, difference, one.sentences)
        wrong = (heads != gold.heads).sum()
        violation = wrong + vector @ case.weights
        assert loss.values[0] == pytest.approx(max(violation, 0.0), abs=1e-9)
        tau = max(0.0, violation) / max(vector @ vector, 1e-12)
        np.testing.assert_allclose(loss.d_scores, tau * difference, atol=1e-9)


@pytest.mark.parametrize("variant", ["k-best", "factored"])
def test_many_constraints_against_scipy(rng, kind, root, variant):
    """The smallest change of the weights under all constraints at once."""
    case = Case(rng, variant, kind, root)
    for i in range(3):
        one = case.problem.treebank.batch(np.array([i]))
        gold, scores = case.problem.gold(one), case.problem.scores(case.weights, one)
        trees = Packed(scores, one.n_words, None, kind.trees, root)
        loss = case.mira(one, trees, gold)
        step = dense_gradient(case.problem.scorer, one.encoded, loss.d_scores, one.sentences)
        rows, needs = [], []
        for heads, _ in rivals_of(variant, trees, scores, gold):
            difference = np.zeros(len(scores))
            difference[gold.labelled(heads, None)] += 1.0
            difference[gold.cells()] -= 1.0
            rows.append(
                dense_gradient(case.problem.scorer, one.encoded, difference, one.sentences)
            )
            needs.append((heads != gold.heads).sum() + rows[-1] @ case.weights)
        products, needs = np.inner(rows, rows), np.array(needs, dtype=float)
        slow = minimize(
            lambda a, p=products, v=needs: -dual(a, p, v), np.zeros(len(needs)),
            jac=lambda a, p=products, v=needs: p @ a - v, bounds=[(0.0, None)] * len(needs),
            method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-11, "maxiter": 10_000},
        )  # fmt: skip
        np.testing.assert_allclose(step, slow.x @ rows, atol=1e-4)


def test_the_bound_bounds_the_step(rng, kind, root):
    for variant in VARIANTS:
        case = Case(rng, variant, kind, root, largest=1e-3)
        assert np.abs(case.loss.d_scores).max() <= 4e-3 + 1e-12  # k-best adds up to four rivals
        assert np.isfinite(case.loss.values).all()
