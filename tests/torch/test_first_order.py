"""First-order trees over tensors, against the NumPy library, enumeration and gradcheck."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import arbora
from arbora import ArboraError
from tests.torch.batches import LENGTHS, differentiable, scores_of, torch

from arbora.torch import ProjectiveTrees, SpanningTrees  # isort: skip  # after the skip

CLASSES = {SpanningTrees: arbora.SpanningTrees, ProjectiveTrees: arbora.ProjectiveTrees}
CASES = list(itertools.product(CLASSES, ("single", "multi"), (None, 2)))
cases = pytest.mark.parametrize(("kind", "root", "labels"), CASES)


def alone(kind, root, scores):
    """The same sentences, one by one, in the NumPy library."""
    for i, n in enumerate(LENGTHS.tolist()):
        yield i, n, CLASSES[kind](scores[i, : n + 1, : n + 1].detach().numpy(), root)


def close(tensor, array, tolerance=1e-13):
    np.testing.assert_allclose(tensor.detach().numpy(), array, rtol=0, atol=tolerance)


@cases
def test_answers_are_those_of_the_numpy_library(kind, root, labels):
    scores = scores_of(labels)
    trees = kind(scores, root=root, lengths=LENGTHS)
    values = torch.randn(scores.shape, dtype=torch.float64)
    best, mbr, lists = trees.argmax(), trees.mbr(), trees.kbest(3)
    drawn = trees.sample(4, seed=5)
    for i, n, one in alone(kind, root, scores):
        sides = slice(n + 1)
        close(trees.log_partition[i], one.log_partition)
        close(trees.marginals[i, sides, sides], one.marginals)
        close(trees.arc_marginals[i, sides, sides], one.arc_marginals)
        close(trees.entropy()[i], one.entropy())
        close(trees.expect(values)[i], one.expect(values[i, sides, sides].numpy()))
        close(trees.variance(values)[i], one.variance(values[i, sides, sides].numpy()))
        assert best.heads[i, :n].tolist() == one.argmax().heads.tolist()
        assert mbr.heads[i, :n].tolist() == one.mbr().heads.tolist()
        close(mbr.scores[i], one.mbr().score)
        trees_of_list = one.kbest(3)
        close(lists.scores[i, : len(trees_of_list)], [tree.score for tree in trees_of_list])
        for row, tree in zip(lists.heads[i], trees_of_list, strict=False):
            assert row[:n].tolist() == tree.heads.tolist()
        heads = drawn.heads[i, :, :n].numpy()
        chosen = None if labels is None else drawn.labels[i, :, :n].numpy()
        close(trees.log_prob(drawn)[i], one.log_prob(heads, chosen))
        close(trees.log_prob(drawn.heads)[i], one.log_prob(heads))
        assert (best.heads[i, n:] == -1).all()
        assert (drawn.heads[i, :, n:] == -1).all()
        assert trees.marginals[i, n + 1 :].abs().sum() == 0
    torch.testing.assert_close(trees.max, best.scores, rtol=0, atol=1e-13)
    assert not best.scores.requires_grad


@cases
def test_gradients_by_finite_differences(kind, root, labels):
    scores = scores_of(labels)
    heads = kind(scores, root=root, lengths=LENGTHS).sample(2, seed=1).heads
    values = torch.randn(scores.shape, dtype=torch.float64)

    def ask(question, twice=False):
        return differentiable(
            lambda x: question(kind(x, root=root, lengths=LENGTHS)), scores, twice=twice
        )

    assert ask(lambda trees: trees.log_partition, twice=True)
    assert ask(lambda trees: trees.log_prob(heads), twice=True)
    assert ask(lambda trees: trees.marginals)
    assert ask(lambda trees: trees.entropy())
    assert ask(lambda trees: trees.expect(values))
    assert ask(lambda trees: trees.risk(heads[:, 0]))
    other = scores_of(labels, seed=3)
    assert differentiable(
        lambda x, y: kind(x, root=root, lengths=LENGTHS).kl(kind(y, root=root, lengths=LENGTHS)),
        scores,
        other,
    )


@pytest.mark.parametrize("kind", CLASSES)
def test_a_second_derivative_of_marginals_is_refused(kind):
    scores = scores_of()
    for question in (lambda t: t.marginals.square(), lambda t: t.entropy()):
        value = question(kind(scores, lengths=LENGTHS)).sum()
        (gradient,) = torch.autograd.grad(value, scores, create_graph=True)
        with pytest.raises(ArboraError, match="marginals and what is computed from them once"):
            gradient.sum().backward()


def test_hessian_vector_products_are_the_vjp_of_the_marginals():
    scores = scores_of()
    direction = torch.randn(scores.shape, dtype=torch.float64)
    trees = SpanningTrees(scores, lengths=LENGTHS)
    (gradient,) = torch.autograd.grad(trees.log_partition.sum(), scores, create_graph=True)
    (product,) = torch.autograd.grad((gradient * direction).sum(), scores)
    for i, n, one in alone(SpanningTrees, "single", scores):
        sides = slice(n + 1)
        close(product[i, sides, sides], one.vjp(direction[i, sides, sides].numpy()))


def test_hessians_of_float32():
    """Marginals that are rounded to float32 cost no more than their own rounding."""
    scores = torch.randn(1, 21, 21, generator=torch.Generator().manual_seed(0))
    direction = torch.randn(scores.shape, generator=torch.Generator().manual_seed(1)) + 1000.0
    products = []
    for leaf in (scores.clone().requires_grad_(), scores.double().requires_grad_()):
        log_partition = SpanningTrees(leaf).log_partition.sum()
        (gradient,) = torch.autograd.grad(log_partition, leaf, create_graph=True)
        products += torch.autograd.grad((direction * gradient).sum(), leaf)
    torch.testing.assert_close(products[0].double(), products[1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_every_float_dtype_is_computed_in_float64(dtype):
    scores = scores_of(dtype=dtype, scale=5.0)
    trees = SpanningTrees(scores, lengths=LENGTHS)
    exact = SpanningTrees(scores.detach().double(), lengths=LENGTHS)
    for name in ("log_partition", "marginals", "entropy"):
        answer, truth = (
            got() if callable(got) else got for got in (getattr(trees, name), getattr(exact, name))
        )
        assert answer.dtype == dtype
        assert torch.equal(answer.detach(), truth.to(dtype))
    trees.log_partition.sum().backward()
    assert torch.equal(scores.grad, exact.marginals.to(dtype))


@pytest.mark.parametrize("scale", [50.0, 1000.0])
def test_peaked_scores_against_high_precision(scale):
    from arbora.testing import precise_spanning

    scores = torch.from_numpy(np.random.default_rng(0).normal(scale=scale, size=(1, 9, 9)) + 1000.0)
    scores[0, 2, 3] = -torch.inf
    scores.requires_grad_()
    truth = precise_spanning(scores[0].detach().numpy(), np.zeros((9, 9)), "single")
    trees = SpanningTrees(scores)
    np.testing.assert_allclose(trees.log_partition.item(), truth.log_partition, rtol=1e-12)
    trees.log_partition.sum().backward()
    close(scores.grad[0], truth.marginals, 1e-9)


def test_masks_of_words_and_arcs():
    scores = scores_of()
    words = torch.arange(3) < LENGTHS[:, None]
    with_root = torch.nn.functional.pad(words, (1, 0), value=False)
    expected = SpanningTrees(scores, lengths=LENGTHS).log_partition
    for mask in (words, with_root):
        assert torch.equal(SpanningTrees(scores, mask=mask).log_partition, expected)
    arcs = torch.ones(3, 4, 4, dtype=torch.bool)
    arcs[0, 2, 1] = False
    masked = SpanningTrees(scores, mask=arcs, lengths=LENGTHS)
    forbidden = ~arcs
    constrained = SpanningTrees(scores, lengths=LENGTHS).constrain(forbidden=forbidden)
    assert torch.equal(masked.log_partition, constrained.log_partition)
    assert masked.marginals[0, 2, 1] == 0
    required = torch.zeros(3, 4, 4, dtype=torch.bool)
    required[0, 2, 1] = True
    told = SpanningTrees(scores, lengths=LENGTHS).constrain(required=required)
    torch.testing.assert_close(told.marginals[0, 2, 1], torch.tensor(1.0, dtype=torch.float64))
    both = torch.logaddexp(told.log_partition[0], constrained.log_partition[0])
    torch.testing.assert_close(both, expected[0])


def test_divergences_know_missing_trees():
    scores = scores_of(forbid=False)
    fewer = scores.detach().clone()
    fewer[0, 2, 1] = -torch.inf
    p = SpanningTrees(scores, lengths=LENGTHS)
    q = SpanningTrees(fewer, lengths=LENGTHS)
    assert p.kl(q).isinf().tolist() == [True, False, False]
    assert q.kl(p).isfinite().all()
    torch.testing.assert_close(q.cross_entropy(p) - q.entropy(), q.kl(p))
    assert p.kl(ProjectiveTrees(scores, lengths=LENGTHS))[0] == torch.inf


def test_names_of_torch_struct():
    scores = scores_of(2)
    trees = ProjectiveTrees(scores, lengths=LENGTHS)
    assert torch.equal(trees.partition, trees.log_partition)
    assert trees.mode.shape == scores.shape
    assert trees.mode.flatten(1).sum(1).tolist() == LENGTHS.tolist()
    assert torch.equal(trees.topk(2)[0], trees.mode)
    assert torch.equal(trees.kmax(2)[0], trees.max)
    (gradient,) = torch.autograd.grad(trees.max.sum(), scores)
    assert torch.equal(gradient, trees.mode)
    labelled = 2.0 ** LENGTHS.double()
    counts = torch.tensor([7.0, 1.0, 2.0], dtype=torch.float64)
    every = ProjectiveTrees(scores_of(2, forbid=False), lengths=LENGTHS).count
    torch.testing.assert_close(every, counts * labelled)


def test_a_log_prob_of_no_tree_is_minus_infinity_without_nan_in_the_gradient():
    scores = scores_of(2)
    heads = torch.tensor([[2, 1, 0], [0, -1, -1], [0, 1, -1]])  # a cycle; a tree; a tree
    log_prob = SpanningTrees(scores, lengths=LENGTHS).log_prob(heads)
    assert log_prob[0] == -torch.inf
    assert log_prob[1:].isfinite().all()
    forbidden = torch.tensor([[0, 1, 1], [0, -1, -1], [0, 1, -1]])
    log_prob = SpanningTrees(scores, lengths=LENGTHS).log_prob(forbidden)
    assert log_prob[0] == -torch.inf
    log_prob[1:].sum().backward()
    assert scores.grad.isfinite().all()


def test_gradients_that_overflowed_stay_visible():
    scores = scores_of()
    weights = torch.tensor([torch.inf, 1.0, 1.0], dtype=torch.float64)
    (SpanningTrees(scores, lengths=LENGTHS).entropy() * weights).sum().backward()
    assert not scores.grad[0].isfinite().all()
    assert scores.grad[1:].isfinite().all()


def test_straight_through_and_perturbed_max():
    scores = scores_of()
    trees = SpanningTrees(scores, lengths=LENGTHS)
    weights = torch.randn(scores.shape, dtype=torch.float64)
    for by in ("argmax", "mbr", "sample"):
        arcs = trees.straight_through(by, seed=0)
        torch.testing.assert_close(arcs, arcs.round(), rtol=0, atol=1e-15)
        (gradient,) = torch.autograd.grad((arcs * weights).sum(), scores, retain_graph=True)
        (expected,) = torch.autograd.grad(
            (trees.marginals * weights).sum(), scores, retain_graph=True
        )
        assert torch.equal(gradient, expected)
    for noise in ("gumbel", "normal"):
        generator = torch.Generator().manual_seed(0)
        average = trees.perturbed_max(20, noise=noise, generator=generator)
        torch.testing.assert_close(average.flatten(1).sum(1), LENGTHS.double())
        (gradient,) = torch.autograd.grad((average * weights).sum(), scores)
        assert gradient.isfinite().all()
        assert gradient[1].abs().sum() == 0  # one word has one tree


def density_of_the_difference(noise):
    """Of the noise of two arcs minus that of two others, on a grid."""
    grid = torch.linspace(-20.0, 20.0, 4001, dtype=torch.float64)
    if noise == "normal":
        return grid, torch.distributions.Normal(0.0, 2.0).log_prob(grid).exp()
    logistic = torch.sigmoid(grid) * torch.sigmoid(-grid)  # the difference of two Gumbel variables
    both = np.convolve(logistic.numpy(), logistic.numpy(), mode="same") * 0.01
    return grid, torch.from_numpy(both)


@pytest.mark.parametrize("noise", ["normal", "gumbel"])
def test_the_gradient_of_the_perturbed_max_is_that_of_its_expectation(noise):
    """Two trees of two words: the best is the first iff the difference of two sums is positive."""
    scores = torch.zeros(1, 3, 3, dtype=torch.float64)
    scores[0, 0, 1] = 0.5
    scores.requires_grad_()
    trees = SpanningTrees(scores)
    generator = torch.Generator().manual_seed(1)
    average = trees.perturbed_max(40_000, noise=noise, generator=generator)
    grid, density = density_of_the_difference(noise)
    expected = torch.trapezoid(density[grid <= 0.5], grid[grid <= 0.5])
    torch.testing.assert_close(average[0, 0, 1].detach(), expected, rtol=0, atol=0.02)
    (gradient,) = torch.autograd.grad(average[0, 0, 1], scores)
    slope = density[(grid - 0.5).abs().argmin()]
    torch.testing.assert_close(gradient[0, 0, 1], slope, rtol=0, atol=0.02)


def test_draws_without_a_seed_follow_torchs_generator():
    trees = SpanningTrees(scores_of(), lengths=LENGTHS)
    torch.manual_seed(3)
    first = trees.sample(20).heads
    torch.manual_seed(3)
    assert torch.equal(trees.sample(20).heads, first)
    assert not torch.equal(trees.sample(20).heads, first)
