"""Errors of log Z's gradient on peaked scores: Arbora, torch-struct, SuPar and the usual formula.

Prints a table in Markdown: the largest error of a marginal over all arcs and sentences, against
arbitrary precision (`arbora.testing`). All libraries get float64 and the same single-root trees.
"""

from __future__ import annotations

import argparse
import importlib.util
import warnings
from collections.abc import Callable

import numpy as np
import torch
from bench_torch import usual_log_det

import arbora.torch as layers
from arbora.testing import precise_projective, precise_spanning

WORDS = 10
HAS_PEERS = all(importlib.util.find_spec(name) for name in ("torch_struct", "supar"))
Sentence = np.ndarray


def normal(scale: float, shift: float = 0.0) -> Callable[[np.random.Generator], Sentence]:
    return lambda rng: rng.normal(scale=scale, size=(WORDS + 1, WORDS + 1)) + shift


def masked(scale: float) -> Callable[[np.random.Generator], Sentence]:
    """Half of the arcs forbidden, but never those from a word to the next."""

    def draw(rng: np.random.Generator) -> Sentence:
        scores = normal(scale)(rng)
        forbidden = rng.random(scores.shape) < 0.5
        forbidden[np.arange(WORDS), np.arange(1, WORDS + 1)] = False
        return np.where(forbidden, -np.inf, scores)

    return draw


def preferred(distance: float) -> Callable[[np.random.Generator], Sentence]:
    """Each word has a level, and arcs cost `distance` per level: as of a confident network."""

    def draw(rng: np.random.Generator) -> Sentence:
        level = rng.integers(0, 4, WORDS + 1)
        return rng.normal(size=(WORDS + 1, WORDS + 1)) - distance * level[:, None]

    return draw


CASES = {
    "normal, scale 1": normal(1),
    "normal, scale 10": normal(10),
    "normal, scale 50": normal(50),
    "normal, scale 100": normal(100),
    "normal, scale 1,000": normal(1000),
    "normal, scale 10, all scores + 1,000": normal(10, 1000.0),
    "normal, scale 10, all scores - 1,000": normal(10, -1000.0),
    "normal, scale 1, half of the arcs -inf": masked(1),
    "normal, scale 50, half of the arcs -inf": masked(50),
    "levels 20 apart": preferred(20),
    "levels 100 apart": preferred(100),
}


def gradient(scores: torch.Tensor, value: Callable[[torch.Tensor], torch.Tensor]) -> np.ndarray:
    leaf = scores.clone().requires_grad_()
    try:
        value(leaf).sum().backward()
    except (RuntimeError, AssertionError):
        return np.full(scores.shape, np.nan)
    return leaf.grad.numpy()


def candidates(kind: str) -> dict[str, Callable[[torch.Tensor], torch.Tensor]]:
    """log Z of [head, modifier] scores with the root symbol at 0."""
    trees = layers.SpanningTrees if kind == "spanning" else layers.ProjectiveTrees
    found = {"Arbora": lambda x: trees(x).log_partition}
    if HAS_PEERS:
        import torch_struct
        from supar import structs

        own = {
            "spanning": (torch_struct.NonProjectiveDependencyCRF, structs.MatrixTree),
            "projective": (torch_struct.DependencyCRF, structs.DependencyCRF),
        }[kind]
        found["torch-struct 0.5"] = lambda x: (
            own[0](layers.to_root_on_diagonal(x), multiroot=False).partition
        )
        found["SuPar 1.1.4"] = lambda x: (
            own[1](layers.to_modifier_head(x).contiguous()).log_partition
        )
    if kind == "spanning":
        found["`logdet`"] = lambda x: usual_log_det(x, torch.full((len(x),), x.shape[1] - 1))
    return found


def row_of(kind: str, draw: Callable[[np.random.Generator], Sentence], sentences: int) -> list[str]:
    rng = np.random.default_rng(0)
    precise = precise_spanning if kind == "spanning" else precise_projective
    scores = [draw(rng) for _ in range(sentences)]
    truth = np.stack([precise(one, np.zeros(one.shape), "single").marginals for one in scores])
    arcs = np.ones((WORDS + 1, WORDS + 1), dtype=bool)  # others are never read
    arcs[:, 0] = False
    np.fill_diagonal(arcs, False)
    cells = []
    for value in candidates(kind).values():
        error = np.abs(gradient(torch.from_numpy(np.stack(scores)), value) - truth)[:, arcs]
        cells.append("NaN" if np.isnan(error).any() else f"{error.max():.0e}")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for kind in ("spanning", "projective"):
        names = list(candidates(kind))
        print(f"\n| {kind} trees | {' | '.join(names)} |")
        print(f"| --- |{' ---: |' * len(names)}")
        for case, draw in CASES.items():
            print(f"| {case} | {' | '.join(row_of(kind, draw, options.sentences))} |", flush=True)


if __name__ == "__main__":
    main()
