"""Head selection and the hinge: against their definitions, and against differences."""

from __future__ import annotations

import numpy as np
import pytest

from arbora.inference.engines import first_order_engine
from arbora.losses import decoded_rival, head_selection, hinge_loss
from arbora.testing import EnumeratedTrees, finite_difference
from tests.losses.test_losses import LENGTHS, Case


def slow_head_selection(case):
    """-log P of each annotated word's choice, one word at a time."""
    values, word = [], 0
    for table, n in zip(case.tables, LENGTHS, strict=True):
        total = 0.0
        for m in range(1, n + 1):
            head = case.gold.heads[word]
            column = np.delete(table[:, m], m, axis=0)
            right = None
            if head >= 0:
                right = table[head, m]
                if case.depth is not None and case.gold.labels[word] >= 0:
                    right = right[case.gold.labels[word]]
            if right is not None:
                total += np.log(np.exp(column).sum()) - np.log(np.exp(right).sum())
            word += 1
        values.append(total)
    return np.array(values)


@pytest.mark.parametrize("depth", [None, 3])
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_head_selection(rng, depth, missing):
    case = Case(rng, "nonprojective", "single", depth=depth, missing=missing, labels=missing)
    found = head_selection(case.scores(), case.gold)
    np.testing.assert_allclose(found.values, slow_head_selection(case), rtol=1e-12)
    slow = finite_difference(
        lambda flat: float(head_selection(case.scores(flat), case.gold).values.sum()), case.flat
    )
    np.testing.assert_allclose(found.d_scores.arcs, slow, atol=1e-8)


@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_the_hinge_is_the_worst_violation(rng, trees, root):
    case = Case(rng, trees, root)
    engine = first_order_engine(trees, root)
    found = hinge_loss(case.scores(), case.gold, decoded_rival(engine))
    word = 0
    for i, (table, n) in enumerate(zip(case.tables, LENGTHS, strict=True)):
        gold = case.gold.heads[word : word + n]
        every = EnumeratedTrees(table, trees, root)
        words = np.arange(1, n + 1)
        scores = table[every.heads, words].sum(axis=1)
        costs = (every.heads != gold).sum(axis=1)
        own = sum(table[h, m] for m, h in enumerate(gold.tolist(), start=1))
        assert found.values[i] == pytest.approx((scores + costs).max() - own)
        assert found.values[i] >= -1e-9
        word += n
    slow = finite_difference(
        lambda flat: float(
            hinge_loss(case.scores(flat), case.gold, decoded_rival(engine)).values.sum()
        ),
        case.flat,
    )
    np.testing.assert_allclose(found.d_scores.arcs, slow, atol=1e-8)
