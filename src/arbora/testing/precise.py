"""Sums in arbitrary precision, with gmpy2 (MPFR; a test dependency).

Spanning trees use determinants and inverses, with enough bits to compensate for cancellation.
Projective trees use the textbook inside-outside recursion over any number type.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.types import FloatArray, Root

__all__ = ["PreciseSums", "precise_projective", "precise_spanning"]

Exact = NDArray[np.object_]


class PreciseSums(NamedTuple):
    log_partition: float
    marginals: FloatArray
    vjp: FloatArray


def precise_spanning(scores: FloatArray, d_marginals: FloatArray, root: Root) -> PreciseSums:
    """Sums over spanning trees, with the precision doubled until two results agree.

    It starts with enough bits to represent the largest and the smallest weight together. With
    fewer, small weights would vanish in both results, and agreement would prove nothing.
    """
    finite = scores[np.isfinite(scores)]
    bits = 3000 + int(3 * (finite.max() - finite.min()))  # an exponent of e is 1.44 bits
    last = _spanning(scores, d_marginals, root, bits // 2)
    while True:
        here = _spanning(scores, d_marginals, root, bits)
        if here is not None and last is not None and _agree(here, last):
            return here
        last, bits = here, 2 * bits


def _spanning(
    scores: FloatArray, d_marginals: FloatArray, root: Root, bits: int
) -> PreciseSums | None:
    import gmpy2

    with precision(bits):
        weights = _weights(scores)
        try:
            inverse, log_det = _invert(_laplacian(weights, root))
        except gmpy2.DivisionByZeroError:  # too few bits: the matrix seems singular
            return None
        marginals = weights * _adjoint(inverse, root)
        gradient = np.vectorize(gmpy2.mpfr, otypes=[object])(d_marginals)
        inner = inverse.dot(_laplacian(gradient * weights, root)).dot(inverse)
        vjp = gradient * marginals - weights * _adjoint(inner, root)
        return PreciseSums(float(log_det), _floats(marginals), _floats(vjp))


def _agree(a: PreciseSums, b: PreciseSums) -> bool:
    pairs = [(a.marginals, b.marginals), (a.vjp, b.vjp)]
    with np.errstate(invalid="ignore"):  # too few bits can give any result
        near = all(bool(np.abs(x - y).max() < 1e-14) for x, y in pairs)
    return near and abs(a.log_partition - b.log_partition) < 1e-14 * max(1, abs(a.log_partition))


def precise_projective(
    scores: FloatArray, d_marginals: FloatArray, root: Root, bits: int = 500
) -> PreciseSums:
    """Sums over projective trees by inside-outside; nothing cancels, so 500 bits are sufficient.

    The vjp is a central difference with a step of 2^-150 along d_marginals.
    """
    import gmpy2

    with precision(bits):
        zero, one = gmpy2.mpfr(0), gmpy2.mpfr(1)
        weights = _weights(scores)
        total, marginals = inside_outside(weights, root, zero, one)
        step = gmpy2.mpfr(2) ** -150
        tilt = np.vectorize(lambda g: gmpy2.exp(step * gmpy2.mpfr(g)), otypes=[object])(d_marginals)
        above = inside_outside(weights * tilt, root, zero, one)[1]
        below = inside_outside(weights / tilt, root, zero, one)[1]
        vjp = (above - below) / (2 * step)
        return PreciseSums(float(gmpy2.log(total)), _floats(marginals), _floats(vjp))


def inside_outside(weights: NDArray[Any], root: Root, zero: Any, one: Any) -> tuple[Any, Any]:
    """Z and marginals of projective trees over any number type, by the textbook recursion.

    Items are indexed [s, t]; the outside pass is the derivative of the inside pass, item by item.
    """
    n = len(weights) - 1
    first = 0 if root == "multi" else 1

    def chart() -> NDArray[Any]:
        return np.full((n + 2, n + 2), zero, dtype=weights.dtype)

    right, left, open_right, open_left = chart(), chart(), chart(), chart()
    for s in range(first, n + 1):
        right[s, s] = left[s, s] = one
    for width in range(1, n - first + 1):
        for s in range(first, n - width + 1):
            t = s + width
            joint = np.dot(right[s, s:t], left[s + 1 : t + 1, t])
            open_right[s, t] = weights[s, t] * joint
            open_left[s, t] = weights[t, s] * joint if s > 0 else zero
            right[s, t] = np.dot(open_right[s, s + 1 : t + 1], right[s + 1 : t + 1, t])
            left[s, t] = np.dot(left[s, s:t], open_left[s:t, t])

    d_right, d_left, d_open_right, d_open_left = chart(), chart(), chart(), chart()
    marginals = np.full((n + 1, n + 1), zero, dtype=weights.dtype)
    if root == "multi":
        total = right[0, n]
        d_right[0, n] = one
    else:
        total = zero
        for r in range(1, n + 1):
            term = left[1, r] * weights[0, r] * right[r, n]
            total = total + term
            marginals[0, r] = term
            d_left[1, r] = d_left[1, r] + weights[0, r] * right[r, n]
            d_right[r, n] = d_right[r, n] + left[1, r] * weights[0, r]
    for width in range(n - first, 0, -1):
        for s in range(first, n - width + 1):
            t = s + width
            d_open_right[s, s + 1 : t + 1] += d_right[s, t] * right[s + 1 : t + 1, t]
            d_right[s + 1 : t + 1, t] += d_right[s, t] * open_right[s, s + 1 : t + 1]
            d_left[s, s:t] += d_left[s, t] * open_left[s:t, t]
            d_open_left[s:t, t] += d_left[s, t] * left[s, s:t]
            d_joint = d_open_right[s, t] * weights[s, t]
            if s > 0:
                d_joint = d_joint + d_open_left[s, t] * weights[t, s]
                marginals[t, s] = open_left[s, t] * d_open_left[s, t]
            marginals[s, t] = open_right[s, t] * d_open_right[s, t]
            d_right[s, s:t] += d_joint * left[s + 1 : t + 1, t]
            d_left[s + 1 : t + 1, t] += d_joint * right[s, s:t]
    return total, marginals / total


def precision(bits: int) -> Any:
    """A gmpy2 context with the given precision and exponents of any size."""
    import gmpy2

    return gmpy2.context(
        precision=bits, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min(), trap_divzero=True
    )


def _weights(scores: FloatArray) -> Exact:
    import gmpy2

    answer = np.full(scores.shape, gmpy2.mpfr(0), dtype=object)
    for (h, m), score in np.ndenumerate(scores):
        if m > 0 and h != m and score > -np.inf:
            answer[h, m] = gmpy2.exp(gmpy2.mpfr(float(score)))
    return answer


def _laplacian(x: Exact, root: Root) -> Exact:
    answer = -x[1:, 1:]
    for m in range(len(answer)):
        answer[m, m] = x[1:, m + 1].sum() + (x[0, m + 1] if root == "multi" else 0)
    if root == "single":
        answer[0] = x[0, 1:]
    return answer


def _adjoint(matrix: Exact, root: Root) -> Exact:
    n = len(matrix)
    answer = np.full((n + 1, n + 1), matrix[0, 0] * 0, dtype=object)
    for m in range(n):
        replaced = root == "single"
        answer[0, m + 1] = matrix[m, 0] if replaced else matrix[m, m]
        for h in range(n):
            if h != m:
                own = 0 if replaced and m == 0 else matrix[m, m]
                cross = 0 if replaced and h == 0 else matrix[m, h]
                answer[h + 1, m + 1] = own - cross
    return answer


def _invert(matrix: Exact) -> tuple[Exact, Any]:
    """Gauss-Jordan with row exchanges: the inverse, and the logarithm of the determinant."""
    import gmpy2

    n = len(matrix)
    one, zero = gmpy2.mpfr(1), gmpy2.mpfr(0)
    identity = np.array([[one if i == j else zero for j in range(n)] for i in range(n)])
    work = np.concatenate([matrix, identity], axis=1)
    log_det = zero
    for k in range(n):
        pivot = k + int(np.argmax([abs(x) for x in work[k:, k]]))
        work[[k, pivot]] = work[[pivot, k]]
        log_det += gmpy2.log(abs(work[k, k]))
        work[k] = work[k] / work[k, k]
        for i in range(n):
            if i != k and work[i, k] != 0:
                work[i] = work[i] - work[i, k] * work[k]
    return work[:, n:], log_det


def _floats(x: Exact) -> FloatArray:
    return np.array([[float(v) for v in row] for row in x])
