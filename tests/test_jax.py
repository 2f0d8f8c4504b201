"""Distributions over arrays of JAX, against the NumPy library and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import arbora
from arbora import ArboraError

jax = pytest.importorskip("jax", reason="JAX is not installed (the extra jax)")

from jax import numpy as jnp  # noqa: E402  # after the skip

import arbora.jax  # noqa: E402

LENGTHS = [3, 1, 2]
CASES = [
    (kind, root) for kind in ("SpanningTrees", "ProjectiveTrees") for root in ("single", "multi")
]


def scores_of(dtype=np.float32):
    scores = np.random.default_rng(0).normal(scale=2.0, size=(3, 4, 4)).astype(dtype)
    scores[0, 1, 3] = -np.inf
    for i, n in enumerate(LENGTHS):
        scores[i, n + 1 :] = scores[i, :, n + 1 :] = np.nan
    return scores


@pytest.mark.parametrize(("kind", "root"), CASES)
def test_answers_and_gradients(kind, root):
    scores = scores_of()
    trees = getattr(arbora.jax, kind)(jnp.asarray(scores), root=root, lengths=LENGTHS)
    best, drawn = trees.argmax(), trees.sample(jax.random.key(0), 2)
    weights = np.random.default_rng(1).normal(size=scores.shape).astype(np.float32)

    def make(x):
        return getattr(arbora.jax, kind)(x, root=root, lengths=LENGTHS)

    def d(question):
        return np.asarray(jax.jit(jax.grad(lambda x: question(make(x)).sum()))(scores))

    d_entropy = d(lambda t: t.entropy())
    d_log_prob = d(lambda t: t.log_prob(best.heads))
    d_marginals = d(lambda t: t.marginals * weights)
    hessian = jax.grad(
        lambda x: (weights * jax.grad(lambda y: make(y).log_partition.sum())(x)).sum()
    )
    product = np.asarray(hessian(jnp.asarray(scores)))
    for i, n in enumerate(LENGTHS):
        sides = slice(n + 1)
        one = getattr(arbora, kind)(scores[i, sides, sides], root)
        assert trees.log_partition[i] == np.float32(one.log_partition)
        assert trees.entropy()[i] == np.float32(one.entropy())
        np.testing.assert_array_equal(trees.marginals[i, sides, sides], np.float32(one.marginals))
        assert best.heads[i, :n].tolist() == one.argmax().heads.tolist()
        assert np.isfinite(one.log_prob(np.asarray(drawn[i, :, :n]))).all()
        finite = np.where(np.isfinite(one.scores), one.scores, 0.0)
        np.testing.assert_allclose(d_entropy[i, sides, sides], -one.vjp(finite), atol=1e-5)
        through = one.vjp(weights[i, sides, sides])
        np.testing.assert_allclose(d_marginals[i, sides, sides], through, atol=1e-5)
        np.testing.assert_allclose(product[i, sides, sides], through, atol=1e-5)
        arcs = np.zeros((n + 1, n + 1))
        arcs[one.argmax().heads, np.arange(1, n + 1)] = 1.0
        np.testing.assert_allclose(d_log_prob[i, sides, sides], arcs - one.marginals, atol=1e-6)
    assert np.isfinite(d_entropy).all()


def test_peaked_scores_and_heads_of_no_tree():
    scores = 1000.0 * np.random.default_rng(0).normal(size=(2, 7, 7)).astype(np.float32)
    trees = arbora.jax.SpanningTrees(jnp.asarray(scores))
    assert np.asarray(trees.log_prob(trees.argmax().heads)) == pytest.approx([0.0, 0.0], abs=1e-6)
    assert np.asarray(trees.log_prob(jnp.full((2, 6), 1))).tolist() == [-np.inf, -np.inf]


def test_wrong_arguments():
    with pytest.raises(ArboraError, match="float dtype"):
        arbora.jax.SpanningTrees(jnp.zeros((2, 3, 3), dtype=int))
    with pytest.raises(ArboraError, match="shape"):
        arbora.jax.SpanningTrees(jnp.zeros((3, 3)))
    bad = jnp.zeros((2, 3, 3)).at[1, 2, 1].set(jnp.nan)
    with pytest.raises(Exception, match=r"sentence 1: scores\[2, 1\] is NaN"):
        arbora.jax.SpanningTrees(bad).log_partition.block_until_ready()
