"""The custom operators of first-order trees: `torch.ops.arbora.*`.

Each is one call of the compiled kernels for a whole batch, in float64. All have fake kernels, so
that `torch.compile` and `torch.export` pass through them. The backward of log Z is its marginals,
the backward of the marginals is their Jacobian (a Hessian-vector product of log Z), and a further
backward is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.library import custom_op

from arbora.errors import ArgumentError
from arbora.inference.batch import located
from arbora.inference.packed import Packed
from arbora.torch.elimination import device_sums, device_vjp
from arbora.torch.padding import Padding, as_numpy

__all__ = [
    "checked",
    "log_sums",
    "sums",
    "tensor_like",
    "tree_argmax",
    "tree_kbest",
    "tree_log_sums",
    "tree_sample",
    "tree_sums",
    "tree_vjp",
]


def _log_sums(
    scores: Tensor, lengths: Tensor, projective: bool, multi: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, log Z relative to the columns' shifts, and the shifts (B, N+1), all in float64."""
    found = device_sums(scores, lengths, projective, multi)
    if found is not None:
        return found[:3]
    padding, packed = checked(scores, lengths, projective, multi)
    sums = packed.sums(marginals=False)
    return (
        tensor_like(sums.log_partition, scores),
        tensor_like(sums.relative, scores),
        padding.columns(sums.shift).to(scores.device),
    )


tree_log_sums = custom_op("arbora::tree_log_sums", mutates_args=())(_log_sums)


@tree_log_sums.register_fake
def _(scores: Tensor, lengths: Tensor, projective: bool, multi: bool) -> Any:
    return _empty_sums(scores)


