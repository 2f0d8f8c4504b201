"""The Matrix-Tree Theorem as in the papers, with determinants and inverse matrices.

These formulas are a cross-check at moderate scores. At large scores they suffer from cancellation,
so the library does not use them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.types import FloatArray, Root

__all__ = ["laplacian", "lu_log_partition", "lu_marginals", "lu_vjp", "minors_log_partition"]


def laplacian(x: FloatArray, root: Root) -> FloatArray:
    """The Laplacian (Koo et al. 2007, section 3.3), or L-hat of Prop. 1 for a single root."""
    arcs = np.array(x[1:, 1:])
    np.fill_diagonal(arcs, 0.0)
    if root == "multi":
        return np.asarray(np.diag(arcs.sum(axis=0) + x[0, 1:]) - arcs)
    answer = np.diag(arcs.sum(axis=0)) - arcs
    answer[0] = x[0, 1:]
    return np.asarray(answer)


def minors_log_partition(scores: FloatArray) -> float:
    """The naive single-root sum of n determinants (Koo et al. 2007, section 3.1)."""
    weights = np.exp(scores)
    arcs = weights[1:, 1:].copy()
    np.fill_diagonal(arcs, 0.0)
    whole = np.diag(arcs.sum(axis=0)) - arcs
    total = 0.0
    for m in range(len(whole)):
        minor = np.delete(np.delete(whole, m, axis=0), m, axis=1)
        total += weights[0, m + 1] * float(np.linalg.det(minor))
    return float(np.log(total))


def lu_log_partition(scores: FloatArray, root: Root) -> float:
    weights, shift = _shifted(scores)
    return float(np.linalg.slogdet(laplacian(weights, root))[1] + shift.sum())


def lu_marginals(scores: FloatArray, root: Root) -> FloatArray:
    """Marginals from the inverse of the Laplacian (Koo et al. 2007, section 3.2)."""
    weights, _ = _shifted(scores)
    return np.asarray(weights * _adjoint(np.linalg.inv(laplacian(weights, root)), root))


def lu_vjp(scores: FloatArray, d_marginals: FloatArray, root: Root) -> FloatArray:
    """g mu - W Adj(B Lap(g W) B): the derivative of the inverse in closed form."""
    weights, _ = _shifted(scores)
    inverse = np.linalg.inv(laplacian(weights, root))
    inner = inverse @ laplacian(d_marginals * weights, root) @ inverse
    marginals = weights * _adjoint(inverse, root)
    return np.asarray(d_marginals * marginals - weights * _adjoint(inner, root))


def _shifted(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    scores = np.array(scores)
    np.fill_diagonal(scores, -np.inf)
    scores[:, 0] = -np.inf
    shift = scores.max(axis=0)
    shift[0] = 0.0
    return np.exp(scores - shift), shift


def _adjoint(matrix: NDArray[Any], root: Root) -> FloatArray:
    """The transpose of the map from arcs to the Laplacian."""
    n = len(matrix)
    answer = np.zeros((n + 1, n + 1))
    diagonal = np.diag(matrix).copy()
    across = matrix.T.copy()
    if root == "multi":
        answer[0, 1:] = diagonal
    else:
        answer[0, 1:] = matrix[:, 0]
        diagonal[0] = 0.0  # column 1 has no separate diagonal cell
        across[0] = 0.0  # row 1 has the root scores
    answer[1:, 1:] = diagonal - across
    np.fill_diagonal(answer, 0.0)
    return answer
