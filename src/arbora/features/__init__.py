"""Features of sentences: hashed templates, word clusters and the arc filter."""

from arbora.features.arc_filter import FILTER_SIZE, learn_arc_filter, no_arc_filter
from arbora.features.clusters import WordClusters, read_clusters
from arbora.features.encoding import Encoded, Encoder, FeatureSettings, TemplateSet

__all__ = [
    "FILTER_SIZE",
    "Encoded",
    "Encoder",
    "FeatureSettings",
    "TemplateSet",
    "WordClusters",
    "learn_arc_filter",
    "no_arc_filter",
    "read_clusters",
]
