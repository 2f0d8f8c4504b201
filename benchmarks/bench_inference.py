"""Speed of exact inference, as ratios to other libraries (`make bench`)."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: one core for every library

import argparse
import platform

import numpy as np
from peers import SuPar, TorchStruct, Ufal, numpy_sums
from timing import interleaved, ratio

import arbora
from arbora import ProjectiveTrees, SpanningTrees

SIZES = [10, 25, 50, 100, 200]
SENTENCES = 64


def random_scores(rng: np.random.Generator, n_words: int, count: int = SENTENCES) -> np.ndarray:
    return rng.normal(size=(count, n_words + 1, n_words + 1))


def parser_like(rng: np.random.Generator, n_words: int, count: int = SENTENCES) -> np.ndarray:
    scores = random_scores(rng, n_words, count)
    trees = SpanningTrees(np.zeros((n_words + 1, n_words + 1))).sample(count, seed=1)
    for sentence, heads in zip(scores, trees, strict=True):
        sentence[heads, np.arange(1, n_words + 1)] += 8.0
    return scores


def table(title: str, header: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}\n")
    for row in [header, *rows]:
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def microseconds(times: dict[str, np.ndarray], name: str, count: int = SENTENCES) -> str:
    return f"{np.median(times[name]) / count * 1e6:.1f}"


def bench_spanning_sums(rng: np.random.Generator, rounds: int) -> None:
    goals = {10: 2.5, 25: 2.5, 50: 2.0, 100: 1.5, 200: 1.0}
    peers = [peer for peer in (TorchStruct, SuPar) if peer.available]
    header = ["n", "arbora us", "2 threads", "single root", "x NumPy", "goal"]
    header += [f"x {peer.__name__}" for peer in peers]
    rows = []
    for n in SIZES:
        scores = random_scores(rng, n)

        def ours(threads: int = 1, root: str = "multi", scores: np.ndarray = scores) -> tuple:
            batch = SpanningTrees.batch(scores, root, threads=threads)
            return batch.marginals, batch.log_partition

        log_z, marginals = numpy_sums(scores)
        assert np.allclose(log_z, ours()[1])
        assert np.allclose(marginals, ours()[0])
        candidates = {"arbora": ours, "numpy": lambda scores=scores: numpy_sums(scores)}
        candidates["two"] = lambda ours=ours: ours(threads=2)
        candidates["single"] = lambda ours=ours: ours(root="single")
        for peer in peers:
            candidates[peer.__name__] = peer(scores).spanning_sums
        times = interleaved(candidates, rounds)
        row = [str(n), *(microseconds(times, name) for name in ("arbora", "two", "single"))]
        row += [f"{ratio(times, 'numpy', 'arbora'):.1f}", f"{goals[n]}"]
        row += [f"{ratio(times, peer.__name__, 'arbora'):.0f}" for peer in peers]
        rows.append(row)
    table("log Z and marginals, spanning trees, multi-root", header, rows)


def bench_best_tree(rng: np.random.Generator, rounds: int) -> None:
    goals = {25: "5", 100: "8"}
    rows = []
    for name, make in (("random", random_scores), ("parser-like", parser_like)):
        for n in SIZES:
            scores = make(rng, n)
            candidates = {
                "multi": lambda s=scores: SpanningTrees.batch(s, "multi", threads=1).argmax(),
                "single": lambda s=scores: SpanningTrees.batch(s, "single", threads=1).argmax(),
            }
            if Ufal.available:
                ufal = Ufal(scores)
                candidates["ufal"] = ufal.argmax
                ours = [tree.heads.tolist() for tree in candidates["multi"]()]
                assert ours == [list(heads) for heads in ufal.argmax()]
            times = interleaved(candidates, rounds)
            faster = f"{ratio(times, 'ufal', 'multi'):.1f}" if Ufal.available else "-"
            rows.append([
                name, str(n), microseconds(times, "multi"), microseconds(times, "single"),
                f"{ratio(times, 'single', 'multi'):.2f}", "2" if name == "random" else "1.3",
                faster, goals.get(n, "-"),
            ])  # fmt: skip
    header = ["scores", "n", "multi us", "single us", "single/multi", "goal", "x ufal", "goal"]
    table("best spanning tree", header, rows)


def bench_projective(rng: np.random.Generator, rounds: int) -> None:
    peers = [peer for peer in (TorchStruct, SuPar) if peer.available]
    goals = {25: "30", 50: "50"}
    rows = []
    for n in SIZES:
        scores = random_scores(rng, n)

        def sums(threads: int, scores: np.ndarray = scores) -> tuple:
            batch = ProjectiveTrees.batch(scores, threads=threads)
            return batch.marginals, batch.log_partition

        candidates = {
            "sums": lambda sums=sums: sums(1),
            "two": lambda sums=sums: sums(2),
            "best": lambda scores=scores: ProjectiveTrees.batch(scores, threads=1).argmax(),
        }
        if n <= 100:  # the others need minutes for longer sentences
            for peer in peers:
                other = peer(scores)
                theirs = np.asarray(other.projective_sums()[0].detach())
                assert np.allclose(theirs, sums(1)[1], rtol=1e-3), peer.__name__
                candidates[f"{peer.__name__} sums"] = other.projective_sums
                candidates[f"{peer.__name__} best"] = other.projective_argmax
        times = interleaved(candidates, min(rounds, 3) if peers else rounds)
        row = [str(n), *(microseconds(times, name) for name in ("sums", "two", "best"))]
        for what in ("sums", "best"):
            ratios = [
                ratio(times, f"{peer.__name__} {what}", what)
                for peer in peers
                if f"{peer.__name__} {what}" in times
            ]
            row += [f"{r:.0f}" for r in ratios] or ["-"] * len(peers)
        rows.append([*row, goals.get(n, "-")])
    header = ["n", "sums us", "2 threads", "best us"]
    header += [f"x {peer.__name__} {what}" for what in ("sums", "best") for peer in peers]
    table("projective trees, single root", [*header, "goal"], rows)


def bench_threads(rng: np.random.Generator, rounds: int) -> None:
    rows = []
    for n in (25, 50, 100):
        scores = random_scores(rng, n, 512)
        row = [str(n)]
        for kind in (SpanningTrees, ProjectiveTrees):
            candidates = {
                str(t): lambda t=t, kind=kind, s=scores: kind.batch(s, threads=t).marginals
                for t in (1, 2)
            }
            # Long turns, because an idle second core takes a while to reach full speed.
            times = interleaved(candidates, rounds, at_least=0.2)
            # On a shared machine the second core is not always available: the best times show the
            # scaling of the program, the medians include the load of the machine.
            best = times["1"].min() / times["2"].min()
            row.append(f"{ratio(times, '1', '2'):.2f} / {best:.2f}")
        rows.append([*row, "1.8"])
    table(
        "two threads against one, 512 sentences: median of rounds / of the best times",
        ["n", "spanning", "projective", "goal"], rows,
    )  # fmt: skip


def bench_lists(rng: np.random.Generator, rounds: int) -> None:
    rows = []
    for n in (5, 10, 25):
        stack = random_scores(rng, n)
        row = [str(n)]
        for kind in (SpanningTrees, ProjectiveTrees):
            candidates = {
                "list": lambda kind=kind, s=list(stack): kind.batch(s, threads=1).log_partition,
                "array": lambda kind=kind, s=stack: kind.batch(s, threads=1).log_partition,
            }
            times = interleaved(candidates, rounds)
            row += [microseconds(times, "list"), f"{ratio(times, 'list', 'array'):.2f}"]
        rows.append([*row, "1.15"])
    header = ["n", "spanning us", "x array", "projective us", "x array", "goal"]
    table("a list of arrays against one array, log Z", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=9, help="number of rounds; medians are reported"
    )
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    found = [peer.__name__ for peer in (Ufal, TorchStruct, SuPar) if peer.available]
    print(
        f"arbora {arbora.__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    )
    print(
        f"{platform.machine()}, {os.cpu_count()} cores; {SENTENCES} sentences per call, times per"
    )
    print(f"sentence, x = times faster; with NumPy and {', '.join(found) or 'nothing else'}")
    for bench in (
        bench_spanning_sums, bench_best_tree, bench_projective, bench_lists, bench_threads,
    ):  # fmt: skip
        bench(rng, arguments.rounds)


if __name__ == "__main__":
    main()
