"""Several trees of one sentence, such as a k-best list or samples, as one drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from arbora.drawing.annotated import ArcFile, comment_value
from arbora.drawing.tree_drawing import TreeDrawing

__all__ = ["draw_tree_list", "tree_lists"]

S = TypeVar("S", bound=ArcFile)


def tree_lists(sentences: Iterable[S]) -> Iterator[list[S]]:
    """The lists in a file: a tree whose comment `arbora.rank` is not 1 continues a list."""
    group: list[S] = []
    for sentence in sentences:
        continues = comment_value(sentence, "arbora.rank") not in ("", "1")
        if group and not (continues and sentence.forms == group[0].forms):
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def draw_tree_list(
    sentences: Sequence[ArcFile], threshold: float = 0.1, *, tags: bool = True
) -> TreeDrawing:
    """The first of several trees, and the arcs of the others with a share of at least `threshold`.

    Different trees have shares in proportion to their probabilities (the comment
    `arbora.log_prob`), or equal shares if one of them is unknown. An alternative has the label that
    it has in the first tree with that arc. A single tree is drawn as it is.
    """
    if len(sentences) == 1:
        return TreeDrawing.from_sentence(sentences[0], tags=tags)
    trees: dict[tuple[tuple[int, str], ...], str] = {}
    for sentence in sentences:
        tree = tuple(zip(sentence.heads.tolist(), sentence.labels, strict=True))
        trees.setdefault(tree, comment_value(sentence, "arbora.log_prob"))
    weights = _shares(list(trees.values()))
    shares: dict[tuple[int, int], float] = {}
    labels: dict[tuple[int, int], str] = {}
    for tree, weight in zip(trees, weights, strict=True):
        for modifier, (head, label) in enumerate(tree, start=1):
            shares[head, modifier] = shares.get((head, modifier), 0.0) + weight
            labels.setdefault((head, modifier), "" if label == "_" else label)
    first = TreeDrawing.from_sentence(sentences[0], tags=tags, probabilities=False)
    own = list(zip(first.heads, range(1, len(first) + 1), strict=True))
    return TreeDrawing(
        first.words, first.heads, first.labels, tags=first.tags or None,
        probabilities=[min(shares[arc], 1.0) for arc in own],
        alternatives=[
            (*arc, min(share, 1.0), labels[arc])
            for arc, share in shares.items()
            if arc not in own and share >= threshold and arc[0] >= 0
        ],
        multiword=first.multiword, name=first.name, sentence=first.sentence,
    )  # fmt: skip


def _shares(log_probs: list[str]) -> list[float]:
    try:
        logs = [float(text) for text in log_probs]
    except ValueError:
        logs = [math.nan]
    if not all(map(math.isfinite, logs)):
        return [1 / len(log_probs)] * len(log_probs)
    weights = [math.exp(value - max(logs)) for value in logs]
    return [weight / sum(weights) for weight in weights]
