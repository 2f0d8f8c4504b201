"""The laws of a distribution over trees, on whatever hypothesis comes up with."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora import ProjectiveTrees, SpanningTrees
from arbora.testing import EnumeratedTrees, check_distribution
from arbora.testing.strategies import arc_scores

KINDS = st.sampled_from([SpanningTrees, ProjectiveTrees])
ROOTS = st.sampled_from(["single", "multi"])


@given(arc_scores(max_words=12), KINDS, ROOTS)
def test_laws(scores, kind, root):
    check_distribution(kind(scores, root))


@given(arc_scores(max_words=6, labels=True), KINDS, ROOTS)
def test_laws_with_labels(scores, kind, root):
    check_distribution(kind(scores, root))


@given(arc_scores(max_words=4), KINDS, ROOTS)
def test_sums_equal_enumeration(scores, kind, root):
    trees, table = kind(scores, root), EnumeratedTrees(scores, kind.trees, root)
    # The table's own tree scores are sums of rounded numbers.
    finite = np.abs(scores[np.isfinite(scores)]).max()
    assert trees.log_partition == pytest.approx(table.log_partition, rel=1e-12, abs=1e-12)
    assert np.abs(trees.marginals - table.marginals).max() < 1e-12 + 1e-15 * finite
    best = table.sorted_scores()
    assert trees.argmax().score == pytest.approx(best[0], rel=1e-12, abs=1e-12)
    listed = [tree.score for tree in trees.kbest(7)]
    assert np.allclose(listed, best[:7], rtol=1e-12, atol=1e-12)


@given(arc_scores(min_words=2, max_words=8), KINDS, ROOTS, st.data())
def test_constraints_condition(scores, kind, root, data):
    """P(arc) P(other | arc) = P(both), and a constrained tree keeps its promise."""
    trees = kind(scores, root)
    heads = trees.sample(1, seed=data.draw(st.integers(0, 1000)))[0]
    word = data.draw(st.integers(1, trees.n_words))
    arc = (int(heads[word - 1]), word)
    given_arc = trees.constrain(required=[arc])
    assert given_arc.argmax().heads[word - 1] == arc[0]
    assert (given_arc.sample(5, seed=1)[:, word - 1] == arc[0]).all()
    rounding = 1e-9 + 1e-15 * np.abs(scores[np.isfinite(scores)]).max()
    assert given_arc.log_partition <= trees.log_partition + rounding
    other = data.draw(st.integers(1, trees.n_words))
    pair = (int(heads[other - 1]), other)
    joint = trees.marginals[arc] * given_arc.marginals[pair]
    assert trees.pair_marginal(arc, pair) == pytest.approx(joint, abs=1e-6)
