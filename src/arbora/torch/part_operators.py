"""The custom operators of parts: exact projective sums of second order, and belief propagation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.library import custom_op

from arbora.errors import ArgumentError
from arbora.inference import PackedLoopy, PackedSecondOrder
from arbora.scores import KINDS
from arbora.torch.operators import tensor_like
from arbora.torch.part_layout import PartLayout, is_list

__all__ = [
    "Engine",
    "loopy_arcs",
    "part_argmax",
    "part_counts",
    "part_kbest",
    "part_sample",
    "part_scores",
    "part_sums",
    "part_vjp",
]


class Engine(NamedTuple):
    """What the operators need to know beyond scores, in the order of their arguments."""

    exact: bool
    projective: bool
    multi: bool
    iterations: int = 1
    damping: float = 0.0
    parallel: bool = False
    automata: bool = False

    def packed(self, layout: PartLayout) -> Any:
        """The sums over a batch."""
        threads, root = torch.get_num_threads(), "multi" if self.multi else "single"
        if self.exact:
            return PackedSecondOrder(layout.scores, root, threads)  # type: ignore[arg-type]
        return PackedLoopy(
            layout.scores, "projective" if self.projective else "nonprojective",
            root,  # type: ignore[arg-type]  # one of the two
            self.iterations, self.damping, "parallel" if self.parallel else "serial",
            "automata" if self.automata else "pairs", threads,
        )  # fmt: skip


def _layout(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], engine: Engine,
) -> PartLayout:  # fmt: skip
    return PartLayout.of(arcs, lengths, values, rows, kinds, engine.projective, engine.multi)


def _empty_like(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [torch.empty(t.shape, dtype=t.dtype, device=t.device) for t in tensors]


@custom_op("arbora::part_sums", mutates_args=())
def part_sums(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], exact: bool, projective: bool, multi: bool, iterations: int,
    damping: float, parallel: bool, automata: bool,
) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:  # fmt: skip
    """log Z (B,), residuals (B, iterations), and marginals of arcs and of the given parts."""
    engine = Engine(exact, projective, multi, iterations, damping, parallel, automata)
    layout = _layout(arcs, lengths, values, rows, kinds, engine)
    packed = engine.packed(layout)
    sums = packed.sums()
    residuals = np.zeros((len(arcs), iterations)) if exact else packed.residuals
    return (
        tensor_like(sums.log_partition, arcs),
        tensor_like(residuals, arcs),
        layout.padding.padded(sums.marginals.arcs, arcs),
        [
            layout.given(KINDS[kind], sums.marginals.tables[KINDS[kind]], value)
            for kind, value in zip(kinds, values, strict=True)
        ],
    )


@part_sums.register_fake
def _(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], exact: bool, projective: bool, multi: bool, iterations: int,
    damping: float, parallel: bool, automata: bool,
) -> Any:  # fmt: skip
    batch = arcs.shape[0]
    return (
        arcs.new_empty(batch), arcs.new_empty(batch, iterations), *_empty_like([arcs]),
        _empty_like(values),
    )  # fmt: skip


@custom_op("arbora::loopy_arcs", mutates_args=())
def loopy_arcs(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], exact: bool, projective: bool, multi: bool, iterations: int,
    damping: float, parallel: bool, automata: bool,
) -> Tensor:  # fmt: skip
    """The marginals of arcs alone, which are cheaper."""
    engine = Engine(exact, projective, multi, iterations, damping, parallel, automata)
    layout = _layout(arcs, lengths, values, rows, kinds, engine)
    return layout.padding.padded(engine.packed(layout).arc_marginals(), arcs)


@loopy_arcs.register_fake
def _(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], exact: bool, projective: bool, multi: bool, iterations: int,
    damping: float, parallel: bool, automata: bool,
) -> Tensor:  # fmt: skip
    return _empty_like([arcs])[0]


@custom_op("arbora::part_vjp", mutates_args=())
def part_vjp(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], d_arcs: Tensor, d_values: Sequence[Tensor], exact: bool,
    projective: bool, multi: bool, iterations: int, damping: float, parallel: bool, automata: bool,
) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    """The gradient through marginals of arcs and, unless `d_values` is empty, of parts."""
    engine = Engine(exact, projective, multi, iterations, damping, parallel, automata)
    layout = _layout(arcs, lengths, values, rows, kinds, engine)
    d_tables = {KINDS[k]: layout.table(KINDS[k], d) for k, d in zip(kinds, d_values, strict=False)}
    flat = layout.padding.flat(d_arcs.detach().cpu().numpy())
    flat = np.where(layout.packed.flat > -np.inf, flat, 0.0)
    finite = np.isfinite(flat).all() and all(np.isfinite(t).all() for t in d_tables.values())
    if not finite:  # a gradient that overflowed stays one, for whoever scales the loss
        nothing = [torch.full_like(value, torch.nan) for value in values]
        return torch.full_like(arcs, torch.nan), nothing
    through = engine.packed(layout).vjp(flat, d_tables or None)
    return (
        layout.padding.padded(through.arcs, arcs),
        [
            layout.given(KINDS[kind], through.tables[KINDS[kind]], value)
            for kind, value in zip(kinds, values, strict=True)
        ],
    )


@part_vjp.register_fake
def _(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], d_arcs: Tensor, d_values: Sequence[Tensor], exact: bool,
    projective: bool, multi: bool, iterations: int, damping: float, parallel: bool, automata: bool,
) -> Any:  # fmt: skip
    return _empty_like([arcs])[0], _empty_like(values)


def _refuse(ctx: Any, *_: Any) -> Any:
    raise ArgumentError(
        "marginals can be differentiated once: second derivatives of marginals and of what is "
        "computed from them are not available."
    )


part_vjp.register_autograd(_refuse)


def _save(ctx: Any, inputs: Any, marginals: Tensor, part_marginals: Sequence[Tensor]) -> None:
    arcs, lengths, values, rows, ctx.kinds, *engine = inputs
    ctx.engine = tuple(engine)
    ctx.save_for_backward(arcs, lengths, marginals, *values, *rows, *part_marginals)
    ctx.set_materialize_grads(False)


def _through(ctx: Any, d_arcs: Tensor | None, d_values: Sequence[Tensor | None]) -> Any:
    """The gradient through the marginals."""
    arcs, lengths, _, *rest = ctx.saved_tensors
    count = len(ctx.kinds)
    values, rows = rest[:count], rest[count : 2 * count]
    given = []  # none at all spares the kernels the parts
    if any(d is not None for d in d_values):
        pairs = zip(values, d_values, strict=True)
        given = [torch.zeros_like(value) if d is None else d for value, d in pairs]
    d_arcs = torch.zeros_like(arcs) if d_arcs is None else d_arcs
    return part_vjp(arcs, lengths, values, rows, ctx.kinds, d_arcs, given, *ctx.engine)


def _save_sums(ctx: Any, inputs: Any, output: Any) -> None:
    _save(ctx, inputs, output[2], output[3])


def _sums_backward(
    ctx: Any, d_log: Tensor | None, _: Any, d_arcs: Tensor | None, d_parts: Sequence[Tensor | None]
) -> Any:
    """d log Z = marginals; of the Bethe approximation, too, where the messages have converged."""
    _, _, marginals, *rest = ctx.saved_tensors
    count = len(ctx.kinds)
    values, rows, own = rest[:count], rest[count : 2 * count], rest[2 * count :]
    answer: Any = (None, [None] * count)
    if d_log is not None:
        parts = [
            mu * _per_part(d_log, value, row).to(mu.dtype)
            for mu, value, row in zip(own, values, rows, strict=True)
        ]
        answer = (d_log[:, None, None] * marginals, parts)
    if d_arcs is not None or any(d is not None for d in d_parts):
        through = _through(ctx, d_arcs, d_parts)
        if d_log is None:
            answer = through
        else:
            sums = [a + b for a, b in zip(answer[1], through[1], strict=True)]
            answer = (answer[0] + through[0], sums)
    return answer[0], None, answer[1], [None] * count, _no_kinds(ctx), *[None] * len(ctx.engine)


def _no_kinds(ctx: Any) -> list[None] | None:
    """The gradient of `kinds`: torch takes an empty list for one of tensors."""
    return None if ctx.kinds else []


def _per_part(of_sentences: Tensor, value: Tensor, row: Tensor) -> Tensor:
    """A number per sentence, for every part of it."""
    if is_list(row):
        return of_sentences[row[:, 0]]
    return of_sentences.reshape(-1, *[1] * (value.dim() - 1))


part_sums.register_autograd(_sums_backward, setup_context=_save_sums)


def _save_arcs(ctx: Any, inputs: Any, output: Any) -> None:
    _save(ctx, inputs, output, [])


def _arcs_backward(ctx: Any, d_arcs: Tensor | None) -> Any:
    count = len(ctx.kinds)
    through = _through(ctx, d_arcs, [None] * count)
    return through[0], None, through[1], [None] * count, _no_kinds(ctx), *[None] * len(ctx.engine)


loopy_arcs.register_autograd(_arcs_backward, setup_context=_save_arcs)


# Scores of trees, linear in the scores of parts, and the adjoint.


@custom_op("arbora::part_scores", mutates_args=())
def part_scores(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], heads: Tensor, possible: Tensor,
) -> Tensor:  # fmt: skip
    """The scores of the parts of trees, (B, k), for heads (B, k, N); 0 for impossible ones."""
    layout = PartLayout.of(arcs, lengths, values, rows, kinds, False, True)
    answer = np.zeros(possible.shape)
    numbers = [value.detach().double().cpu().numpy().reshape(-1) for value in values]
    for b, k, tree in _trees(layout, heads, possible):
        for kind, given in zip(kinds, numbers, strict=True):
            found = layout.of_tree(KINDS[kind], b, tree)
            answer[b, k] += given[found[found >= 0]].sum()
    return tensor_like(answer, arcs)


@part_scores.register_fake
def _(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], heads: Tensor, possible: Tensor,
) -> Tensor:  # fmt: skip
    return arcs.new_empty(possible.shape)


@custom_op("arbora::part_counts", mutates_args=())
def part_counts(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], heads: Tensor, possible: Tensor, weights: Tensor,
) -> list[Tensor]:  # fmt: skip
    """How often the trees have each part, times the weights (B, k) of the trees."""
    layout = PartLayout.of(arcs, lengths, values, rows, kinds, False, True)
    answers = [np.zeros(value.numel()) for value in values]
    shares = weights.detach().cpu().numpy()
    for b, k, tree in _trees(layout, heads, possible):
        for kind, answer in zip(kinds, answers, strict=True):
            found = layout.of_tree(KINDS[kind], b, tree)
            answer[found[found >= 0]] += shares[b, k]
    return [
        torch.from_numpy(answer).reshape(value.shape).to(value.device, value.dtype)
        for answer, value in zip(answers, values, strict=True)
    ]


@part_counts.register_fake
def _(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], heads: Tensor, possible: Tensor, weights: Tensor,
) -> Any:  # fmt: skip
    return _empty_like(values)


def _trees(layout: PartLayout, heads: Tensor, possible: Tensor) -> Any:
    """Those trees that exist, and their places."""
    given = heads.cpu().numpy()
    for b, k in np.argwhere(possible.cpu().numpy()).tolist():
        yield b, k, given[b, k, : layout.padding.n_words[b]]


def _save_linear(ctx: Any, inputs: Any, output: Any) -> None:
    arcs, lengths, values, rows, ctx.kinds, *others = inputs
    ctx.save_for_backward(arcs, lengths, *values, *rows, *others)


def _linear(ctx: Any) -> tuple[Any, ...]:
    arcs, lengths, *rest = ctx.saved_tensors
    count = len(ctx.kinds)
    return arcs, lengths, rest[:count], rest[count : 2 * count], ctx.kinds, *rest[2 * count :]


def _scores_backward(ctx: Any, weights: Tensor) -> Any:
    nothing = [None] * len(ctx.kinds)
    return None, None, part_counts(*_linear(ctx), weights), nothing, None, None, None


def _counts_backward(ctx: Any, directions: Sequence[Tensor]) -> Any:
    arcs, lengths, _, rows, kinds, heads, possible, _ = _linear(ctx)
    along = part_scores(arcs, lengths, directions, rows, kinds, heads, possible)
    nothing = [None] * len(ctx.kinds)
    return None, None, nothing, nothing, None, None, None, along


part_scores.register_autograd(_scores_backward, setup_context=_save_linear)
part_counts.register_autograd(_counts_backward, setup_context=_save_linear)


# Trees of the exact distribution.


@custom_op("arbora::part_argmax", mutates_args=())
def part_argmax(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], multi: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Heads (B, N) of the best projective trees, and their scores."""
    engine = Engine(True, True, multi)
    layout = _layout(arcs, lengths, values, rows, kinds, engine)
    heads, scores = engine.packed(layout).argmax()
    return layout.padding.heads(heads).to(arcs.device), tensor_like(scores, arcs)


