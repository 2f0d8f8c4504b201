"""Second-order trees and belief propagation over tensors."""

from __future__ import annotations

import numpy as np
import pytest

import arbora
from arbora import ArboraError
from arbora.scores import Scores
from tests.torch.batches import LENGTHS, differentiable, scores_of, torch

from arbora.torch import LoopyTrees, Parts, SecondOrderTrees  # isort: skip  # after the skip
from arbora.torch.part_layout import table_shape  # isort: skip

EXACT = [("consecutive_siblings",), ("consecutive_siblings", "grandparents", "grandsiblings")]
LOOPY = [("siblings",), ("consecutive_siblings", "grandparents", "head_bigrams")]


def tables_of(kinds, seed=1):
    """Tables of random scores, with places for -1."""
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(table_shape(k, 3, 4, special=True), generator=generator, dtype=torch.float64)
        for k in kinds
    ]


def alone(arcs, kinds, tables):
    """Each sentence as `arbora.Parts`, all of its parts listed."""
    for i, n in enumerate(LENGTHS.tolist()):
        square = arcs[i, : n + 1, : n + 1].detach().numpy().copy()
        square[:, 0] = -np.inf
        np.fill_diagonal(square, -np.inf)
        listed = Scores.over(square.reshape(-1), np.array([n]), kinds)
        lists = {}
        for kind, table in zip(kinds, tables, strict=True):
            rows = listed.columns(kind, 0)
            lists[kind] = (rows, table[i].numpy()[tuple(rows.T)])  # -1 is the last place
        yield i, n, arbora.Parts(square, **lists)


def listed(arcs, kinds, tables):
    """The same parts of the whole batch as lists with a column of sentences."""
    lists = {}
    for kind in kinds:
        rows, scores = [], []
        for i, _, parts in alone(arcs, kinds, tables):
            own = getattr(parts, kind)
            rows.append(np.concatenate([np.full((len(own.rows), 1), i), own.rows], axis=1))
            scores.append(own.scores)
        lists[kind] = (
            torch.from_numpy(np.concatenate(rows)), torch.from_numpy(np.concatenate(scores))
        )  # fmt: skip
    return lists