def _sums(
    scores: Tensor, lengths: Tensor, projective: bool, multi: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same and the marginals, in the shape and dtype of the scores."""
    found = device_sums(scores, lengths, projective, multi)
    if found is not None:
        return *found[:3], found[3].to(scores.dtype)
    padding, packed = checked(scores, lengths, projective, multi)
    sums = packed.sums(marginals=True)
    return (
        tensor_like(sums.log_partition, scores),
        tensor_like(sums.relative, scores),
        padding.columns(sums.shift).to(scores.device),
        padding.padded(sums.marginals, scores),
    )


tree_sums = custom_op("arbora::tree_sums", mutates_args=())(_sums)


@tree_sums.register_fake
def _(scores: Tensor, lengths: Tensor, projective: bool, multi: bool) -> Any:
    return *_empty_sums(scores), _contiguous(scores)


def _empty_sums(scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    batch, side = scores.shape[:2]
    sums = scores.new_empty((2, batch), dtype=torch.float64)
    return sums[0].clone(), sums[1].clone(), scores.new_empty((batch, side), dtype=torch.float64)


def _contiguous(scores: Tensor) -> Tensor:
    return torch.empty(scores.shape, dtype=scores.dtype, device=scores.device)


def _save_sums(ctx: Any, inputs: Any, output: Any) -> None:
    scores, lengths, ctx.projective, ctx.multi = inputs
    ctx.save_for_backward(scores, lengths, output[3])
    ctx.set_materialize_grads(False)  # None tells that an answer was not used


def _sums_backward(
    ctx: Any, d_log: Tensor | None, d_relative: Tensor | None, _: Any, d_marginals: Tensor | None
) -> Any:
    """d log Z = marginals. The shifts count as constants, so `relative` has the same gradient."""
    scores, lengths, marginals = ctx.saved_tensors
    answer = None
    if d_log is not None or d_relative is not None:
        weight = (
            d_relative if d_log is None else d_log if d_relative is None else d_log + d_relative
        )
        assert weight is not None
        answer = weight.to(marginals.dtype).reshape(-1, *[1] * (marginals.dim() - 1)) * marginals
    if d_marginals is not None:
        through = tree_vjp(scores, lengths, marginals, d_marginals, ctx.projective, ctx.multi)
        answer = through if answer is None else answer + through
    return answer, None, None, None


tree_sums.register_autograd(_sums_backward, setup_context=_save_sums)


class _EagerSums(torch.autograd.Function):
    """`tree_sums` without the machinery of operators, which for short sentences costs more."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        output = _sums(*inputs)
        _save_sums(ctx, inputs, output)
        return output

    backward = staticmethod(_sums_backward)


def sums(scores: Tensor, lengths: Tensor, projective: bool, multi: bool) -> tuple[Tensor, ...]:
    """What `tree_sums` answers, by the operator where anything has to see it."""
    eager = _is_eager(scores)
    found: tuple[Tensor, ...] = (_EagerSums.apply if eager else tree_sums)(
        scores, lengths, projective, multi
    )
    return found


def log_sums(scores: Tensor, lengths: Tensor, projective: bool, multi: bool) -> tuple[Tensor, ...]:
    """The same for `tree_log_sums`."""
    kernel = _log_sums if _is_eager(scores) else tree_log_sums
    found: tuple[Tensor, ...] = kernel(scores, lengths, projective, multi)
    return found


def _is_eager(scores: Tensor) -> bool:
    """Whether nothing compiles, traces or transforms the call."""
    return (
        not torch.compiler.is_compiling()
        and type(scores) in (Tensor, torch.nn.Parameter)
        and torch._C._len_torch_dispatch_stack() == 0
        and not torch._C._are_functorch_transforms_active()
    )


@custom_op("arbora::tree_vjp", mutates_args=())
def tree_vjp(
    scores: Tensor, lengths: Tensor, marginals: Tensor, direction: Tensor, projective: bool,
    multi: bool,
) -> Tensor:  # fmt: skip
    """The Jacobian of the marginals (symmetric) times a direction.

    A direction that is not finite gives NaN for its sentence, as a gradient that overflowed should.
    """
    found = device_vjp(scores, lengths, marginals, direction, projective, multi)
    if found is not None:
        return found.to(scores.dtype)
    padding, packed = checked(scores, lengths, projective, multi)
    along = np.where(np.isneginf(packed.flat), 0.0, padding.flat(as_numpy(direction)))
    finite = np.isfinite(along)
    pieces = packed.vjp(padding.flat(as_numpy(marginals)), np.where(finite, along, 0.0))
    answer = padding.padded(np.concatenate([piece.reshape(-1) for piece in pieces]), scores)
    if not finite.all():
        per_sentence = np.add.reduceat(~finite, packed.cells[:-1]) > 0
        answer[torch.from_numpy(per_sentence)] = float("nan")
    return answer


@tree_vjp.register_fake
def _(
    scores: Tensor, lengths: Tensor, marginals: Tensor, direction: Tensor, projective: bool,
    multi: bool,
) -> Tensor:  # fmt: skip
    return _contiguous(scores)


def _save_vjp(ctx: Any, inputs: Any, output: Any) -> None:
    scores, lengths, marginals, _, ctx.projective, ctx.multi = inputs
    ctx.save_for_backward(scores, lengths, marginals)


def _vjp_backward(ctx: Any, d_answer: Tensor) -> Any:
    """Linear in the direction; third derivatives of log Z by the scores are not available."""
    if ctx.needs_input_grad[0] or ctx.needs_input_grad[2]:
        raise ArgumentError(
            "third derivatives of log_partition are not available: log_partition and log_prob can "
            "be differentiated twice, marginals and what is computed from them once."
        )
    scores, lengths, marginals = ctx.saved_tensors
    d_direction = tree_vjp(scores, lengths, marginals, d_answer, ctx.projective, ctx.multi)
    return None, None, None, d_direction, None, None


tree_vjp.register_autograd(_vjp_backward, setup_context=_save_vjp)


@custom_op("arbora::tree_argmax", mutates_args=())
def tree_argmax(
    scores: Tensor, lengths: Tensor, projective: bool, multi: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Heads and labels (B, N) of the best trees, -1 in the padding, and their scores (B,)."""
    padding, packed = checked(scores, lengths, projective, multi)
    heads, labels, best = packed.best()
    given = np.zeros_like(heads) if labels is None else labels
    return (
        padding.heads(heads).to(scores.device),
        padding.heads(given).to(scores.device),
        tensor_like(best, scores),
    )


@tree_argmax.register_fake
def _(scores: Tensor, lengths: Tensor, projective: bool, multi: bool) -> Any:
    batch, side = scores.shape[:2]
    heads = scores.new_empty((batch, side - 1), dtype=torch.int64)
    return heads, torch.empty_like(heads), scores.new_empty(batch, dtype=torch.float64)


@custom_op("arbora::tree_kbest", mutates_args=())
def tree_kbest(
    scores: Tensor, lengths: Tensor, projective: bool, multi: bool, k: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Heads and labels (B, k, N), best first, and scores (B, k), -inf where there are fewer."""
    padding, packed = checked(scores, lengths, projective, multi)
    lists = packed.kbest(k)
    counts = np.array([len(trees) for trees in lists], dtype=np.int64)
    trees = [tree for one in lists for tree in one]
    heads = np.concatenate([tree.heads for tree in trees])
    labels = [tree.labels for tree in trees if tree.labels is not None]
    best = np.full((len(padding), k), -np.inf)
    best[np.arange(k) < counts[:, None]] = [tree.score for tree in trees]
    given = np.concatenate(labels) if labels else np.zeros_like(heads)
    return (
        padding.lists(heads, counts, k).to(scores.device),
        padding.lists(given, counts, k).to(scores.device),
        torch.from_numpy(best).to(scores.device),
    )


@tree_kbest.register_fake
def _(scores: Tensor, lengths: Tensor, projective: bool, multi: bool, k: int) -> Any:
    batch, side = scores.shape[:2]
    heads = scores.new_empty((batch, k, side - 1), dtype=torch.int64)
    return heads, torch.empty_like(heads), scores.new_empty((batch, k), dtype=torch.float64)


@custom_op("arbora::tree_sample", mutates_args=())
def tree_sample(
    scores: Tensor, lengths: Tensor, seed: Tensor, projective: bool, multi: bool, k: int
) -> tuple[Tensor, Tensor]:
    """Heads and labels (B, k, N) of exact draws, -1 in the padding."""
    padding, packed = checked(scores, lengths, projective, multi)
    drawn = packed.sample(k, int(seed))
    counts = np.full(len(padding), k)
    heads = np.concatenate([rows.reshape(-1) for rows, _ in drawn])
    labels = [rows.reshape(-1) for _, rows in drawn if rows is not None]
    given = np.concatenate(labels) if labels else np.zeros_like(heads)
    return (
        padding.lists(heads, counts, k).to(scores.device),
        padding.lists(given, counts, k).to(scores.device),
    )


@tree_sample.register_fake
def _(scores: Tensor, lengths: Tensor, seed: Tensor, projective: bool, multi: bool, k: int) -> Any:
    batch, side = scores.shape[:2]
    heads = scores.new_empty((batch, k, side - 1), dtype=torch.int64)
    return heads, torch.empty_like(heads)


def checked(
    scores: Tensor, lengths: Tensor, projective: bool, multi: bool
) -> tuple[Padding, Packed]:
    """The scores as the kernels take them; raises for the first sentence without a tree."""
    padding = Padding.of(scores, lengths)
    n_labels = scores.shape[3] if scores.dim() == 4 else None
    packed = Packed(
        padding.flat(as_numpy(scores)), padding.n_words, n_labels,
        "projective" if projective else "nonprojective", "multi" if multi else "single",
        torch.get_num_threads(),
    )  # fmt: skip
    for i, error in packed.check().items():
        raise located(i, error)
    return padding, packed


def tensor_like(numbers: Any, like: Tensor) -> Tensor:
    """A copy on the device of another tensor: answers of the kernels are read-only."""
    return torch.from_numpy(np.array(numbers)).to(like.device)
