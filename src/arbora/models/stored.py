"""Weights and word clusters as model files store them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.features import WordClusters
from arbora.models.checks import check_shares
from arbora.models.tensor_file import Tensors, with_zeros

__all__ = ["stored_clusters", "stored_weights"]


def stored_weights(tensors: Tensors, name: str, size: int) -> NDArray[np.float32]:
    """Weights that are stored whole, or only where they are not zero.

    What the options ask for, and not what the file says, is how much memory is taken.
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
