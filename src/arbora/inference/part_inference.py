"""Ways from scores of second order to marginals, exact or approximate, behind one interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from arbora.inference.packed_loopy import GrandparentFactors, PackedLoopy
from arbora.inference.packed_second_order import PackedSecondOrder, PartArrays, SecondOrderSums
from arbora.parts import PackedParts, PartKind
from arbora.types import FloatArray, Root, TreeClass

__all__ = ["Factors", "Infer", "PartInference", "exact_inference", "loopy_inference"]

Factors = GrandparentFactors


class PartInference(Protocol):
    """Marginals of arcs and parts, and the gradient through them."""

    parts: PackedParts

    def sums(self) -> SecondOrderSums: ...

    def arc_beliefs(self, *, way_back: bool = False) -> FloatArray:
        """The marginals of arcs; `way_back` says that a `vjp` comes next."""
        ...

    def vjp(
        self, d_arcs: FloatArray, d_tables: dict[PartKind, FloatArray] | None = None
    ) -> PartArrays: ...


Infer = Callable[[PackedParts], PartInference]


def exact_inference(root: Root) -> Infer:
    """Sums over projective trees."""
    return lambda parts: PackedSecondOrder(parts, root)


def loopy_inference(
    trees: TreeClass, root: Root, iterations: int, damping: float, factors: Factors
) -> Infer:
    """Belief propagation over trees of a class."""
    return lambda parts: PackedLoopy(parts, trees, root, iterations, damping, factors=factors)
