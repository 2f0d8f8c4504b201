"""Distributions over trees as PyTorch layers: exact sums, gradients and trees of padded batches.

The classes of `arbora` over tensors, with the extra `torch`: `pip install "arbora[torch]"`.
"""

try:
    import torch as _torch  # noqa: F401  # only to say what is missing
except ImportError as problem:
    raise ImportError("arbora.torch requires PyTorch: pip install 'arbora[torch]'.") from problem

from arbora.torch.convert import (
    arcs_of_heads,
    from_modifier_head,
    from_root_on_diagonal,
    heads_of_arcs,
    to_modifier_head,
    to_root_on_diagonal,
)
from arbora.torch.parts import Parts
from arbora.torch.second_order import LoopyTrees, SecondOrderTrees
from arbora.torch.trees import ProjectiveTrees, Samples, SpanningTrees, Trees

__all__ = [
    "LoopyTrees",
    "Parts",
    "ProjectiveTrees",
    "Samples",
    "SecondOrderTrees",
    "SpanningTrees",
    "Trees",
    "arcs_of_heads",
    "from_modifier_head",
    "from_root_on_diagonal",
    "heads_of_arcs",
    "to_modifier_head",
    "to_root_on_diagonal",
]
