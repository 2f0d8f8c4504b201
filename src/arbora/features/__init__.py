"""Features of sentences: hashed templates, word clusters and the arc filter."""

from arbora.features.arc_filter import FILTER_SIZE, learn_arc_filter, no_arc_filter
from arbora.features.clusters import WordClusters, read_clusters, write_clusters
from arbora.features.edge_clusters import (
    EDGE_CLUSTERS,
    EdgeClusterFunction,
    EdgeClusters,
    StoredEdgeClusters,
    checked_shares,
    register_edge_clusters,
)
from arbora.features.encoding import (
    Encoded,
    Encoder,
    FeatureSettings,
    TemplateSet,
    count_features,
)
from arbora.features.sources import SourceClusters

__all__ = [
    "EDGE_CLUSTERS",
    "FILTER_SIZE",
    "EdgeClusterFunction",
    "EdgeClusters",
    "Encoded",
    "Encoder",
    "FeatureSettings",
    "SourceClusters",
    "StoredEdgeClusters",
    "TemplateSet",
    "WordClusters",
    "checked_shares",
    "count_features",
    "learn_arc_filter",
    "no_arc_filter",
    "read_clusters",
    "register_edge_clusters",
    "write_clusters",
]
