"""Clusters of words from their vectors: k-means, and names that tell which clusters are close."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.features.clusters import WordClusters
from arbora.features.word_vectors import WordVectors

__all__ = ["cluster_words", "names_of_centres"]

Floats = NDArray[np.float32]
# Called after every pass: the pass (from 1), the share of words that changed their cluster.
Progress = Callable[[int, float], object]

MOST_CLUSTERS = 10_000  # the binary tree needs the distances of all pairs: 400 MB

_ROWS = 4096  # words whose distances are computed at once: 16 MB with 1,000 clusters
_SAMPLE = 50  # words per cluster for the choice of the first centres
_SETTLED = 0.001  # share of words that change, at which k-means ends


def cluster_words(
    vectors: WordVectors,
    clusters: int = 1000,
    seed: int = 0,
    *,
    passes: int = 20,
    threads: int = 1,
    progress: Progress | None = None,
) -> WordClusters:
    """Puts every word into one of `clusters` clusters by k-means.

    The vectors are scaled to length 1. The first centres are chosen by k-means++ from a random
    sample. The clusters are named by bit strings: two names share a prefix as long as the path
    that the clusters share in a binary tree of the centres (Ward's method). Parser and tagger use
    prefixes as coarser clusters, as with Brown clusters. The same seed gives the same clusters,
    with any number of threads.
    """
    if not isinstance(clusters, int) or not 2 <= clusters <= min(len(vectors), MOST_CLUSTERS):
        raise ArgumentError(
            f"clusters must be a whole number from 2 to the number of words, {len(vectors):,}, and "
            f"at most {MOST_CLUSTERS:,}, not {clusters!r}."
        )
    points = _of_length_one(vectors.vectors)
    random = np.random.default_rng(seed)
    centres = _first_centres(points, clusters, random)
    labels = np.full(len(points), -1)
    with ThreadPoolExecutor(threads) as pool:
        for number in range(1, passes + 1):
            before = labels
            labels, distances = _nearest(points, centres, pool)
            changed = float((labels != before).mean())
            if progress is not None:
                progress(number, changed)
            if changed < _SETTLED:
                break
            centres = _means(points, labels, distances, clusters)
    names = names_of_centres(centres)
    return WordClusters(
        (word, names[label], 1.0)
        for word, label in zip(vectors.words, labels.tolist(), strict=True)
    )


def _of_length_one(vectors: Floats) -> Floats:
    """The vectors scaled to length 1; zeros stay."""
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
    answer: Floats = (vectors / np.maximum(lengths, 1e-30)[:, None]).astype(np.float32)
    return answer


def _first_centres(points: Floats, count: int, random: np.random.Generator) -> Floats:
    """k-means++ (Arthur & Vassilvitskii 2007) over a sample of the points.

    SciPy's computes the distances to all centres again for each new one, which is too slow for
    1,000 centres.
    """
    size = min(len(points), _SAMPLE * count)
    sample = points[np.sort(random.choice(len(points), size, replace=False))]
    chosen = [int(random.integers(size))]
    distances = np.full(size, np.inf)
    for _ in range(count - 1):
        apart = sample - sample[chosen[-1]]
        distances = np.minimum(distances, np.einsum("nd,nd->n", apart, apart, dtype=np.float64))
        distances[chosen] = 0.0
        total = np.cumsum(distances)
        if total[-1] > 0.0:
            place = int(np.searchsorted(total, random.random() * total[-1], side="right"))
            place = min(place, size - 1)
        else:  # fewer different points than centres
            place = int(random.integers(size))
        chosen.append(place)
    return sample[chosen]


def _nearest(
    points: Floats, centres: Floats, pool: ThreadPoolExecutor
) -> tuple[NDArray[np.int64], Floats]:
    """The nearest centre of every point, and the squared distance to it."""
    from scipy.cluster.vq import vq

    def answer(rows: slice) -> tuple[NDArray[np.int64], Floats]:
        labels, distances = vq(points[rows], centres, check_finite=False)
        return labels.astype(np.int64), distances.astype(np.float32)

    parts = list(pool.map(answer, _slices(len(points))))
    labels, distances = zip(*parts, strict=True)
    return np.concatenate(labels), np.concatenate(distances)


def _slices(count: int) -> Iterator[slice]:
    return (slice(first, first + _ROWS) for first in range(0, count, _ROWS))


def _means(points: Floats, labels: NDArray[np.int64], distances: Floats, count: int) -> Floats:
    """The mean of every cluster; an empty one gets a point that is far from its centre."""
    from scipy.sparse import csr_array

    sizes = np.bincount(labels, minlength=count)
    ones = np.ones(len(points))
    belongs = csr_array((ones, (labels, np.arange(len(points)))), shape=(count, len(points)))
    means = (belongs @ points.astype(np.float64)) / np.maximum(sizes, 1)[:, None]
    empty = np.flatnonzero(sizes == 0)
    far = np.argsort(-distances, kind="stable")[: len(empty)]
    means[empty] = points[far]
    answer: Floats = means.astype(np.float32)
    return answer


def names_of_centres(centres: Floats) -> list[str]:
    """A bit string for every centre: its path in the binary tree of Ward's method.

    No name is a prefix of another.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    count = len(centres)
    merged = linkage(pdist(centres.astype(np.float64)), method="ward")
    names = [""] * (2 * count - 1)
    for step in range(len(merged) - 1, -1, -1):  # the last is the root
        for bit in (0, 1):
            names[int(merged[step, bit])] = f"{names[count + step]}{bit}"
    return names[:count]
