"""Weights, word clusters and engines as stored in model files."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.features import WordClusters
from arbora.inference.engines import FirstOrderEngine, first_order_engine
from arbora.models.checks import check_shares
from arbora.models.tensor_file import Tensors, with_zeros
from arbora.types import Root, TreeClass

__all__ = ["stored_clusters", "stored_engine", "stored_weights"]


def stored_weights(tensors: Tensors, name: str, size: int) -> NDArray[np.float32]:
    """Weights that are stored densely or sparsely.

    The options determine the amount of memory, not the file.
    """
    if name in tensors:
        found: NDArray[np.float32] = tensors[name]
        if len(found) != size:
            raise ModelError("the number of weights does not fit the options.")
        return found
    return with_zeros(tensors[f"{name}.index"], tensors[f"{name}.value"], size)


def stored_clusters(text: NDArray[np.uint8] | None) -> WordClusters | None:
    """Word clusters from lines of cluster, form and share."""
    if text is None:
        return None
    rows = [line.split("\t") for line in text.tobytes().decode().split("\n")]
    clusters = WordClusters((form, cluster, float(share)) for cluster, form, share in rows)
    check_shares(clusters)
    return clusters


def stored_engine(trees: TreeClass, root: Root) -> FirstOrderEngine:
    """The engine of a stored pruner; unknown names raise an error."""
    if trees not in get_args(TreeClass) or root not in get_args(Root):
        raise ModelError(f"the model's pruner has invalid trees {trees!r} or root {root!r}.")
    return first_order_engine(trees, root)
