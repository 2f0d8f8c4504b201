"""Approximate second-order decoding by changing one head at a time: a baseline.

McDonald & Pereira (2006) start from the best projective tree of the arc scores and make the best
single change until none is better. Zhang et al. (2014) start from many trees drawn from the
first-order model and give each word its best head in turn. There is no bound on the distance
from the best tree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from arbora._core import inference as kernels
from arbora.errors import ArgumentError
from arbora.inference.arguments import as_count, as_heads, as_seed, check_choice
from arbora.inference.batch import located
from arbora.inference.dual import check_not_chained
from arbora.inference.packed import Packed, read_only
from arbora.inference.tree_checks import in_class
from arbora.scores import Scores
from arbora.types import FloatArray, IntArray, Root, Tree, TreeClass

__all__ = ["head_changes", "hill_climb"]


def hill_climb(
    packed: Scores,
    trees: TreeClass = "nonprojective",
    root: Root = "single",
    *,
    restarts: int = 100,
    patience: int | None = None,
    seed: int | None = 0,
    start: Sequence[ArrayLike] | None = None,
    threads: int = 1,
) -> list[Tree]:
    """For every sentence the best tree that was found, with its full score.

    The first tree is the sentence's in `start`, by default the best projective tree of the arc
    scores (the best spanning tree where there is no projective one). `restarts` more are drawn from
    the first-order model, fewer if `patience` of them in a row bring no improvement. The answer
    is never worse than the first tree, and does not depend on the number of threads. Where the root
    has exactly one modifier, a change of root moves the old one, too.
    """
    options = kernels.ClimbOptions(
        projective=trees == "projective", multi_root=root == "multi",
        restarts=0 if restarts == 0 else as_count(restarts, "restarts"),
        patience=max(restarts, 1) if patience is None else as_count(patience, "patience"),
        seed=as_seed(seed), threads=threads,
    )  # fmt: skip
    checked = _checked(packed, trees, root)
    heads = np.zeros(checked.n_words_in_all, dtype=np.int32)
    if start is not None:
        _check_count(start, len(packed))
        for i, tree in enumerate(start):
            heads[checked.words[i] : checked.words[i + 1]] = _checked_tree(checked, i, tree)
    scores = np.zeros(len(packed))
    tables = packed.with_values(checked.flat).arrays()
    kernels.climb(packed.index, tables, options, start is not None, heads, scores)
    read_only(heads)
    bounds = zip(checked.words, checked.words[1:], scores.tolist(), strict=False)
    return [Tree(heads[a:b], None, score) for a, b, score in bounds]


def head_changes(
    packed: Scores, i: int, heads: ArrayLike, trees: TreeClass, root: Root
) -> FloatArray:
    """The gain in score of a tree of sentence i if the head of m becomes h, [h, m].

    -inf where the result is not a tree of the class, and for the present head.
    """
    checked = _checked(packed, trees, root)
    tree = _checked_tree(checked, i, heads)
    gains = np.zeros(checked.shape(i))
    kernels.head_changes(
        packed.index, packed.with_values(checked.flat).arrays(), trees == "projective",
        root == "multi", i, tree, gains.reshape(-1),
    )  # fmt: skip
    return gains


def _checked(packed: Scores, trees: TreeClass, root: Root) -> Packed:
    """The arcs; raises for the first sentence without a tree of the class."""
    check_choice(trees, ("nonprojective", "projective"), "trees")
    check_choice(root, ("single", "multi"), "root")
    check_not_chained(packed.kinds, "hill climbing")
    arcs = Packed(np.empty(packed.arcs.size), packed.n_words, None, trees, root)
    for i, error in arcs.check(packed.arcs).items():
        raise located(i, error)
    return arcs


def _check_count(start: Sequence[ArrayLike], sentences: int) -> None:
    if len(start) != sentences:
        raise ArgumentError(
            f"start has {len(start)} trees for {sentences} sentences: give one for each."
        )


def _checked_tree(arcs: Packed, i: int, heads: ArrayLike) -> IntArray:
    tree = as_heads(heads, int(arcs.n_words[i]))
    allowed = not np.isneginf(arcs.scores(i)[tree, np.arange(1, len(tree) + 1)]).any()
    if not (allowed and in_class(tree[None], arcs.trees, arcs.root)[0]):
        raise ArgumentError(
            f"sentence {i}: {tree.tolist()} is no {arcs.trees} tree over the allowed arcs "
            f"with root={arcs.root!r}: start from such a tree."
        )
    return tree.astype(np.int32)