def close(tensor, array, tolerance=1e-12):
    np.testing.assert_allclose(tensor.detach().numpy(), array, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kinds", EXACT, ids=len)
@pytest.mark.parametrize("root", ["single", "multi"])
def test_exact_answers_and_gradients(kinds, root):
    arcs, tables = scores_of(), tables_of(kinds)

    def make(arcs, *values):
        parts = Parts(arcs, **dict(zip(kinds, values, strict=True)), lengths=LENGTHS)
        return SecondOrderTrees(parts, root=root)

    trees = make(arcs, *tables)
    drawn, best, mbr, lists = trees.sample(3, seed=2), trees.argmax(), trees.mbr(), trees.kbest(2)
    for i, n, parts in alone(arcs, kinds, tables):
        one = arbora.SecondOrderTrees(parts, root)
        close(trees.log_partition[i], one.log_partition)
        close(trees.marginals[i, : n + 1, : n + 1], one.marginals)
        close(trees.entropy()[i], one.entropy())
        close(trees.log_prob(drawn)[i], one.log_prob(drawn.heads[i, :, :n].numpy()))
        assert best.heads[i, :n].tolist() == one.argmax().heads.tolist()
        assert mbr.heads[i, :n].tolist() == one.mbr().heads.tolist()
        close(mbr.scores[i], one.mbr().score)
        ranked = one.kbest(2)
        close(lists.scores[i, : len(ranked)], [tree.score for tree in ranked])
        for kind, table in trees.part_marginals.items():
            rows = getattr(parts, kind).rows
            close(table[i].detach()[tuple(torch.tensor(rows).T)], one.part_marginals[kind])
    inputs = (arcs, *tables)
    heads = drawn.heads

    def ask(question, twice=False):
        return differentiable(lambda *x: question(make(*x)), *inputs, twice=twice)

    assert ask(lambda trees: trees.log_partition, twice=True)
    assert ask(lambda trees: trees.log_prob(heads), twice=True)
    assert ask(lambda trees: (trees.marginals, *trees.part_marginals.values()))
    assert ask(lambda trees: trees.entropy())
    assert ask(lambda trees: trees.risk(heads[:, 0]))
    other = make(scores_of(seed=7, grad=False), *tables_of(kinds, seed=8))
    torch.testing.assert_close(trees.kl(other), trees.cross_entropy(other) - trees.entropy())
    assert (trees.kl(other) >= 0).all()
    assert ask(lambda trees: trees.kl(other))


@pytest.mark.parametrize("kinds", LOOPY, ids=len)
@pytest.mark.parametrize("trees", ["nonprojective", "projective"])
def test_beliefs_and_their_gradients(kinds, trees):
    arcs, tables = scores_of(), tables_of(kinds)

    def make(arcs, *values):
        parts = Parts(arcs, **dict(zip(kinds, values, strict=True)), lengths=LENGTHS)
        return LoopyTrees(parts, trees, iterations=3, damping=0.1)

    beliefs = make(arcs, *tables)
    mbr = beliefs.mbr()
    for i, n, parts in alone(arcs, kinds, tables):
        one = arbora.LoopyTrees(parts, trees, iterations=3, damping=0.1)
        close(beliefs.marginals[i, : n + 1, : n + 1], one.marginals)
        close(beliefs.bethe_log_partition[i], one.bethe_log_partition)
        close(beliefs.residuals[i], one.residuals)
        assert bool(beliefs.converged[i]) == one.converged
        assert mbr.heads[i, :n].tolist() == one.mbr().heads.tolist()
        close(mbr.scores[i], one.mbr().score)
    inputs = (arcs, *tables)
    assert differentiable(lambda *x: make(*x).marginals, *inputs)
    assert differentiable(lambda *x: tuple(make(*x).part_marginals.values()), *inputs)
    heads = torch.tensor([[0, 1, 2], [0, -1, -1], [2, 0, -1]])
    assert differentiable(lambda *x: make(*x).risk(heads), *inputs)
    (gradient,) = torch.autograd.grad(beliefs.marginals.square().sum(), arcs, create_graph=True)
    with pytest.raises(ArboraError, match="marginals can be differentiated once"):
        gradient.sum().backward()


def test_without_parts_the_bethe_approximation_is_log_z():
    arcs = scores_of()
    bethe = LoopyTrees(Parts(arcs, lengths=LENGTHS), iterations=1)
    exact = arbora.torch.SpanningTrees(arcs, lengths=LENGTHS)
    torch.testing.assert_close(bethe.bethe_log_partition, exact.log_partition)
    assert differentiable(
        lambda x: LoopyTrees(Parts(x, lengths=LENGTHS), iterations=1).bethe_log_partition, arcs
    )


@pytest.mark.parametrize("kinds", EXACT, ids=len)
def test_lists_are_tables(kinds):
    arcs, tables = scores_of(), tables_of(kinds)
    lists = listed(arcs, kinds, tables)
    shuffled = {}
    for kind, (rows, scores) in lists.items():
        order = torch.randperm(len(rows))
        shuffled[kind] = (rows[order], scores[order].clone().requires_grad_())
    of_lists = SecondOrderTrees(Parts(arcs, **shuffled, lengths=LENGTHS))
    values = dict(zip(kinds, tables, strict=True))
    of_tables = SecondOrderTrees(Parts(arcs, **values, lengths=LENGTHS))
    heads = of_tables.argmax().heads
    torch.testing.assert_close(of_lists.log_prob(heads), of_tables.log_prob(heads))
    of_lists.log_prob(heads).sum().backward()
    for kind, (rows, scores) in shuffled.items():
        marginals = of_tables.part_marginals[kind][tuple(rows.T)]
        in_tree = scores.grad + marginals
        torch.testing.assert_close(in_tree, in_tree.round(), rtol=0, atol=1e-12)
    assert differentiable(
        lambda *x: SecondOrderTrees(
            Parts(arcs.detach(), **{k: (shuffled[k][0], v) for k, v in zip(kinds, x, strict=True)},
                  lengths=LENGTHS)
        ).log_prob(heads),
        *(scores for _, scores in shuffled.values()),
        twice=True,
    )  # fmt: skip


def test_tables_of_float32_and_without_places_for_minus_one():
    arcs = scores_of(dtype=torch.float32)
    siblings = torch.randn(3, 4, 2, 4, 4, requires_grad=True)
    trees = SecondOrderTrees(Parts(arcs, consecutive_siblings=siblings, lengths=LENGTHS))
    wide = torch.nn.functional.pad(siblings.detach().double(), (0, 1, 0, 1))
    exact = SecondOrderTrees(
        Parts(arcs.detach().double(), consecutive_siblings=wide, lengths=LENGTHS)
    )
    assert trees.log_partition.dtype == torch.float32
    torch.testing.assert_close(trees.log_partition, exact.log_partition.float())
    trees.log_partition.sum().backward()
    assert siblings.grad.dtype == torch.float32
    expected = exact.part_marginals["consecutive_siblings"][..., :4, :4]
    torch.testing.assert_close(siblings.grad, expected.float())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"siblings": torch.zeros(3, 4, 4)}, r"table of siblings must have shape \(3, 4, 4, 4\)"),
        ({"siblings": torch.zeros(3, 4, 4, 4).int()}, "float dtype"),
        ({"siblings": 3}, "a table, or a pair"),
        ({"siblings": (torch.zeros(2, 3).int(), torch.zeros(2))}, r"shape \(K, 4\)"),
        ({"siblings": (torch.zeros(2, 4).int(), torch.zeros(3))}, "give one each"),
        ({"siblings": (torch.tensor([[3, 0, 1, 2]]), torch.zeros(1))}, "from 0 to 2"),
        ({"siblings": (torch.tensor([[0, 0, 2, 1]]), torch.zeros(1))}, "smaller modifier"),
        ({"siblings": (torch.tensor([[0, 0, 1, 2]] * 2), torch.zeros(2))}, "given twice"),
        ({"siblings": torch.full((3, 4, 4, 4), torch.nan)}, "siblings is nan"),
    ],
)
def test_wrong_parts_are_explained(given, message):
    with pytest.raises(ArboraError, match=message):
        _ = LoopyTrees(Parts(scores_of(), **given, lengths=LENGTHS)).marginals


def test_kinds_that_no_chart_sums_over():
    parts = Parts(scores_of(), siblings=torch.zeros(3, 4, 4, 4), lengths=LENGTHS)
    with pytest.raises(ArboraError, match="LoopyTrees"):
        SecondOrderTrees(parts)
    with pytest.raises(ArboraError, match=r"takes arbora\.torch\.Parts"):
        LoopyTrees(scores_of())
