"""Other libraries in the benchmarks, each with its usual interface."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable

import numpy as np


def numpy_sums(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log Z and multi-root marginals with the usual formula, batched over sentences."""
    words = scores[:, :, 1:]
    shift = words.max(axis=1, keepdims=True)
    weights = np.exp(words - shift)
    arcs = weights[:, 1:]
    diagonal = np.arange(arcs.shape[1])
    arcs[:, diagonal, diagonal] = 0.0
    laplacian = -arcs
    laplacian[:, diagonal, diagonal] = weights.sum(axis=1)
    log_det = np.linalg.slogdet(laplacian)[1]
    inverse = np.linalg.inv(laplacian)
    own = inverse[:, diagonal, diagonal]
    marginals = np.zeros_like(scores)
    marginals[:, 0, 1:] = weights[:, 0] * own
    marginals[:, 1:, 1:] = arcs * (own[:, None, :] - inverse.transpose(0, 2, 1))
    return log_det + shift.sum(axis=(1, 2)), marginals


class Ufal:
    """ufal.chu-liu-edmonds: rows are modifiers, NaN forbids; no single-root constraint."""

    available = importlib.util.find_spec("ufal") is not None

    def __init__(self, scores: np.ndarray) -> None:
        from ufal.chu_liu_edmonds import chu_liu_edmonds

        self._solve = chu_liu_edmonds
        self._inputs = []
        for sentence in scores:
            matrix = np.ascontiguousarray(sentence.T)
            np.fill_diagonal(matrix, np.nan)
            matrix[0] = np.nan
            self._inputs.append(matrix)

    def argmax(self) -> list[list[int]]:
        return [self._solve(matrix)[0][1:] for matrix in self._inputs]


class TorchStruct:
    """torch-struct: root scores on the diagonal, float32."""

    available = importlib.util.find_spec("torch_struct") is not None

    def __init__(self, scores: np.ndarray) -> None:
        import torch
        import torch_struct

        warnings.simplefilter("ignore")
        torch.set_num_threads(1)
        arcs = scores[:, 1:, 1:].copy()
        diagonal = np.arange(arcs.shape[1])
        arcs[:, diagonal, diagonal] = scores[:, 0, 1:]
        self._struct = torch_struct
        self._input = torch.tensor(arcs, dtype=torch.float32, requires_grad=True)

    def spanning_sums(self) -> tuple[object, object]:
        trees = self._struct.NonProjectiveDependencyCRF(self._input + 0, multiroot=True)
        return trees.partition, trees.marginals

    def projective_sums(self) -> tuple[object, object]:
        trees = self._struct.DependencyCRF(self._input + 0, multiroot=False)
        return trees.partition, trees.marginals

    def projective_argmax(self) -> object:
        return self._struct.DependencyCRF(self._input + 0, multiroot=False).argmax


class SuPar:
    """SuPar's structs: rows are modifiers, index 0 the root, float32."""

    available = importlib.util.find_spec("supar") is not None

    def __init__(self, scores: np.ndarray) -> None:
        import torch
        from supar import structs

        warnings.simplefilter("ignore")
        torch.set_num_threads(1)
        self._structs = structs
        self._input = torch.tensor(scores.transpose(0, 2, 1).copy(), dtype=torch.float32)

    def spanning_sums(self) -> tuple[object, object]:
        trees = self._structs.MatrixTree(self._input, multiroot=True)
        return trees.log_partition, trees.marginals

    def projective_sums(self) -> tuple[object, object]:
        trees = self._structs.DependencyCRF(self._input, multiroot=False)
        return trees.log_partition, trees.marginals

    def projective_argmax(self) -> object:
        return self._structs.DependencyCRF(self._input, multiroot=False).argmax

    def sibling_beliefs(self, iterations: int) -> Callable[[], object]:
        """Loopy belief propagation over all sibling pairs, without a tree factor."""
        import torch

        count, side = len(self._input), self._input.shape[1]
        siblings = torch.randn(count, side, side, side)
        mask = torch.ones(count, side, dtype=torch.bool)
        propagate = self._structs.DependencyLBP(max_iter=iterations)
        return lambda: propagate((self._input, siblings), mask)
