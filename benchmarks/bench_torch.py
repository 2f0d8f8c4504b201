"""Speed of the PyTorch layers, forward and backward, beside torch-struct and SuPar.

Padded batches, one thread, interleaved in one run, processor time: log Z and its gradient for trees
of first order, and a loss of the marginals for belief propagation over all pairs of siblings.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before torch is imported: one core

import argparse
import importlib.util
import platform
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
from bench_inference import table
from timing import interleaved, ratio

import arbora
import arbora.torch as layers

SENTENCES = 32
LENGTHS = {"10": (10, 10), "30": (30, 30), "60": (60, 60), "10 to 60": (10, 60)}
GOALS = {"spanning": 4, "projective": 30, "siblings": 10}
HAS_PEERS = all(importlib.util.find_spec(name) for name in ("torch_struct", "supar"))


def lengths_of(rng: np.random.Generator, least: int, most: int) -> torch.Tensor:
    lengths = rng.integers(least, most + 1, SENTENCES)
    lengths[0] = most
    return torch.from_numpy(lengths)


def backward(scores: torch.Tensor, value: Callable[[torch.Tensor], torch.Tensor]) -> object:
    """The value, summed, and its gradient."""
    leaf = scores.detach().requires_grad_()
    value(leaf).sum().backward()
    return leaf.grad


def usual_log_det(scores: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """log Z of single-root trees as the determinant of the Laplacian (Koo et al. 2007, Eq. 8)."""
    words = torch.arange(scores.shape[1] - 1) < lengths[:, None]
    both = words[:, :, None] & words[:, None, :] & ~torch.eye(words.shape[1], dtype=torch.bool)
    arcs = torch.where(both, scores[:, 1:, 1:].exp(), 0.0)
    laplacian = torch.diag_embed(arcs.sum(1) + (~words).to(arcs)) - arcs
    root = torch.where(words, scores[:, 0, 1:].exp(), 0.0)
    return torch.cat([root[:, None], laplacian[:, 1:]], 1).logdet()


def log_partition(trees: type, scores: torch.Tensor, lengths: torch.Tensor) -> Callable:
    return lambda: backward(scores, lambda x: trees(x, lengths=lengths).log_partition)


def log_det(scores: torch.Tensor, lengths: torch.Tensor) -> Callable:
    return lambda: backward(scores, lambda x: usual_log_det(x, lengths))


def bench_first_order(rng: np.random.Generator, rounds: int, kind: str) -> None:
    trees = layers.SpanningTrees if kind == "spanning" else layers.ProjectiveTrees
    rows = []
    for name, (least, most) in LENGTHS.items():
        lengths = lengths_of(rng, least, most)
        scores = torch.from_numpy(rng.normal(size=(SENTENCES, most + 1, most + 1)))
        candidates = {"arbora": log_partition(trees, scores.float(), lengths)}
        if kind == "spanning":
            for dtype in (torch.float32, torch.float64):
                candidates[f"logdet {str(dtype)[6:]}"] = log_det(scores.to(dtype), lengths)
        if HAS_PEERS:
            candidates |= peers(kind, scores.float(), lengths)
        rows.append(row_of(name, candidates, rounds))
    names = [*candidates][1:]
    table(f"{kind} trees: log Z and gradient of {SENTENCES} sentences, goal {GOALS[kind]}x",
          ["words", "arbora ms", *(f"x {name}" for name in names)], rows)  # fmt: skip


def peers(kind: str, scores: torch.Tensor, lengths: torch.Tensor) -> dict[str, Callable]:
    import torch_struct
    from supar import structs

    diagonal = layers.to_root_on_diagonal(scores)
    transposed = layers.to_modifier_head(scores).contiguous()
    if kind == "spanning":
        return {
            "torch-struct": lambda: backward(
                diagonal,
                lambda x: (
                    torch_struct.NonProjectiveDependencyCRF(x, lengths, multiroot=False).partition
                ),
            ),
            "SuPar": lambda: backward(
                transposed, lambda x: structs.MatrixTree(x, lengths).log_partition
            ),
        }
    return {
        "torch-struct": lambda: backward(
            diagonal,
            lambda x: torch_struct.DependencyCRF(x + 0, lengths, multiroot=False).partition,
        ),
        "SuPar": lambda: backward(
            transposed, lambda x: structs.DependencyCRF(x + 0, lengths).log_partition
        ),
    }


def bench_siblings(rng: np.random.Generator, rounds: int, iterations: int = 3) -> None:
    """Marginals of all pairs of siblings; SuPar's graph has no tree factor."""
    rows = []
    for name, (least, most) in LENGTHS.items():
        lengths, side = lengths_of(rng, least, most), most + 1
        arcs = torch.from_numpy(rng.normal(size=(SENTENCES, side, side))).float()
        pairs = torch.from_numpy(rng.normal(size=(SENTENCES, side, side, side))).float()
        heads = torch.arange(most).repeat(SENTENCES, 1)  # every word depends on the one before

        def ours(arcs=arcs, pairs=pairs, lengths=lengths, heads=heads) -> object:
            leaves = arcs.detach().requires_grad_(), pairs.detach().requires_grad_()
            parts = layers.Parts(leaves[0], siblings=leaves[1], lengths=lengths)
            layers.LoopyTrees(parts, iterations=iterations).risk(heads).sum().backward()
            return leaves[1].grad

        candidates = {"arbora": ours}
        if HAS_PEERS:
            candidates["SuPar"] = supar_siblings(arcs, pairs, lengths, heads, iterations)
        rows.append(row_of(name, candidates, rounds))
    names = [*candidates][1:]
    table(f"{iterations} iterations of belief propagation: loss and gradient, goal "
          f"{GOALS['siblings']}x", ["words", "arbora ms", *(f"x {name}" for name in names)],
          rows)  # fmt: skip


def supar_siblings(
    arcs: torch.Tensor, pairs: torch.Tensor, lengths: torch.Tensor, heads: torch.Tensor,
    iterations: int,
) -> Callable:  # fmt: skip
    from supar.structs import DependencyLBP

    propagate = DependencyLBP(max_iter=iterations)
    mask = torch.arange(arcs.shape[1]) <= lengths[:, None]
    mask[:, 0] = False
    target = torch.nn.functional.pad(heads, (1, 0))

    def run() -> object:
        leaves = arcs.detach().requires_grad_(), pairs.detach().requires_grad_()
        loss, _ = propagate((leaves[0] + 0, leaves[1] + 0), mask, target)
        loss.backward()
        return leaves[1].grad

    return run


def row_of(name: str, candidates: dict[str, Callable], rounds: int) -> list[str]:
    times = interleaved(candidates, rounds, clock=time.process_time)
    own = f"{np.median(times['arbora']) * 1e3:.2f}"
    others = [f"{ratio(times, other, 'arbora'):.1f}" for other in candidates if other != "arbora"]
    return [name, own, *others]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=[*GOALS], action="append")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    print(f"arbora {arbora.__version__}, torch {torch.__version__}, {platform.machine()}")
    rng = np.random.default_rng(0)
    for kind in options.only or GOALS:
        if kind == "siblings":
            bench_siblings(rng, options.rounds)
        else:
            bench_first_order(rng, options.rounds, kind)


if __name__ == "__main__":
    main()