@part_argmax.register_fake
def _(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], multi: bool,
) -> Any:  # fmt: skip
    batch, side = arcs.shape[:2]
    return arcs.new_empty((batch, side - 1), dtype=torch.int64), arcs.new_empty(batch)


@custom_op("arbora::part_kbest", mutates_args=())
def part_kbest(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], multi: bool, k: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Heads (B, k, N), best first, and scores (B, k), -inf where there are fewer."""
    engine = Engine(True, True, multi)
    layout = _layout(arcs, lengths, values, rows, kinds, engine)
    heads, scores, counts = engine.packed(layout).kbest(k)
    best = np.full((len(arcs), k), -np.inf)
    best[np.arange(k) < counts[:, None]] = scores
    return layout.padding.lists(heads, counts, k).to(arcs.device), tensor_like(best, arcs)


@part_kbest.register_fake
def _(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], multi: bool, k: int,
) -> Any:  # fmt: skip
    batch, side = arcs.shape[:2]
    return arcs.new_empty((batch, k, side - 1), dtype=torch.int64), arcs.new_empty(batch, k)


@custom_op("arbora::part_sample", mutates_args=())
def part_sample(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], seed: Tensor, multi: bool, k: int,
) -> Tensor:  # fmt: skip
    """Heads (B, k, N) of exact draws."""
    engine = Engine(True, True, multi)
    layout = _layout(arcs, lengths, values, rows, kinds, engine)
    heads = engine.packed(layout).sample(k, int(seed))
    counts = np.full(len(arcs), k)
    return layout.padding.lists(heads, counts, k).to(arcs.device)


@part_sample.register_fake
def _(
    arcs: Tensor, lengths: Tensor, values: Sequence[Tensor], rows: Sequence[Tensor],
    kinds: Sequence[int], seed: Tensor, multi: bool, k: int,
) -> Tensor:  # fmt: skip
    batch, side = arcs.shape[:2]
    return arcs.new_empty((batch, k, side - 1), dtype=torch.int64)
