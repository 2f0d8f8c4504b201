"""A scorer in NumPy, trained through belief propagation (Gormley et al. 2015, sections 4.2 and 8).

The data are made up: words have vectors, a tree's arcs go where two random bilinear forms like
them, and one of the forms looks at an arc together with the arc above it. A small network scores
arcs and grandparents; the loss is the squared distance of the beliefs from the gold trees, and its
gradient comes back through four iterations of belief propagation to the network's weights.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from arbora import HeadAutomata, LoopyTrees, Parts
from arbora.drawing import make_printable

Floats = NDArray[np.float64]
WIDTH, WORDS = 6, 6
PATHS = np.array([(g, h, m) for m in range(1, WORDS + 1) for h in range(1, WORDS + 1)
                  for g in range(WORDS + 1) if len({g, h, m}) == 3])  # fmt: skip


class Scorer:
    """Scores of arcs and grandparents from two bilinear forms of the words' vectors."""

    def __init__(self, rng: np.random.Generator, scale: float) -> None:
        self.weights = {name: scale * rng.normal(size=(WIDTH, WIDTH)) for name in ("arcs", "paths")}
        self.seen = {name: np.full((WIDTH, WIDTH), 1e-9) for name in self.weights}

    def parts(self, words: Floats) -> Parts:
        arcs = words @ self.weights["arcs"] @ words.T
        above = words @ self.weights["paths"] @ words.T
        return Parts(arcs, grandparents=(PATHS, above[PATHS[:, 0], PATHS[:, 2]]))

    def pull(self, words: Floats, d_arcs: Floats, d_paths: Floats) -> dict[str, Floats]:
        """The gradient by the weights, given that by the scores."""
        d_above = np.zeros(d_arcs.shape)
        np.add.at(d_above, (PATHS[:, 0], PATHS[:, 2]), d_paths)
        return {"arcs": words.T @ d_arcs @ words, "paths": words.T @ d_above @ words}


def sentences(rng: np.random.Generator, count: int) -> list[tuple[Floats, NDArray[np.int32]]]:
    """Words, and the best trees under hidden weights."""
    hidden = Scorer(np.random.default_rng(1), 0.8)
    made = []
    for _ in range(count):
        words = rng.normal(size=(WORDS + 1, WIDTH))
        made.append((words, HeadAutomata(hidden.parts(words)).argmax().heads))
    return made


def step(scorer: Scorer, words: Floats, heads: NDArray[np.int32], rate: float) -> float:
    """One sentence's loss, and a step down its gradient."""
    gold = np.zeros((WORDS + 1, WORDS + 1))
    gold[heads, np.arange(1, WORDS + 1)] = 1.0
    beliefs = LoopyTrees(scorer.parts(words), iterations=4)
    away = beliefs.marginals - gold
    through = beliefs.vjp(4 * away)
    gradient = scorer.pull(words, through.arcs, through.parts["grandparents"])
    for name, d_weights in gradient.items():  # AdaGrad
        scorer.seen[name] += d_weights**2
        scorer.weights[name] -= rate * d_weights / np.sqrt(scorer.seen[name])
    return float(2 * np.sum(away**2))


def accuracy(scorer: Scorer, data: list[tuple[Floats, NDArray[np.int32]]]) -> float:
    right = [LoopyTrees(scorer.parts(words)).mbr().heads == heads for words, heads in data]
    return float(np.mean(right))


def main() -> None:
    make_printable(sys.stdout)
    rng = np.random.default_rng(0)
    training, test = sentences(rng, 120), sentences(rng, 60)
    scorer = Scorer(rng, 0.01)
    print(f"before            {accuracy(scorer, test):6.1%} of heads right")
    for epoch in range(1, 7):
        losses = [step(scorer, words, heads, 0.1) for words, heads in training]
        print(f"epoch {epoch}: loss {np.mean(losses):5.2f} {accuracy(scorer, test):6.1%}")
    assert accuracy(scorer, test) > 0.6


if __name__ == "__main__":
    main()
