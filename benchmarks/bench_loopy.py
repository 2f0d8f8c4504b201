"""Speed of the belief propagation kernels, on random pruned sentences."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: one core

import argparse
import platform

import numpy as np
from bench_inference import table
from peers import SuPar
from timing import interleaved, ratio

import arbora
from arbora.inference import PackedLoopy, PackedSecondOrder
from arbora.scores import Scores

SENTENCES = 64
MODELS = {
    "grandparents + siblings": (("siblings", "grandparents"), "pairs"),
    "consecutive siblings": (("consecutive_siblings",), "pairs"),
    "grandsiblings": (("consecutive_siblings", "grandparents", "grandsiblings"), "automata"),
}


def pruned(rng: np.random.Generator, n_words: int, heads: float, kinds: tuple[str, ...]) -> Scores:
    """About `heads` random heads per word, including the previous word; normal scores."""
    side = n_words + 1
    kept = rng.random((SENTENCES, side, side)) < (heads - 1) / n_words
    kept[:, np.arange(n_words), np.arange(1, side)] = True
    kept[:, :, 0] = kept[:, np.arange(side), np.arange(side)] = False
    arcs = np.where(kept, rng.normal(size=kept.shape), -np.inf)
    parts = Scores.over(arcs.reshape(-1), np.full(SENTENCES, n_words), kinds)
    for scores in parts.tables.values():
        scores[:] = rng.normal(size=len(scores))
    return parts


def bench_kernels(rng: np.random.Generator, rounds: int, iterations: int) -> None:
    rows = []
    for n_words in (25, 50):
        for heads in (4, 10):
            for name, (kinds, factors) in MODELS.items():
                parts = pruned(rng, n_words, heads, kinds)
                count = sum(len(scores) for scores in parts.tables.values()) // SENTENCES
                for trees in ("nonprojective", "projective"):
                    loopy = PackedLoopy(parts, trees, "single", iterations, factors=factors)
                    d_arcs = loopy.sums().marginals.arcs
                    candidates = {
                        "sums": loopy.sums,
                        "vjp": lambda loopy=loopy, d_arcs=d_arcs: loopy.vjp(d_arcs),
                    }
                    times = interleaved(candidates, rounds)
                    speed = SENTENCES / np.median(times["sums"])
                    rows.append([
                        str(n_words), str(heads), name, trees, str(count), f"{speed:.0f}",
                        f"{SENTENCES / np.median(times['vjp']):.0f}",
                        f"{1 + ratio(times, 'vjp', 'sums'):.1f}",
                    ])  # fmt: skip
    header = ["n", "heads", "parts", "trees", "a sentence", "sums/s", "vjp/s", "both / sums"]
    table(f"sentences per second, {iterations} iterations, one thread", header, rows)


def bench_exact(rng: np.random.Generator, rounds: int, iterations: int) -> None:
    """Compared with the exact chart, if there is one."""
    rows = []
    for n_words in (25, 50):
        for kinds, factors in list(MODELS.values())[1:]:
            parts = pruned(rng, n_words, 4, kinds)
            loopy = PackedLoopy(parts, "projective", "single", iterations, factors=factors)
            exact = PackedSecondOrder(parts, "single")
            error = np.abs(loopy.sums().marginals.arcs - exact.sums().marginals.arcs).max()
            times = interleaved({"loopy": loopy.sums, "exact": exact.sums}, rounds)
            rows.append([
                str(n_words), " + ".join(kinds), f"{ratio(times, 'exact', 'loopy'):.1f}",
                f"{error:.2f}",
            ])  # fmt: skip
    table("projective beliefs against exact marginals", ["n", "parts", "x faster", "worst arc"],
          rows)  # fmt: skip


def bench_supar(rng: np.random.Generator, rounds: int, iterations: int) -> None:
    """Siblings only, compared with SuPar, whose factor graph differs.

    SuPar has a variable per word, whose values are its heads, instead of one per arc; a pair of
    siblings with score s has value 1 + exp(s) instead of exp(s); and there is no tree factor.
    """
    if not SuPar.available:
        return
    rows = []
    for n_words in (25, 50):
        theirs = SuPar(rng.normal(size=(SENTENCES, n_words + 1, n_words + 1)))
        candidates = {"SuPar": theirs.sibling_beliefs(iterations)}
        for heads in (4, 7, 10, n_words + 1):
            parts = pruned(rng, n_words, heads, ("siblings",))
            loopy = PackedLoopy(parts, "nonprojective", "single", iterations)
            candidates[f"{heads} heads"] = loopy.arc_beliefs
        times = interleaved(candidates, min(rounds, 5))
        rows += [
            [
                str(n_words), name, f"{SENTENCES / np.median(times['SuPar']):.0f}",
                f"{SENTENCES / np.median(times[name]):.0f}", f"{ratio(times, 'SuPar', name):.1f}",
            ]
            for name in list(candidates)[1:]
        ]  # fmt: skip
    table(f"siblings, {iterations} iterations, sentences per second; SuPar: all arcs, other graph",
          ["n", "Arbora keeps", "SuPar", "Arbora", "ratio"], rows)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=9, help="number of rounds; medians are reported"
    )
    parser.add_argument("--iterations", type=int, default=3)
    arguments = parser.parse_args()
    print(f"arbora {arbora.__version__}, NumPy {np.__version__}, {platform.machine()}; "
          f"{SENTENCES} sentences per call, random scores")  # fmt: skip
    rng = np.random.default_rng(0)
    bench_kernels(rng, arguments.rounds, arguments.iterations)
    bench_exact(rng, arguments.rounds, arguments.iterations)
    bench_supar(rng, arguments.rounds, arguments.iterations)


if __name__ == "__main__":
    main()
