"""Learning problems over enumerated trees: the slow twins of exponentiated gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arbora.testing import EnumeratedParts
from tests.toys import dense_gradient


@dataclass
class Example:
    """A sentence by its cells, which are the kept arcs and then the parts of every kind."""

    features: np.ndarray  # (cells, weights)
    has: np.ndarray  # (trees, cells): 1 if the tree has the arc or part
    gold: int  # which tree
    right: np.ndarray  # (cells,): 1 for gold arcs, 0 for all parts
    wrong: np.ndarray  # (cells,): 1 for arcs that are not gold; parts cost nothing

    @property
    def differences(self):
        """Gold minus every tree in feature space."""
        return (self.has[self.gold] - self.has) @ self.features

    @property
    def costs(self):
        """The number of wrong arcs of every tree."""
        return self.has @ self.wrong

    def distribution(self, theta):
        """P of every tree under dual variables of the cells."""
        scores = self.has @ theta
        weights = np.exp(scores - scores.max())
        return weights / weights.sum()


def enumerated(problem, trees="projective"):
    """The sentences of a problem, without labels, by enumeration."""
    return [_example(problem, i, trees) for i in range(len(problem.treebank))]


def _example(problem, i, trees):
    batch = problem.treebank.batch(np.array([i]))
    scorer = problem.scorer.with_parameters({"weights": np.zeros(problem.scorer.size)})
    scores, _ = scorer.scores(batch)
    table = EnumeratedParts(scores.sentence(0), trees, problem.engine.root)
    arcs = np.flatnonzero(np.isfinite(scores.arcs))
    has_arcs = table.has_arcs().reshape(len(table.heads), -1)[:, arcs]
    has = np.hstack([has_arcs, *(table.has_parts(kind) for kind in scores.kinds)])
    rows = []
    for values, cells in [(lambda s: s.arcs, arcs)] + [
        (lambda s, kind=kind: s.tables[kind], range(len(scores.tables[kind])))
        for kind in scores.kinds
    ]:
        for cell in cells:
            unit = scores.zeros()
            values(unit)[cell] = 1.0
            rows.append(dense_gradient(scorer, batch, unit))
    gold = int(np.flatnonzero((table.heads == batch.heads).all(axis=1))[0])
    right, wrong = np.zeros((2, len(rows)))
    right[: len(arcs)], wrong[: len(arcs)] = has_arcs[gold], 1.0 - has_arcs[gold]
    return Example(np.array(rows), has, gold, right, wrong)


def figure_2(examples, c, orders, *, beta, kind="maxmargin"):
    """Koo et al. (2007), figure 2, word for word; yields weights, dual, rate after every pass.

    The first is before any pass. For `loglinear` the update is that of Globerson et al. (2007).
    """
    eta, last = 1.0 / c, -np.inf
    theta = [beta * e.right for e in examples]
    w = sum(
        c * (e.has[e.gold] - e.distribution(t) @ e.has) @ e.features
        for e, t in zip(examples, theta, strict=True)
    )
    yield w, None, eta
    for order in orders:
        objective = 0.0
        for i in order:
            e = examples[i]
            if kind == "maxmargin":
                new = theta[i] + eta * c * (e.wrong + e.features @ w)
            else:
                new = (1.0 - min(1.0, eta * c)) * theta[i] + min(1.0, eta * c) * (e.features @ w)
            before, after = e.distribution(theta[i]), e.distribution(new)
            w = w + c * (before - after) @ e.has @ e.features
            theta[i] = new
            gain = after @ e.costs if kind == "maxmargin" else _entropy(after)
            objective += c * gain
        objective -= 0.5 * w @ w
        if objective < last:
            eta /= 2.0
        last = objective
        yield w, objective, eta


def _entropy(probabilities):
    used = probabilities[probabilities > 0]
    return -used @ np.log(used)


def max_margin_slowly(examples, c, sweeps=20_000):
    """Dual coordinate ascent over all trees, with exact steps to the most violating tree.

    `examples` are pairs of differences in feature space and costs. Returns the weights, the primal
    and the dual objective.
    """
    alphas = [np.where(costs == 0, 1.0, 0.0) for _, costs in examples]
    alphas = [a / a.sum() for a in alphas]
    w = sum(c * a @ d for a, (d, _) in zip(alphas, examples, strict=True))
    for _ in range(sweeps):
        moved = 0.0
        for alpha, (differences, costs) in zip(alphas, examples, strict=True):
            gains = costs - differences @ w
            best = gains.argmax()
            used = np.flatnonzero(alpha > 0)
            worst = used[gains[used].argmin()]
            direction = differences[best] - differences[worst]
            norm = c * direction @ direction
            if best == worst or norm == 0.0:
                continue
            step = min(alpha[worst], (gains[best] - gains[worst]) / norm)
            alpha[best] += step
            alpha[worst] -= step
            w = w + c * step * direction
            moved = max(moved, step * np.sqrt(norm))
        if moved < 1e-9:
            break
    gains = [costs - differences @ w for differences, costs in examples]
    weighted = [a @ costs for a, (_, costs) in zip(alphas, examples, strict=True)]
    primal = c * sum(each.max() for each in gains) + 0.5 * w @ w
    return w, primal, c * sum(weighted) - 0.5 * w @ w


def likelihood_slowly(examples, l2):
    """The regularised likelihood over all trees as a function of the weights, with its gradient."""

    def objective(w):
        value, gradient = 0.5 * l2 * w @ w, l2 * w
        for differences, _ in examples:
            scores = -differences @ w
            top = scores.max()
            weights = np.exp(scores - top)
            value += top + np.log(weights.sum())
            gradient = gradient - weights @ differences / weights.sum()
        return value, gradient

    return objective
