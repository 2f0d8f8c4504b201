"""A log-linear parser in thirty lines: the gradient of the log-likelihood is gold minus marginals.

See Koo et al. 2007, Eq. 7, and Smith & Smith 2007, Eq. 4. The toy treebank is in this file; tags
are the only features.
"""

from __future__ import annotations

import numpy as np

from arbora import SpanningTrees

TAGS = ["ROOT", "DET", "NOUN", "VERB", "PREP"]
TREEBANK = [  # tags and heads
    (["DET", "NOUN", "VERB"], [2, 3, 0]),
    (["DET", "NOUN", "VERB", "DET", "NOUN"], [2, 3, 0, 5, 3]),
    (["NOUN", "VERB", "PREP", "DET", "NOUN"], [2, 0, 2, 5, 3]),
    (["NOUN", "VERB", "NOUN", "PREP", "NOUN"], [2, 0, 2, 2, 4]),
    (["DET", "NOUN", "PREP", "NOUN", "VERB"], [2, 5, 2, 3, 0]),
]


def features(tags: list[str]) -> np.ndarray:
    """One feature per arc: head tag, modifier tag, direction and adjacency."""
    ids = np.array([TAGS.index(tag) for tag in ["ROOT", *tags]])
    place = np.arange(len(ids))
    right = (place[:, None] < place).astype(int)
    near = (np.abs(place[:, None] - place) == 1).astype(int)
    return np.asarray(((ids[:, None] * len(TAGS) + ids) * 2 + right) * 2 + near)


def train(steps: int = 200, rate: float = 0.5, ridge: float = 0.01) -> tuple[np.ndarray, float]:
    weights = np.zeros(len(TAGS) ** 2 * 4)
    likelihood = 0.0
    for _ in range(steps):
        gradient, likelihood = -ridge * weights, 0.0
        for tags, heads in TREEBANK:
            f = features(tags)
            trees = SpanningTrees(weights[f])
            likelihood += trees.log_prob(heads)
            np.add.at(gradient, f[heads, np.arange(1, len(f))], 1.0)
            np.subtract.at(gradient, f, trees.marginals)
        weights += rate * gradient
    return weights, likelihood


def main() -> None:
    weights, likelihood = train()
    right = total = 0
    for tags, heads in TREEBANK:
        predicted = SpanningTrees(weights[features(tags)]).mbr().heads
        right, total = right + int(np.sum(predicted == heads)), total + len(heads)
    print(f"log-likelihood {likelihood:.3f}, {right} of {total} heads right on the training data")
    new = ["NOUN", "PREP", "DET", "NOUN", "VERB", "NOUN"]
    trees = SpanningTrees(weights[features(new)])
    best = trees.argmax()
    p = np.exp(trees.log_prob(best.heads))
    print(f"{' '.join(new)}: heads {best.heads.tolist()}, P = {p:.2f}")


if __name__ == "__main__":
    main()
