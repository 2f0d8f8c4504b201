"""Weights, word clusters and engines as stored in model files."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ModelError
from arbora.features import (
    EDGE_CLUSTERS,
    EdgeClusters,
    FeatureSettings,
    StoredEdgeClusters,
    WordClusters,
)
from arbora.inference.engines import FirstOrderEngine, first_order_engine
from arbora.models.checks import check_shares
from arbora.models.quantise import CODES, VALUES, decoded
from arbora.models.tensor_file import Tensors, with_zeros
from arbora.types import Root, TreeClass

__all__ = [
    "EDGES",
    "GROUPED_CLUSTERS",
    "WORD_CLUSTERS",
    "clusters_to_store",
    "describe_edge_clusters",
    "stored_clusters",
    "stored_edge_clusters",
    "stored_engine",
    "stored_weights",
]

WORD_CLUSTERS, GROUPED_CLUSTERS = "encoder.word_clusters", "encoder.grouped_clusters"
EDGES = "edge_clusters."  # before the names of their tensors


def stored_weights(tensors: Tensors, name: str, size: int) -> NDArray[np.float32]:
    """Weights that are stored densely, as codes or sparsely.

    The options determine the amount of memory, not the file.
    """
    if name in tensors:
        found: NDArray[np.float32] = tensors[name]
        if len(found) != size:
            raise ModelError("the number of weights does not fit the options.")
        return found
    if f"{name}.{CODES}" in tensors:
        return decoded(tensors[f"{name}.{CODES}"], tensors[f"{name}.{VALUES}"], size)
    return with_zeros(tensors[f"{name}.index"], tensors[f"{name}.value"], size)


def clusters_to_store(clusters: WordClusters) -> Tensors:
    """Lines of a cluster and its forms, or of cluster, form and share if some forms have several.

    The former are much smaller.
    """
    text = clusters.to_bytes()
    if text is not None:
        return {GROUPED_CLUSTERS: np.frombuffer(text, dtype=np.uint8)}
    lines = [f"{cluster}\t{form}\t{share!r}" for form, cluster, share in clusters.rows]
    return {WORD_CLUSTERS: np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)}


def stored_clusters(
    text: NDArray[np.uint8] | None,
    settings: FeatureSettings,
    grouped: NDArray[np.uint8] | None = None,
) -> WordClusters | None:
    """Word clusters from the lines of `clusters_to_store`, looked up as the settings say."""
    if grouped is not None:
        return WordClusters.from_bytes(grouped.tobytes(), settings.wide_clusters)
    if text is None:
        return None
    rows = [line.split("\t") for line in text.tobytes().decode().split("\n")]
    clusters = WordClusters(
        ((form, cluster, float(share)) for cluster, form, share in rows), settings.wide_clusters
    )
    check_shares(clusters)
    return clusters


def describe_edge_clusters(clusters: EdgeClusters, tensors: Tensors) -> dict[str, Any]:
    """The description of edge clusters; their arrays are added to `tensors`."""
    if not isinstance(clusters, StoredEdgeClusters):
        raise ModelError(
            "a model file cannot hold these edge clusters: register a class for them with "
            "arbora.features.register_edge_clusters."
        )
    description, arrays = clusters.state()
    tensors |= {f"{EDGES}{name}": np.ascontiguousarray(v) for name, v in arrays.items()}
    return {"kind": clusters.kind, **description}


def stored_edge_clusters(
    description: dict[str, Any] | None, tensors: Tensors
) -> StoredEdgeClusters | None:
    """The edge clusters in a file, if it has any."""
    if description is None:
        return None
    import arbora.models.hidden_clusters  # noqa: F401  # registers itself; it imports this module

    kind = description["kind"]
    if kind not in EDGE_CLUSTERS:
        raise ModelError(
            f"the model has edge clusters of unknown kind {kind!r}: import the module that "
            "registers them with arbora.features.register_edge_clusters."
        )
    own = {name.removeprefix(EDGES): v for name, v in tensors.items() if name.startswith(EDGES)}
    return EDGE_CLUSTERS[kind].from_state(description, own)


def stored_engine(trees: TreeClass, root: Root) -> FirstOrderEngine:
    """The engine of a stored pruner; unknown names raise an error."""
    if trees not in get_args(TreeClass) or root not in get_args(Root):
        raise ModelError(f"the model's pruner has invalid trees {trees!r} or root {root!r}.")
    return first_order_engine(trees, root)
