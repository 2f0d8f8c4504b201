"""Memory of a batch beyond its input and output, which must not grow with the number of sentences.

    python benchmarks/bench_memory.py

Each measurement runs in a separate process and compares the peak resident memory with the size of
the scores, their checked copy and the marginals.
"""

from __future__ import annotations

import multiprocessing
import resource

import numpy as np

N_WORDS = 60


def extra_megabytes(kind_name: str, sentences: int, threads: int) -> float:
    import arbora

    kind = getattr(arbora, kind_name)
    assert kind.batch(np.zeros((2, 3, 3)), threads=threads).marginals  # code is loaded
    scores = np.random.default_rng(0).normal(size=(sentences, N_WORDS + 1, N_WORDS + 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = kind.batch(scores, threads=threads).marginals
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    known = 2 * scores.nbytes / 1024  # the copy of the scores, and the marginals
    assert len(answer) == sentences
    return (after - before - known) / 1024


def main() -> None:
    print(f"MB beyond scores and marginals, sentences of {N_WORDS} words")
    print(f"{'':16}{'threads':>8}{'64':>10}{'4096':>10}")
    context = multiprocessing.get_context("spawn")
    for kind in ("SpanningTrees", "ProjectiveTrees"):
        for threads in (1, 2):
            with context.Pool(1, maxtasksperchild=1) as pool:
                cells = [pool.apply(extra_megabytes, (kind, n, threads)) for n in (64, 4096)]
            print(f"{kind:16}{threads:8}{cells[0]:10.1f}{cells[1]:10.1f}")


if __name__ == "__main__":
    main()
