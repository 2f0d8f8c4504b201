"""Minimum Bayes risk for any loss, over lists of trees: k-best lists or draws.

The expectation of a loss that is no sum over arcs (Smith & Smith 2007, Eq. 15) has no formula. Here
it is a weighted mean over some trees, the evidence, and its minimum is sought among others, the
candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arbora.arrays import as_list
from arbora.errors import ArgumentError, ShapeError, reason
from arbora.inference.arguments import as_array, as_count, as_heads, as_real
from arbora.inference.packed import read_only
from arbora.types import FloatArray, IntArray, Samples, Tree

__all__ = ["Decision", "minimum_risk"]

# A number of trees, trees, draws of heads (k, n), or draws with labels.
Trees = int | Sequence[Tree] | ArrayLike | Samples


class Decision(NamedTuple):
    """The candidate with the least expected loss, and what it was chosen from.

    `risk` is its expected loss. `candidates` are distinct, and `risks`, (candidates,), are their
    expected losses. Of equally good candidates, `tree` is the first.
    """

    tree: Tree
    risk: float
    candidates: list[Tree]
    risks: FloatArray


class _Listed(NamedTuple):
    """Distinct trees with weights that sum to 1."""

    trees: list[Tree]
    weights: FloatArray


def minimum_risk(
    trees: Any,
    loss: Callable[[Tree, Tree], float],
    *,
    candidates: Trees = 100,
    evidence: Trees | None = None,
    weights: ArrayLike | None = None,
    seed: int | None = None,
) -> Decision:
    """The candidate with the least expected loss, for any loss function of two trees.

    Parameters
    ----------
    trees
        A distribution over trees.
    loss
        `loss(candidate, truth)` is the loss of a tree if another is true: a finite number. It is
        called once for every pair of distinct trees.
    candidates
        The trees to choose from: a list of `Tree`, draws as `sample` returns them, or a number
        k for the k best trees.
    evidence
        The trees over which the loss is averaged: likewise, except that a number means draws. By
        default the candidates. A list of `Tree` is weighted by their probabilities, scaled to
        sum to 1; draws are weighted equally.
    weights
        Other weights of the evidence, one for each of its trees, scaled to sum to 1.
    seed
        The seed of draws.
    """
    if not callable(loss) or isinstance(loss, type):
        raise ArgumentError(
            f"loss must be a function of two trees, not {type(loss).__name__}; mbr takes arrays."
        )
    chosen = candidates
    if _is_number(chosen):
        chosen = _method(trees, "kbest", "candidates")(as_count(chosen, "candidates"))  # type: ignore[arg-type]
    true = chosen if evidence is None else evidence
    if _is_number(true):
        true = _method(trees, "sample", "evidence")(as_count(true, "evidence"), seed=seed)  # type: ignore[arg-type]
    options = _listed(trees, chosen, None, "candidates").trees
    truths = _listed(trees, true, weights, "evidence")
    losses = np.array([[_loss(loss, one, other) for other in truths.trees] for one in options])
    risks = np.asarray(losses @ truths.weights)
    best = int(risks.argmin())
    return Decision(options[best], float(risks[best]), options, read_only(risks))


def _is_number(given: object) -> bool:
    return isinstance(given, int | float | np.integer | np.floating)


def _method(trees: Any, name: str, argument: str) -> Any:
    found = getattr(trees, name, None)
    if found is None:
        raise ArgumentError(
            f"{type(trees).__name__} has no {name}: give {argument} as a list of trees."
        )
    return found


def _loss(loss: Callable[[Tree, Tree], float], candidate: Tree, truth: Tree) -> float:
    try:
        value = loss(candidate, truth)
    except Exception as error:  # a function may raise anything
        raise ArgumentError(f"loss failed: {reason(error)}.") from error
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise ArgumentError(f"loss must return a finite number, not {value!r}.")
    return number


def _listed(trees: Any, given: Any, weights: ArrayLike | None, what: str) -> _Listed:
    """Distinct trees in the given order, with their weights."""
    listed = _trees_in(given, what)
    heads, labels = _rows(given if listed is None else listed, _words(trees), what)
    rows = heads if labels is None else np.hstack([heads, labels])
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if weights is not None or listed is None:
        share = np.ones(len(rows)) if weights is None else _as_weights(weights, len(rows), what)
        total = np.bincount(place.ravel(), share)
    else:  # a tree that a list repeats is still one event
        log_p = _log_probs(trees, heads, labels)
        if np.isneginf(log_p).all():
            raise ArgumentError(f"no tree of {what} is possible: give weights, or other trees.")
        total = np.exp(log_p - log_p.max())[first]
    order = np.argsort(first)
    if listed is None:
        listed = _as_trees(trees, heads, labels)
    return _Listed([listed[i] for i in first[order].tolist()], (total / total.sum())[order])


def _words(trees: Any) -> int:
    n_words = getattr(trees, "n_words", None)
    if not isinstance(n_words, int):
        raise ArgumentError(f"trees must be a distribution over trees, not {trees!r}.")
    return n_words


def _trees_in(given: Any, what: str) -> list[Tree] | None:
    """The trees of a list of trees, None for draws."""
    if isinstance(given, Samples) or hasattr(given, "__array__") or hasattr(given, "__dlpack__"):
        return None
    entries = as_list(given, f"{what} must be a list of trees, or draws")
    are_trees = bool(entries) and all(isinstance(one, Tree) for one in entries)
    return entries if are_trees else None


def _rows(given: Any, n_words: int, what: str) -> tuple[IntArray, IntArray | None]:
    """Heads and labels of trees or draws, (k, n)."""
    heads: Any = given
    labels: Any = None
    if isinstance(given, Samples):
        heads, labels = given
    elif isinstance(given, list) and given and isinstance(given[0], Tree):
        heads = [tree.heads for tree in given]
        if any(tree.labels is not None for tree in given):
            labels = [tree.labels for tree in given]
    array = np.atleast_2d(as_heads(heads, n_words, what)).astype(np.int32)
    if not len(array):
        raise ArgumentError(f"{what} must contain at least one tree.")
    if labels is None:
        return array, None
    chosen = np.atleast_2d(as_array(labels, f"the labels of {what}"))
    if chosen.shape != array.shape or chosen.dtype.kind not in "iu":
        raise ShapeError(f"the labels of {what} must be integers, one for each head.")
    return array, chosen.astype(np.int32)


def _as_trees(trees: Any, heads: IntArray, labels: IntArray | None) -> list[Tree]:
    """Draws as trees with the score of the model."""
    log_partition = getattr(trees, "log_partition", 0.0) if hasattr(trees, "log_prob") else 0.0
    scores = (_log_probs(trees, heads, labels) + log_partition).tolist()
    read_only(heads)
    if labels is None:
        return [Tree(row, None, score) for row, score in zip(heads, scores, strict=True)]
    read_only(labels)
    return [Tree(*one) for one in zip(heads, labels, scores, strict=True)]


def _as_weights(weights: ArrayLike, count: int, what: str) -> FloatArray:
    array = as_real(weights, "weights").astype(np.float64)
    if array.shape != (count,):
        raise ShapeError(f"weights must be one number for each of the {count} trees of {what}.")
    if not np.isfinite(array).all() or (array < 0).any() or array.max() <= 0:
        raise ArgumentError("weights must be non-negative finite numbers, not all of them 0.")
    return np.asarray(array / array.max())  # so that the sum does not overflow


def _log_probs(trees: Any, heads: IntArray, labels: IntArray | None) -> FloatArray:
    """log P of trees; up to a constant, their scores, without sums over all trees."""
    if not hasattr(trees, "log_prob"):
        return np.array([trees.parts.score(row) for row in heads])
    return np.asarray(trees.log_prob(heads) if labels is None else trees.log_prob(heads, labels))
