"""The interfaces of torch-struct and SuPar over Arbora, checked as those libraries check theirs.

Both compare sums, best trees, entropies and divergences with an enumeration of all trees, for small
batches of mixed lengths, with one root and with several.
"""

from __future__ import annotations

import numpy as np
import pytest

from arbora.testing import EnumeratedTrees
from tests.torch.batches import torch

from arbora.torch import (  # isort: skip  # after the skip
    arcs_of_heads,
    from_modifier_head,
    from_root_on_diagonal,
    heads_of_arcs,
    to_root_on_diagonal,
)
from arbora.torch import like_supar, like_torch_struct  # isort: skip

LENGTHS = torch.tensor([4, 2])
KINDS = {
    (like_torch_struct.DependencyCRF, like_supar.DependencyCRF): "projective",
    (like_torch_struct.NonProjectiveDependencyCRF, like_supar.MatrixTree): "nonprojective",
}
cases = pytest.mark.parametrize(
    ("kinds", "trees", "multiroot"), [(k, t, m) for k, t in KINDS.items() for m in (False, True)]
)


def enumerated(scores, trees, multiroot):
    """All trees of every sentence; scores are [head, modifier] with the root symbol at 0."""
    root = "multi" if multiroot else "single"
    return [
        EnumeratedTrees(scores[i, : n + 1, : n + 1].detach().numpy(), trees, root)
        for i, n in enumerate(LENGTHS.tolist())
    ]


def probabilities(one):
    return np.exp(one.tree_scores - np.logaddexp.reduce(one.tree_scores))


def entropy(one):
    p = probabilities(one)
    return -(p * np.log(p)).sum()


def kl(one, other):
    return (probabilities(one) * np.log(probabilities(one) / probabilities(other))).sum()


@cases
def test_as_torch_struct_tests_its_trees(kinds, trees, multiroot):
    potentials = torch.randn(2, 2, 4, 4, dtype=torch.float64, requires_grad=True)
    p, q = (kinds[0](x, LENGTHS, multiroot=multiroot) for x in potentials)
    all_p, all_q = (enumerated(from_root_on_diagonal(x), trees, multiroot) for x in potentials)
    for i, (one, other) in enumerate(zip(all_p, all_q, strict=True)):
        n, best = LENGTHS[i], int(one.tree_scores.argmax())
        assert np.isclose(p.partition[i].item(), np.logaddexp.reduce(one.tree_scores))
        assert np.isclose(p.max[i].item(), one.tree_scores.max())
        assert p.from_parts(p.argmax)[0][i, :n].tolist() == one.heads[best].tolist()
        ranked = np.sort(one.tree_scores)[::-1]
        assert np.allclose(p.kmax(2)[:, i].detach(), ranked[:2])
        assert np.isclose(p.entropy[i].item(), entropy(one))
        assert np.isclose(p.kl(q)[i].item(), kl(one, other))
        assert np.isclose(p.cross_entropy(q)[i].item(), kl(one, other) + entropy(one))
        assert np.isclose(p.count[i].item(), len(one.heads))
    # Marginals are probabilities: as many as words, and the derivative of the partition.
    assert torch.allclose(p.marginals.sum((1, 2)), LENGTHS.double())
    (gradient,) = torch.autograd.grad(p.partition.sum(), potentials, retain_graph=True)
    assert torch.allclose(gradient[0], p.marginals)
    # Arcs and heads are the same thing.
    heads = p.from_parts(p.argmax)[0]
    assert torch.equal(p.to_parts(heads, LENGTHS), p.argmax.long())
    # Draws are trees, and their log-probabilities those of the enumeration.
    drawn = p.sample((7,))
    assert drawn.shape == (7, *potentials.shape[1:])
    assert (drawn.sum((2, 3)) == LENGTHS).all()
    assert torch.allclose(p.log_prob(p.topk(2))[0], p.max - p.partition)
    assert p.log_prob(drawn).isfinite().all()


@cases
def test_as_supar_tests_its_trees(kinds, trees, multiroot):
    scores = torch.randn(2, 2, 5, 5, dtype=torch.float64, requires_grad=True)
    p, q = (kinds[1](x, LENGTHS, multiroot) for x in scores)
    all_p, all_q = (enumerated(from_modifier_head(x), trees, multiroot) for x in scores)
    for i, (one, other) in enumerate(zip(all_p, all_q, strict=True)):
        n, best = LENGTHS[i], int(one.tree_scores.argmax())
        assert np.isclose(p.log_partition[i].item(), np.logaddexp.reduce(one.tree_scores))
        assert np.isclose(p.max[i].item(), one.tree_scores.max())
        assert p.argmax[i, 1 : n + 1].tolist() == one.heads[best].tolist()
        ranked = np.sort(one.tree_scores)[::-1]
        assert np.allclose(p.kmax(2)[i], ranked[:2])
        assert p.topk(2)[i, 1 : n + 1, 0].tolist() == one.heads[best].tolist()
        assert np.isclose(p.log_prob(p.argmax)[i].item(), np.log(probabilities(one)[best]))
        assert np.isclose(p.entropy[i].item(), entropy(one))
        assert np.isclose(p.kl(q)[i].item(), kl(one, other))
        assert np.isclose(p.cross_entropy(q)[i].item(), kl(one, other) + entropy(one))
    (gradient,) = torch.autograd.grad(p.log_partition.sum(), scores, retain_graph=True)
    assert torch.allclose(gradient[0], p.marginals)
    # A partial annotation is a sum over its completions.
    partial = p.sample().masked_fill(torch.tensor([True, False, True, True, True]), -1)
    for i, one in enumerate(all_p):
        agree = one.heads[:, 0] == partial[i, 1].item()
        expected = np.log(probabilities(one)[agree].sum())
        assert np.isclose(p.log_prob(partial, partial=True)[i].item(), expected)


def test_converters_are_inverse_and_differentiable():
    scores = torch.randn(2, 4, 4, 3, dtype=torch.float64, requires_grad=True)
    wide = from_root_on_diagonal(scores)
    assert wide.shape == (2, 5, 5, 3)
    assert torch.equal(wide[:, 0, 2], scores[:, 1, 1])
    assert torch.equal(wide[:, 2, 3], scores[:, 1, 2])
    assert torch.equal(to_root_on_diagonal(wide), scores)
    assert torch.autograd.gradcheck(from_root_on_diagonal, (scores,), fast_mode=True)
    heads = torch.tensor([[2, 0, -1], [0, 1, 2]])
    assert torch.equal(heads_of_arcs(arcs_of_heads(heads)), heads)
    labelled = arcs_of_heads(heads, torch.tensor([[1, 0, -1], [0, 0, 1]]), 2)
    assert torch.equal(labelled.sum(3), arcs_of_heads(heads))
    assert labelled[0, 2, 1].tolist() == [0, 1]
