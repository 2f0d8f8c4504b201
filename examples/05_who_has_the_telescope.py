"""A distribution over the trees of an ambiguous sentence, from hand-written scores."""

from __future__ import annotations

import sys

import numpy as np

from arbora import SpanningTrees
from arbora.drawing import heat_table, make_printable

WORDS = ["I", "saw", "the", "man", "with", "the", "telescope"]
ARCS = {  # (head, modifier): log-score; every other arc scores -4
    (0, 2): 4.0,
    (2, 1): 3.0,
    (4, 3): 3.0,
    (7, 3): -1.0,
    (2, 4): 3.0,
    (2, 5): 1.2,
    (4, 5): 0.8,
    (7, 6): 3.0,
    (5, 7): 3.0,
    (2, 7): 0.5,
    (0, 4): 0.0,
    (4, 1): -0.5,
}


def scores() -> np.ndarray:
    table = np.full((len(WORDS) + 1, len(WORDS) + 1), -4.0)
    for arc, score in ARCS.items():
        table[arc] = score
    return table


def main() -> None:
    make_printable(sys.stdout)
    trees = SpanningTrees(scores())
    best = trees.argmax()
    print(f"\nA distribution over the trees of: {' '.join(WORDS)}\n")
    print(f"The best tree, with probability {np.exp(trees.log_prob(best.heads)):.0%}\n")
    print(best.draw(WORDS))

    print("\nHow likely each arc is, in percent (rows: heads, columns: words)\n")
    print(heat_table(WORDS, trees.marginals))

    print("\nThe five best trees\n")
    for rank, tree in enumerate(trees.kbest(5), start=1):
        changes = [
            f"{WORDS[m - 1]} <- {'ROOT' if h == 0 else WORDS[h - 1]}"
            for (h, m), old in zip(tree.arcs, best.heads, strict=True)
            if h != old
        ]
        probability = np.exp(trees.log_prob(tree.heads))
        print(f"  {rank}.  {probability:6.1%}   {', '.join(changes) or 'the best tree'}")
    print(f"\n  entropy {trees.entropy():.2f} nats, log Z {trees.log_partition:.3f}")

    print("\nThe man has the telescope, we are told: required=[(4, 5)]\n")
    told = trees.constrain(required=[(4, 5)])
    print(told.argmax().draw(WORDS))
    moved = np.abs(told.marginals - trees.marginals).max(axis=0)[1:]
    others = [f"{w} ({d:.0%})" for w, d in zip(WORDS, moved, strict=True) if d > 0.02]
    print(
        f"\n  P(this arc) was {trees.marginals[4, 5]:.0%}; heads that moved: {', '.join(others)}\n"
    )


if __name__ == "__main__":
    main()
