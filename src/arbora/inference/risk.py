"""Minimum Bayes risk for losses that are sums over predicted arcs.

Smith & Smith (2007, Eqs. 14-16) minimise the expectation of a loss under the model. If the loss of
a tree is a sum over its arcs and linear in the arcs of the true tree, the expected cost of
predicting an arc is a sum over marginals, and the best tree is a tree of least cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import ArboraError, ArgumentError, ShapeError, reason
from arbora.inference.arguments import as_real
from arbora.inference.packed import Packed
from arbora.types import FloatArray, Tree

__all__ = ["ArcLoss", "expected_costs", "head_errors", "least_cost", "undirected_errors"]

ArcLoss: TypeAlias = ArrayLike | Callable[[FloatArray], ArrayLike]
"""A loss that is a sum over predicted arcs.

An array `loss[h, m, g]` is the loss of predicting head h for word m if its head is g, shape
(n+1, n+1, n+1). With labels, `loss[h, m, l, g, k]` for the labels l and k, too. A function takes
the marginals and returns the expected cost of every arc: shape (n+1, n+1), or that of the scores.
"""

_LARGEST = 1e14  # as for scores
_FORMULAS = {3: "gm,hmg->hm", 5: "gmk,hmlgk->hml"}


def head_errors(weights: ArrayLike | None = None) -> Callable[[FloatArray], FloatArray]:
    """The number of wrong heads, whatever their labels; `weights`, (n,), count words differently.

    A weight of 0 ignores a word, such as punctuation.
    """

    def costs(marginals: FloatArray) -> FloatArray:
        return _weighted(1.0 - _of_arcs(marginals), weights)

    return costs


def undirected_errors(weights: ArrayLike | None = None) -> Callable[[FloatArray], FloatArray]:
    """The number of arcs that the true tree has in neither direction.

    No tree has both an arc and its reverse, so their probabilities add up.
    """

    def costs(marginals: FloatArray) -> FloatArray:
        arcs = _of_arcs(marginals)
        return _weighted(1.0 - arcs - arcs.T, weights)

    return costs


def expected_costs(loss: ArcLoss, scores: FloatArray, marginals: FloatArray) -> FloatArray:
    """The expected cost of every arc, in the shape of the scores; +inf if it is forbidden.

    If the loss ignores labels, every arc has its likeliest label, and its others cost +inf.
    """
    allowed = ~np.isneginf(scores)
    if callable(loss) and not isinstance(loss, type):
        costs = as_real(_called(loss, marginals), "the expected costs that loss returns")
        costs = costs.astype(np.float64)
    else:
        array = as_real(loss, "loss")  # type: ignore[arg-type]  # a class is refused there
        costs = _summed(array, allowed, marginals)
    if scores.ndim == 3 and costs.shape == scores.shape[:2]:
        likeliest = np.where(allowed, marginals, -1.0).argmax(axis=2)
        allowed = allowed & (np.arange(scores.shape[2]) == likeliest[:, :, None])
        costs = np.broadcast_to(costs[:, :, None], scores.shape)
    if costs.shape != scores.shape:
        raise ShapeError(
            f"the expected costs that loss returns must have the shape of the scores, "
            f"{scores.shape}, or {scores.shape[:2]}, not {costs.shape}."
        )
    bad = allowed & ~(np.abs(costs) <= _LARGEST)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ShapeError(
            f"the expected cost of arc {where} is {costs[where]}: it must be a finite number, at "
            f"most {_LARGEST:g} in magnitude."
        )
    return np.where(allowed, costs, np.inf)


def least_cost(packed: Packed, costs: FloatArray) -> Tree:
    """The tree of one sentence with the least sum of costs; its score is the negative sum."""
    return packed.with_scores(-np.ascontiguousarray(costs).ravel()).argmax()[0]


def _called(loss: Callable[[FloatArray], ArrayLike], marginals: FloatArray) -> ArrayLike:
    try:
        return loss(marginals)
    except ArboraError:
        raise
    except Exception as error:  # a function may raise anything
        raise ArgumentError(f"loss failed: {reason(error)}.") from error


def _of_arcs(marginals: FloatArray) -> FloatArray:
    return marginals if marginals.ndim == 2 else np.asarray(marginals.sum(axis=2))


def _weighted(costs: FloatArray, weights: ArrayLike | None) -> FloatArray:
    if weights is None:
        return costs
    array = as_real(weights, "weights").astype(np.float64)
    if array.shape != (len(costs) - 1,):
        raise ShapeError(f"weights must be one number for each of {len(costs) - 1} words.")
    return np.asarray(costs * np.concatenate([[0.0], array]))


def _summed(loss: FloatArray, allowed: NDArray[np.bool_], marginals: FloatArray) -> FloatArray:
    """Sums a loss over the true heads of each word; entries of forbidden arcs are never read."""
    side, labels = allowed.shape[0], allowed.shape[2:]
    arcs = allowed if not labels else np.asarray(allowed.any(axis=2))
    if loss.shape == (side,) * 3:
        used = arcs[:, :, None] & arcs.T[None]  # [h, m, g]
        given = marginals if not labels else marginals.sum(axis=2)
    elif labels and loss.shape == (side, side, *labels, side, *labels):
        used = allowed[:, :, :, None, None] & allowed.transpose(1, 0, 2)[None, :, None]
        given = marginals
    else:
        with_labels = f", or {(side, side, *labels, side, *labels)}" if labels else ""
        raise ShapeError(f"loss must have shape {(side,) * 3}{with_labels}, not {loss.shape}.")
    known = np.where(used, loss, 0.0)
    return np.asarray(np.einsum(_FORMULAS[known.ndim], given, known))
