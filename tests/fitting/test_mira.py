"""MIRA's steps against quadratic programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from arbora.fitting.mira import Mira, hildreth
from arbora.options import MiraOptions
from arbora.testing import EnumeratedTrees
from tests.toys import dense_gradient, random_weights, scored, toy_problem, toy_sentences

LARGE = 1e6
RIVALS = 4
VARIANTS = ["1-best", "k-best", "factored", "mbr"]


def dual(a, products, violations):
    return float(violations @ a - 0.5 * a @ products @ a)


def maximised(products, violations, largest=None):
    """The best dual variables by SciPy."""
    found = minimize(
        lambda a: -dual(a, products, violations), np.zeros(len(violations)),
        jac=lambda a: products @ a - violations, bounds=[(0.0, largest)] * len(violations),
        method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-11, "maxiter": 10_000},
    )  # fmt: skip
    return found.x


@pytest.mark.parametrize("largest", [0.05, 1.0, LARGE])
def test_hildreth_against_scipy(rng, largest):
    for _ in range(20):
        k = int(rng.integers(1, 6))
        vectors = rng.normal(size=(k, 8))
        products, violations = vectors @ vectors.T, rng.normal(size=k) + 0.5
        found = hildreth(products, violations, largest)
        assert (found >= 0.0).all()
        assert (found <= largest).all()
        best = dual(maximised(products, violations, largest), products, violations)
        assert dual(found, products, violations) == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_hildreth_without_features():
    """A rival with the same features as the gold tree is ignored."""
    products = np.array([[0.0, 0.0], [0.0, 2.0]])
    assert hildreth(products, np.array([1.0, 1.0]), 10.0).tolist() == [0.0, 0.5]


class Case:
    """One sentence, its scores under random weights, and a step of MIRA."""

    def __init__(self, rng, variant, kind, root, n_words, *, largest=LARGE, outcomes=None):
        sentences = toy_sentences(rng, [n_words], kind.trees, root)
        problem = toy_problem(sentences, trees=kind.trees, root=root, bits=12, outcomes=outcomes)
        self.problem, self.batch = problem, problem.treebank.batch(np.array([0]))
        self.gold = problem.gold(self.batch)
        self.weights = random_weights(rng, problem.scorer) * 0.2
        self.scores = scored(problem.scorer, self.weights, self.batch)
        options = MiraOptions(variant=variant, k=RIVALS, largest_step=largest)
        mira = Mira(options, problem.scorer, problem.engine)
        self.loss = mira(self.batch, self.scores, self.gold)
        self.step = self.vector(self.loss.d_scores)

    def vector(self, d_scores):
        """A combination of arcs in feature space."""
        return dense_gradient(self.problem.scorer, self.batch, d_scores)

    def difference(self, heads, labels):
        """Arcs of a rival minus those of the gold tree, and how many are wrong."""
        cells, right = self.gold.labelled(heads, labels), self.gold.cells()
        d_scores = np.zeros(len(self.scores.arcs))
        d_scores[cells] += 1.0
        d_scores[right] -= 1.0
        return d_scores, int((cells != right).sum())

    def constraints(self, variant):
        """Feature vectors of the rivals, and by how much each margin is missed."""
        vectors, missed = [], []
        for heads, labels in rivals_of(variant, self):
            d_scores, wrong = self.difference(heads, labels)
            vectors.append(self.vector(d_scores))
            missed.append(wrong + vectors[-1] @ self.weights)
        return np.array(vectors), np.array(missed, dtype=float)


@pytest.fixture(params=[2, 3, 4])
def n_words(request):
    return request.param


@pytest.mark.parametrize("outcomes", [None, "label"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_margin_holds_after_a_large_step(rng, kind, root, n_words, outcomes, variant):
    case = Case(rng, variant, kind, root, n_words, outcomes=outcomes)
    vectors, missed = case.constraints(variant)
    # Rivals that are nearly alike make the last digits slow to come.
    assert (missed - vectors @ case.step <= 1e-4).all()


def rivals_of(variant, case):
    """The rivals of a variant, by enumeration."""
    scores, gold, engine = case.scores.arcs_of(0), case.gold, case.problem.engine
    if variant == "factored":
        for word in range(1, len(gold.heads) + 1):
            yield strongest_rival(scores, gold, word)
        return
    every = EnumeratedTrees(scores, engine.trees, engine.root)
    labelled = gold.labels is not None
    order = np.argsort(-every.tree_scores, kind="stable")
    if variant == "1-best":
        wrong = every.heads != gold.heads
        if labelled:
            wrong |= every.labels != gold.labels
        order = np.argsort(-(every.tree_scores + wrong.sum(axis=1)), kind="stable")[:1]
    elif variant == "k-best":
        order = order[:RIVALS]
    else:
        gains = every.values_of(every.marginals)
        order = np.argsort(-gains, kind="stable")[:1]
    for i in order:
        heads = every.heads[i].astype(np.int32)
        yield heads, every.labels[i].astype(np.int32) if labelled else None


def strongest_rival(scores, gold, word):
    """The gold tree with the best other head (and label) of one word; perhaps not a tree."""
    table = scores.reshape(*scores.shape[:2], -1)
    heads = gold.heads.copy()
    labels = None if gold.labels is None else gold.labels.copy()
    own = (heads[word - 1], 0 if labels is None else labels[word - 1])
    others = {
        (head, label): table[head, word, label]
        for head in range(table.shape[0])
        for label in range(table.shape[2])
        if (head, label) != own
    }
    best = max(others, key=others.get)
    heads[word - 1] = best[0]
    if labels is not None:
        labels[word - 1] = best[1]
    return heads, labels


def test_one_best_is_the_smallest_step(rng, kind, root, n_words):
    case = Case(rng, "1-best", kind, root, n_words)
    ((heads, labels),) = rivals_of("1-best", case)
    (vector,), (missed,) = case.constraints("1-best")
    assert case.loss.values[0] == pytest.approx(max(missed, 0.0), abs=1e-9)
    tau = max(0.0, missed) / max(vector @ vector, 1e-12)
    d_scores, _ = case.difference(heads, labels)
    np.testing.assert_allclose(case.loss.d_scores.arcs, tau * d_scores, atol=1e-9)


@pytest.mark.parametrize("variant", ["k-best", "factored"])
@pytest.mark.parametrize("largest", [0.01, LARGE])
def test_many_constraints_against_scipy(rng, kind, root, n_words, variant, largest):
    """The smallest change of the weights under all constraints at once."""
    case = Case(rng, variant, kind, root, n_words, largest=largest)
    vectors, missed = case.constraints(variant)
    slow = maximised(vectors @ vectors.T, missed, largest) @ vectors
    np.testing.assert_allclose(case.step, slow, atol=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_bound_bounds_the_step(rng, kind, root, n_words, variant):
    case = Case(rng, variant, kind, root, n_words, largest=1e-3)
    assert np.abs(case.loss.d_scores.arcs).max() <= RIVALS * 1e-3 + 1e-12
    assert np.isfinite(case.loss.values).all()
