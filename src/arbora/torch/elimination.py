"""Sums over spanning trees on the scores' own device: a batched elimination in plain torch.

The elimination without subtraction of `cpp/include/arbora/inference/elimination.hpp`, for all
sentences at once (docs/numbers.md). It runs on plain numbers and proves that none was lost by
underflow. A batch that has no such proof goes to the host's kernels, which are exact at any scale,
and so do sentences without a tree, whose errors the host explains.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Elimination", "device_sums", "device_vjp", "uses_device"]

_LEAST = -650.0  # of the sum of the negative logarithms: products of all pivots stay normal numbers


def uses_device(scores: Tensor) -> bool:
    """Whether sums are computed where the scores are; those on the CPU use the compiled kernels."""
    return scores.is_cuda


def device_sums(
    scores: Tensor, lengths: Tensor, projective: bool, multi: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor] | None:
    """log Z, log Z without the shifts, the shifts and the marginals; None if the host has to."""
    if projective or not uses_device(scores):
        return None
    scores = scores.double()
    found = Elimination.of(scores, lengths, multi)
    if found is None:
        return None
    marginals = _expanded(scores, found.marginals())
    shifts = torch.nn.functional.pad(found.shift, (1, 0))
    return found.relative + found.shift.sum(1), found.relative.clone(), shifts, marginals


def device_vjp(
    scores: Tensor, lengths: Tensor, marginals: Tensor, direction: Tensor, projective: bool,
    multi: bool,
) -> Tensor | None:  # fmt: skip
    """The Jacobian of the marginals times a direction; None if the host has to compute it."""
    if projective or not uses_device(scores) or not bool(direction.isfinite().all()):
        return None
    scores, marginals, direction = scores.double(), marginals.double(), direction.double()
    # Centred per word, so that directions with a large constant do not cancel.
    mean = (direction * marginals).sum((1, 3) if scores.dim() == 4 else 1, keepdim=True)
    centred = torch.where(marginals > 0, direction - mean, 0.0)
    if scores.dim() == 3:
        found = Elimination.of(scores, lengths, multi, centred)
        return None if found is None else found.vjp()
    shares = _label_shares(scores)
    of_arcs = (shares * centred).sum(3)
    found = Elimination.of(scores, lengths, multi, of_arcs)
    if found is None:
        return None
    return found.vjp().unsqueeze(3) * shares + marginals * (centred - of_arcs.unsqueeze(3))


def _label_shares(scores: Tensor) -> Tensor:
    """P(label | arc); 0 for forbidden arcs."""
    top = scores.amax(3, keepdim=True)
    weights = torch.where(top == -torch.inf, 0.0, (scores - top).exp())
    return weights / weights.sum(3, keepdim=True).clamp(min=1.0)  # the best label weighs 1


def _expanded(scores: Tensor, arcs: Tensor) -> Tensor:
    return arcs if scores.dim() == 3 else arcs.unsqueeze(3) * _label_shares(scores)


class _Tape(NamedTuple):
    """Pivots and shares of step k: `w[R, k] / s`, `r[k] / s`, and their tangents."""

    s: Tensor
    p: Tensor
    q: Tensor
    ds: Tensor | None
    dp: Tensor | None
    dq: Tensor | None


class Elimination:
    """The words of all sentences, eliminated one after the other; the last is each sentence's own.

    Tensors are over words, (B, N, N) [head, modifier] and (B, N); `order` brings each sentence's
    last word v to the end. Padding is neutral: words whose only head is v (single) or the root.
    """

    shift: Tensor  # (B, N), in the words' own order
    relative: Tensor  # log Z minus the sum of the shifts

    @classmethod
    def of(
        cls, scores: Tensor, lengths: Tensor, multi: bool, direction: Tensor | None = None
    ) -> Elimination | None:
        """The finished elimination, or None if it is not proved to be right."""
        arcs = scores if scores.dim() == 3 else scores.logsumexp(3)
        self = cls()
        if not self._prepare(arcs, lengths.to(arcs.device), multi):
            return None
        self._start(direction)
        self._forward()
        return self if bool(self._is_valid()) else None

    def _prepare(self, arcs: Tensor, lengths: Tensor, multi: bool) -> bool:
        """Weights and the last words; False if some sentence has no tree, or a bad score."""
        self.multi, self.side, n = multi, arcs.shape[1], arcs.shape[1] - 1
        self.words = torch.arange(n, device=arcs.device) < lengths[:, None]
        both = self.words[:, :, None] & self.words[:, None, :]
        both = both & ~torch.eye(n, dtype=torch.bool, device=arcs.device)
        inner = torch.where(both, arcs[:, 1:, 1:], -torch.inf)
        root = torch.where(self.words, arcs[:, 0, 1:], -torch.inf)
        best = torch.maximum(inner.amax(1), root) if multi else inner.amax(1)
        shift = torch.where(best == -torch.inf, 0.0, best)
        roots = root - shift
        rho = roots.amax(1) * (0.0 if multi else 1.0)
        self.w, self.r = (inner - shift[:, None]).exp(), (roots - rho[:, None]).exp()
        self.rho, self.shift = rho, shift
        reach = self._reach(self.w > 0)
        if multi:
            last = torch.full_like(lengths, n - 1)
            reached = ((self.r > 0)[:, :, None] & reach).any(1)
            possible = (reached | ~self.words).all()
            self.r = torch.where(self.words, self.r, 1.0)
        else:
            everything = (reach | ~self.words[:, None, :]).all(2) & self.words
            candidates = torch.where(everything, self.r, -1.0)
            possible = (candidates.amax(1) > 0).all()
            last = candidates.argmax(1)
            leaf = torch.nn.functional.one_hot(last, n).to(self.w.dtype)[:, :, None]
            self.w = torch.where(self.words[:, None, :], self.w, leaf)
        order = torch.arange(n, device=arcs.device).repeat(len(arcs), 1)
        order.scatter_(1, last[:, None], n - 1)
        order[:, -1] = last
        self.order = order
        return bool(possible & shift.isfinite().all() & rho.isfinite().all())

    @staticmethod
    def _reach(arc: Tensor) -> Tensor:
        """Which words are descendants of which, (B, N, N), themselves included."""
        n = arc.shape[1]
        reach = arc.double() + torch.eye(n, dtype=torch.float64, device=arc.device)
        steps = 1
        while steps < n:
            reach = (reach @ reach > 0).double()
            steps *= 2
        return reach > 0

    def _start(self, direction: Tensor | None) -> None:
        """Weights in the order of elimination, and their tangents along a direction."""
        self.first_w, self.first_r = self._ordered(self.w), self.r.gather(1, self.order)
        self.w, self.r = self.first_w.clone(), self.first_r.clone()
        self.g = None
        self.dw: Tensor | None = None
        self.dr: Tensor | None = None
        if direction is not None:
            inner = self._ordered(direction[:, 1:, 1:])
            root = direction[:, 0, 1:].gather(1, self.order)
            self.g = (inner, root)
            padding = ~self.words.gather(1, self.order)
            self.dw = (inner * self.first_w).masked_fill(padding[:, None, :], 0.0)
            self.dr = (root * self.first_r).masked_fill(padding, 0.0)

    def _ordered(self, square: Tensor) -> Tensor:
        rows = square.gather(1, self.order[:, :, None].expand_as(square))
        return rows.gather(2, self.order[:, None, :].expand_as(square))

    def _forward(self) -> None:
        """Removes words 0 to N-2: heads of k become heads of k's modifiers."""
        w, r, dw, dr = self.w, self.r, self.dw, self.dr
        self.tape: list[_Tape] = []
        for k in range(w.shape[1] - 1):
            rest = slice(k + 1, None)
            column, row = w[:, rest, k], w[:, k, rest]
            s = column.sum(1) + (r[:, k] if self.multi else 0.0)
            p, q = column / s[:, None], r[:, k] / s
            ds = dp = dq = None
            if dw is not None and dr is not None:
                d_row = dw[:, k, rest]
                ds = dw[:, rest, k].sum(1) + (dr[:, k] if self.multi else 0.0)
                dp = (dw[:, rest, k] - p * ds[:, None]) / s[:, None]
                dq = (dr[:, k] - q * ds) / s
                dw[:, rest, rest] += _outer(dp, row) + _outer(p, d_row)
                dw[:, rest, rest].diagonal(dim1=1, dim2=2).zero_()
                dr[:, rest] += dq[:, None] * row + q[:, None] * d_row
            w[:, rest, rest] += _outer(p, row)
            w[:, rest, rest].diagonal(dim1=1, dim2=2).zero_()
            r[:, rest] += q[:, None] * row
            self.tape.append(_Tape(s, p, q, ds, dp, dq))
        logs = [step.s.log() for step in self.tape]
        self.logs = torch.stack([*logs, r[:, -1].log()], 1)
        self.relative = self.rho + self.logs.sum(1)

    def _is_valid(self) -> Tensor:
        lost = self.logs.clamp(max=0.0).sum(1)
        return (self.logs.isfinite().all(1) & (lost > _LEAST)).all()

    def marginals(self) -> Tensor:
        """(B, N+1, N+1), exactly 0 where the weights are."""
        d_w, d_r, _, _ = self._reverse(tangents=False)
        return self._assembled(self.first_w * d_w, self.first_r * d_r)

    def vjp(self) -> Tensor:
        """The tangents of the marginals along the direction, (B, N+1, N+1)."""
        d_w, d_r, t_w, t_r = self._reverse(tangents=True)
        assert self.g is not None
        assert t_w is not None
        assert t_r is not None
        inner = self.g[0] * (self.first_w * d_w) + self.first_w * t_w
        root = self.g[1] * (self.first_r * d_r) + self.first_r * t_r
        return self._assembled(inner, root)

    def _reverse(self, tangents: bool) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
        """d log Z by the first weights, G and G_r, and the tangents of these."""
        w, r = self.w, self.r
        g, g_r = torch.zeros_like(w), torch.zeros_like(r)
        t_g, t_r = torch.zeros_like(w), torch.zeros_like(r)
        g_r[:, -1] = 1.0 / r[:, -1]
        if tangents and self.dr is not None:
            t_r[:, -1] = -self.dr[:, -1] / r[:, -1] ** 2
        for k in range(w.shape[1] - 2, -1, -1):
            rest = slice(k + 1, None)
            s, p, q, ds, dp, dq = self.tape[k]
            row, below, roots = w[:, k, rest], g[:, rest, rest], g_r[:, rest]
            d_h = _times(below, row)
            d_r = (roots * row).sum(1)
            t = (p * d_h).sum(1) + q * d_r
            g[:, k, rest] = _times(below.mT, p) + q[:, None] * roots
            g[:, rest, k] = (d_h - t[:, None] + 1.0).clamp(min=0.0) / s[:, None]
            g_r[:, k] = ((d_r - t + 1.0).clamp(min=0.0) if self.multi else d_r) / s
            if tangents and self.dw is not None:
                assert ds is not None
                assert dp is not None
                assert dq is not None
                d_row, t_below, t_roots = self.dw[:, k, rest], t_g[:, rest, rest], t_r[:, rest]
                td_h = _times(t_below, row) + _times(below, d_row)
                td_r = (t_roots * row).sum(1) + (roots * d_row).sum(1)
                tt = (dp * d_h + p * td_h).sum(1) + dq * d_r + q * td_r
                t_g[:, k, rest] = (
                    _times(below.mT, dp) + _times(t_below.mT, p)
                    + dq[:, None] * roots + q[:, None] * t_roots
                )  # fmt: skip
                t_g[:, rest, k] = (td_h - tt[:, None] - g[:, rest, k] * ds[:, None]) / s[:, None]
                own = td_r - tt if self.multi else td_r
                t_r[:, k] = (own - g_r[:, k] * ds) / s
        return (g, g_r, t_g, t_r) if tangents else (g, g_r, None, None)

    def _assembled(self, inner: Tensor, root: Tensor) -> Tensor:
        """Words back in their own order, with the root symbol in front and zeros elsewhere."""
        back = self._ordered(inner)  # the order is a swap, its own inverse
        back = torch.where(self.words[:, None, :] & self.words[:, :, None], back, 0.0)
        first = torch.where(self.words, root.gather(1, self.order), 0.0)
        answer = inner.new_zeros(len(inner), self.side, self.side)
        answer[:, 0, 1:] = first
        answer[:, 1:, 1:] = back
        return answer


def _outer(heads: Tensor, modifiers: Tensor) -> Tensor:
    return heads[:, :, None] * modifiers[:, None, :]


def _times(square: Tensor, vector: Tensor) -> Tensor:
    return (square @ vector[:, :, None]).squeeze(2)
