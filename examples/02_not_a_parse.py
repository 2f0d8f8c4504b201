"""Spanning trees that are not parses: which manuscript was copied from which?

Copies of a text form a tree: each was made from an earlier copy or the lost original (Koo et al.
2007, sections 1 and 7: the theorem applies to any directed spanning trees). A copy keeps almost all
mistakes of its source and adds some. Dates rule out some sources.
"""

from __future__ import annotations

import numpy as np

from arbora import SpanningTrees

NAMES = ["Abbey", "Bishop", "Castle", "Dean", "Elector"]
YEARS = [1150, 1180, 1240, 1235, 1310]
MISTAKES = [
    {1, 2, 3},
    {1, 2, 3, 4, 5},
    {1, 2, 3, 4, 5, 6, 7},
    {1, 3, 8},
    {1, 2, 3, 4, 5, 6, 7, 9},
]
KEEP, ADD = np.log(0.02), np.log(0.3)  # copyists rarely lose a mistake, but often add one


def log_likelihood(source: set[int], copy: set[int]) -> float:
    return float(KEEP * len(source - copy) + ADD * len(copy - source))


def main() -> None:
    n = len(NAMES)
    scores = np.full((n + 1, n + 1), -np.inf)
    for copy in range(n):
        scores[0, copy + 1] = log_likelihood(set(), MISTAKES[copy])
        for source in range(n):
            if YEARS[source] < YEARS[copy]:
                scores[source + 1, copy + 1] = log_likelihood(MISTAKES[source], MISTAKES[copy])

    copies = SpanningTrees(scores, root="multi")  # the original may have been copied many times
    names = ["the original", *NAMES]
    for head, copy in copies.mbr().arcs:
        p = copies.marginals[head, copy]
        print(f"{NAMES[copy - 1]:8} copied from {names[head]:13} (probability {p:.2f})")
    print(f"{np.exp(copies.entropy()):.1f} equally likely histories' worth of doubt")

    found = copies.constrain(required=[(1, 4)])  # a note in the Dean's copy names the Abbey
    print(f"with the Dean's note: {np.exp(found.entropy()):.1f}")


if __name__ == "__main__":
    main()
