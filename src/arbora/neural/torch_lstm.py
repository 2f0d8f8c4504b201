"""One direction of an LSTM over packed tokens, with the gradient written out.

PyTorch's own LSTM on processors adds the gradient of the weights up step by step, which for a few
sentences at once takes most of the time. Here it is one product over all tokens.
"""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["PackedLstm"]

Tensor = torch.Tensor


class PackedLstm(torch.autograd.Function):
    """States of all tokens from their inputs; gates in the order input, forget, candidate, output.

    `counts` has the number of sentences at each step, which falls. Backwards, a sentence begins at
    its last token.
    """

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, into: Tensor, again: Tensor, bias: Tensor, counts: list[int],
        reverse: bool,
    ) -> Tensor:  # fmt: skip
        """The hidden state of each token, (tokens, width)."""
        width = again.shape[1]
        gates = torch.addmm(bias, inputs, into.t())
        kept = [gates.new_empty(len(inputs), width) for _ in range(4)]
        before, cells_before, squashed, states = kept
        hidden, cell = (gates.new_zeros(counts[0], width) for _ in range(2))
        recurrent = again.t()
        for start, count in _steps(counts, reverse):
            here = slice(start, start + count)
            gate = gates[here]
            before[here], cells_before[here] = hidden[:count], cell[:count]
            gate.addmm_(before[here], recurrent)
            gate[:, : 2 * width].sigmoid_()
            gate[:, 2 * width : 3 * width].tanh_()
            gate[:, 3 * width :].sigmoid_()
            admitted, kept_share, candidate, shown = gate.split(width, dim=1)
            own = cell[:count]
            own.mul_(kept_share).addcmul_(admitted, candidate)
            torch.tanh(own, out=squashed[here])
            torch.mul(shown, squashed[here], out=states[here])
            hidden[:count] = states[here]
        ctx.save_for_backward(inputs, into, again, gates, before, cells_before, squashed)
        ctx.counts, ctx.reverse = counts, reverse
        return states

    @staticmethod
    def backward(ctx: Any, *d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of inputs and weights."""
        inputs, into, again, gates, before, cells_before, squashed = ctx.saved_tensors
        (d_states,) = d_outputs
        width, counts = again.shape[1], ctx.counts
        d_gates = torch.empty_like(gates)
        d_hidden, d_cell = (gates.new_zeros(counts[0], width) for _ in range(2))
        for start, count in reversed(_steps(counts, ctx.reverse)):
            here = slice(start, start + count)
            admitted, kept_share, candidate, shown = gates[here].split(width, dim=1)
            d_admitted, d_kept, d_candidate, d_shown = d_gates[here].split(width, dim=1)
            d_state = d_hidden[:count].add_(d_states[here])
            own = d_cell[:count]
            squash = squashed[here]
            own.addcmul_(d_state * shown, 1.0 - squash * squash)
            torch.mul(d_state, squash, out=d_shown)
            torch.mul(own, candidate, out=d_admitted)
            torch.mul(own, cells_before[here], out=d_kept)
            torch.mul(own, admitted, out=d_candidate)
            d_candidate.mul_(1.0 - candidate * candidate)
            d_admitted.mul_(admitted * (1.0 - admitted))
            d_kept.mul_(kept_share * (1.0 - kept_share))
            d_shown.mul_(shown * (1.0 - shown))
            own.mul_(kept_share)
            torch.mm(d_gates[here], again, out=d_hidden[:count])
        turned = d_gates.t()
        return d_gates @ into, turned @ inputs, turned @ before, d_gates.sum(dim=0), None, None


def _steps(counts: list[int], reverse: bool) -> list[tuple[int, int]]:
    """The first token and the number of tokens of each step, in the order of reading."""
    steps, start = [], 0
    for count in counts:
        steps.append((start, count))
        start += count
    return steps[::-1] if reverse else steps
