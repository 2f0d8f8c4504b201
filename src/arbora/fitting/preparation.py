"""Conversion of gold trees to a class of trees: single-root, projective. No sentence is dropped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arbora.fitting.treebank import Treebank
from arbora.inference import ProjectiveTrees
from arbora.models.model import Model
from arbora.types import IntArray, Root

__all__ = [
    "choose_root",
    "multi_root_share",
    "projectivise",
    "projectivise_heads",
    "root_labels",
    "single_rooted",
]

_APPRECIABLE = 0.01  # minimum share of multi-root sentences for a multi-root model


def multi_root_share(treebank: Treebank) -> float:
    """The share of sentences with more than one root word."""
    if not len(treebank):
        return 0.0
    roots = np.add.reduceat((treebank.heads == 0).astype(np.int64), treebank.first_word[:-1])
    return float((roots > 1).mean())


def root_labels(treebank: Treebank, names: Sequence[str], start: Model | None = None) -> list[str]:
    """The labels of arcs from the root, if no other arc has them; else none.

    A model that training continues from must have found the same.
    """
    known = treebank.labels >= 0
    at_root = known & (treebank.heads == 0)
    elsewhere = known & (treebank.heads > 0)
    found = np.unique(treebank.labels[at_root])
    if np.isin(treebank.labels[elsewhere], found).any():
        return []
    labels = sorted(names[label] for label in found.tolist())
    return labels if start is None or start.card.get("root_labels") == labels else []


def choose_root(treebank: Treebank) -> Root:
    """The root class for `root="auto"`."""
    return "multi" if multi_root_share(treebank) >= _APPRECIABLE else "single"


def single_rooted(treebank: Treebank) -> Treebank:
    """The treebank with the first root word of each sentence; the heads of others are unknown."""
    heads = treebank.heads.copy()
    roots = np.flatnonzero(heads == 0)
    sentence = np.searchsorted(treebank.first_word, roots, side="right")
    _, first = np.unique(sentence, return_index=True)
    heads[np.delete(roots, first)] = -1
    return treebank.with_heads(heads)


def projectivise(treebank: Treebank, root: Root) -> tuple[Treebank, float]:
    """The nearest projective trees, and the share of known heads that they keep (oracle UAS).

    Known arcs that do not cross may still have no projective completion, so all sentences with
    unknown heads are processed.
    """
    heads = treebank.heads.copy()
    for i in range(len(treebank)):
        words = slice(treebank.first_word[i], treebank.first_word[i + 1])
        if (heads[words] < 0).any() or _has_crossing_arcs(heads[words]):
            heads[words] = projectivise_heads(heads[words], root)
    known = treebank.heads >= 0
    kept = float((heads == treebank.heads)[known].mean()) if known.any() else 1.0
    return treebank.with_heads(heads), kept


def projectivise_heads(heads: IntArray, root: Root) -> IntArray:
    """The projective tree that keeps most arcs (Koo et al. 2007, footnote 4).

    Gold arcs score 1, all others -1. Among equally good trees, those that attach a word to an
    ancestor of its gold head are preferred, the nearest ancestor first (a lifted arc). Unknown
    heads stay unknown.
    """
    n = len(heads)
    scores = np.full((n + 1, n + 1), -1.0)
    scores[:, np.flatnonzero(heads < 0) + 1] = 0.0
    bonus = 1.0 / (2.0 * n)  # the sum of all bonuses is less than one gold arc
    for word, head in enumerate(heads.tolist(), start=1):
        if head < 0:
            continue
        ancestor, lift = head, 1
        while ancestor > 0 and heads[ancestor - 1] >= 0 and lift <= n:
            ancestor = int(heads[ancestor - 1])
            lift += 1
            scores[ancestor, word] += bonus / lift
        scores[head, word] = 1.0
    best = ProjectiveTrees(scores, root=root).argmax().heads
    return np.where(heads < 0, heads, best).astype(np.int32)


def _has_crossing_arcs(heads: IntArray) -> bool:
    """Whether two of the known arcs cross."""
    words = np.flatnonzero(heads >= 0) + 1
    left = np.minimum(words, heads[words - 1])
    right = np.maximum(words, heads[words - 1])
    inside = (left[:, None] < left) & (left < right[:, None])
    return bool((inside & (right > right[:, None])).any())
