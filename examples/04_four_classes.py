"""The four classes of trees (Koo et al. 2007, Figure 1), drawn for "He saw her".

Projective or not, single-root or multi-root: 7, 12, 9 and 16 trees of three words. For each class,
the program draws a tree that the narrower classes do not contain.
"""

from __future__ import annotations

import sys

import numpy as np

from arbora import ProjectiveTrees, SpanningTrees
from arbora.drawing import TreeDrawing, make_printable

WORDS = ["He", "saw", "her"]
CLASSES = [
    (ProjectiveTrees, "single", "projective, single root", [2, 0, 2]),
    (ProjectiveTrees, "multi", "projective, multi-root", [0, 0, 2]),
    (SpanningTrees, "single", "non-projective, single root", [3, 0, 2]),
    (SpanningTrees, "multi", "non-projective, multi-root", [3, 0, 0]),
]


def main() -> None:
    make_printable(sys.stdout)
    for kind, root, name, heads in CLASSES:
        trees = kind(np.zeros((4, 4)), root=root)  # type: ignore[arg-type]  # one of the two roots
        count = round(np.exp(trees.log_partition))
        print(f"{name}: {count} trees, among them\n\n{TreeDrawing(WORDS, heads)}\n")
        assert trees.log_prob(heads) > -np.inf


if __name__ == "__main__":
    main()
