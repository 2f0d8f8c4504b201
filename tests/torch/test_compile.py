"""torch.compile, torch.export and the operators' own checks pass through the layers."""

from __future__ import annotations

import pytest

from tests.torch.batches import LENGTHS, scores_of, torch

from arbora.torch import LoopyTrees, Parts, ProjectiveTrees, SpanningTrees  # isort: skip
from arbora.torch import operators, part_operators  # isort: skip  # after the skip

FAKE = "test_faketensor"


def loss(scores, siblings, heads, lengths):
    """Uses sums, gradients, trees and beliefs."""
    trees = SpanningTrees(scores, lengths=lengths)
    value = -trees.log_prob(heads).sum() + trees.entropy().sum()
    value = value + ProjectiveTrees(scores, root="multi", lengths=lengths).log_partition.sum()
    beliefs = LoopyTrees(Parts(scores, siblings=siblings, lengths=lengths), iterations=2)
    return value + beliefs.risk(trees.argmax().heads).sum()


def test_compiled_losses_have_the_same_value_and_gradient():
    scores = scores_of(grad=False).nan_to_num(0.0, neginf=-torch.inf)
    siblings = torch.randn(3, 4, 4, 4, dtype=torch.float64)
    heads = SpanningTrees(scores, lengths=LENGTHS).sample(1, seed=0).heads[:, 0]
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    found = []
    for function in (loss, compiled):
        leaves = [x.clone().requires_grad_() for x in (scores, siblings)]
        value = function(*leaves, heads, LENGTHS)
        value.backward()
        found.append([value.detach(), *(leaf.grad for leaf in leaves)])
    for mine, other in zip(*found, strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-12)


def test_one_compilation_serves_all_lengths():
    compiled = torch.compile(
        lambda x, n: SpanningTrees(x, lengths=n).log_partition.sum(),
        dynamic=True,
        fullgraph=True,
        backend="aot_eager",
    )
    for side in (3, 6, 5):
        scores = torch.randn(2, side, side, requires_grad=True)
        lengths = torch.tensor([side - 1, 2])
        compiled(scores, lengths).backward()
        assert torch.equal(scores.grad, SpanningTrees(scores.detach(), lengths=lengths).marginals)


def test_exported_programs_answer():
    class Layer(torch.nn.Module):
        def forward(self, scores, lengths):
            trees = SpanningTrees(scores, lengths=lengths)
            return trees.log_partition, trees.marginals, trees.argmax().heads

    scores = scores_of(grad=False).nan_to_num(0.0, neginf=-torch.inf)
    program = torch.export.export(Layer(), (scores, LENGTHS))
    other = 2 * scores
    for mine, expected in zip(
        program.module()(other, LENGTHS), Layer()(other, LENGTHS), strict=True
    ):
        assert torch.equal(mine, expected)


@pytest.mark.parametrize("labels", [None, 2])
def test_operators_pass_torchs_own_checks(labels):
    scores = scores_of(labels).detach().nan_to_num(0.0, neginf=-torch.inf).requires_grad_()
    marginals = operators.tree_sums(scores.detach(), LENGTHS, False, True)[3]
    calls = {
        operators.tree_sums: (scores, LENGTHS, True, False),
        operators.tree_log_sums: (scores.detach(), LENGTHS, False, True),
        operators.tree_vjp: (scores.detach(), LENGTHS, marginals, marginals, False, True),
        operators.tree_argmax: (scores.detach(), LENGTHS, False, False),
        operators.tree_kbest: (scores.detach(), LENGTHS, False, False, 2),
        operators.tree_sample: (scores.detach(), LENGTHS, torch.tensor(1), True, False, 2),
    }
    for operator, arguments in calls.items():
        torch.library.opcheck(operator, arguments, test_utils=("test_schema", FAKE))
    torch.library.opcheck(operators.tree_sums, (scores, LENGTHS, True, False))  # and of gradients


def test_operators_of_parts_pass_torchs_own_checks():
    arcs = scores_of(grad=False).nan_to_num(0.0, neginf=-torch.inf)
    values = [torch.randn(3, 4, 2, 5, 5)]
    given = (arcs, LENGTHS, values, [torch.empty((0, 0), dtype=torch.int64)], [0])
    heads = torch.tensor([[[0, 1, 2]], [[0, 0, 0]], [[0, 1, 0]]])
    possible = torch.ones(3, 1, dtype=torch.bool)
    engine = part_operators.Engine(True, True, True)
    calls = {
        part_operators.part_sums: (*given, *engine),
        part_operators.loopy_arcs: (*given, *engine._replace(exact=False, iterations=2)),
        part_operators.part_vjp: (*given, arcs, values, *engine),
        part_operators.part_scores: (*given, heads, possible),
        part_operators.part_counts: (*given, heads, possible, torch.ones(3, 1).double()),
        part_operators.part_argmax: (*given, True),
        part_operators.part_kbest: (*given, True, 2),
        part_operators.part_sample: (*given, torch.tensor(1), True, 2),
    }
    for operator, arguments in calls.items():
        torch.library.opcheck(operator, arguments, test_utils=("test_schema", FAKE))


def test_sums_without_operators_are_the_same():
    """Eager calls go around the operators; traced ones do not."""
    from torch.fx.experimental.proxy_tensor import make_fx

    given = scores_of(grad=False).nan_to_num(0.0, neginf=-torch.inf)

    def hessian_along(kernel):
        scores = given.clone().requires_grad_()
        log_z = kernel(scores, LENGTHS, False, False)[0]
        (first,) = torch.autograd.grad(log_z.sum(), scores, create_graph=True)
        (second,) = torch.autograd.grad((first * torch.sin(given.nan_to_num(neginf=0.0))).sum(),
                                        scores)  # fmt: skip
        return log_z.detach(), first.detach(), second

    for mine, other in zip(
        hessian_along(operators.sums), hessian_along(operators.tree_sums), strict=True
    ):
        assert torch.equal(mine, other)
    plain = operators.log_sums(given, LENGTHS, False, False)
    for mine, other in zip(
        plain, operators.tree_log_sums(given, LENGTHS, False, False), strict=True
    ):
        assert torch.equal(mine, other)
    traced = make_fx(lambda x: SpanningTrees(x, lengths=LENGTHS).log_partition)(given)
    assert torch.equal(traced(2 * given), SpanningTrees(2 * given, lengths=LENGTHS).log_partition)
