"""Random graphs for belief propagation, with scores of all scales, and the error on each.

In every second graph, many scores are equal except for noise of size 1, because ties keep beliefs
away from 0 and 1 at every scale.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ConstraintError, NoTreeError, ScoreError
from arbora.inference.factor_graph import FactorGraph
from arbora.inference.factors import (
    AtMostOne,
    Chain,
    ExactlyOne,
    Factor,
    Head,
    Pair,
    Table,
    TreeFactor,
)
from arbora.inference.loopy import LoopyTrees
from arbora.scores import PartKind, Parts
from arbora.testing.slow_graph import SlowGraph
from arbora.testing.slow_loopy import SlowLoopy
from arbora.testing.slow_parts import random_parts
from arbora.types import FloatArray

__all__ = ["RandomFactorGraph", "RandomSentence", "random_factor"]

LARGEST_SCALE = 4.0  # powers of ten
_MODELS: list[tuple[PartKind, ...]] = [
    ("siblings",),
    ("grandparents",),
    ("siblings", "grandparents"),
    ("consecutive_siblings",),
    ("consecutive_siblings", "grandparents"),
    ("grandsiblings",),
    ("consecutive_siblings", "siblings", "grandparents", "grandsiblings"),
    ("head_bigrams",),
    ("siblings", "grandparents", "head_bigrams"),
]


class _Scores:
    """Random scores of one scale."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self.scale = 10 ** rng.uniform(0.0, LARGEST_SCALE)
        self._levels = rng.random() < 0.5

    def draw(self, size: int | tuple[int, ...]) -> FloatArray:
        if self._levels:
            levels = self.scale * self._rng.integers(-2, 3, size)
            return np.asarray(levels + self._rng.normal(size=size))
        return np.asarray(self.scale * self._rng.normal(size=size))

    def with_forbidden(self, size: int | tuple[int, ...]) -> FloatArray:
        """Some of them -inf."""
        scores = self.draw(size)
        return np.where(self._rng.random(scores.shape) < 0.15, -np.inf, scores)


class RandomSentence(NamedTuple):
    """Parts of a few words, and the settings of `LoopyTrees`."""

    parts: Parts
    settings: tuple[Any, ...]
    scale: float

    @classmethod
    def draw(cls, rng: np.random.Generator) -> RandomSentence:
        while True:
            scores, kinds = _Scores(rng), _MODELS[rng.integers(len(_MODELS))]
            n_words, forbidden = int(rng.integers(2, 5)), float(rng.choice([0.0, 0.15, 0.4]))
            shape = random_parts(rng, n_words, kinds, forbidden=forbidden)
            arcs = np.where(shape.arcs > -np.inf, scores.draw(shape.arcs.shape), -np.inf)
            lists = {kind: getattr(shape, kind).rows for kind in kinds}
            parts = Parts(arcs, **{k: (rows, scores.draw(len(rows))) for k, rows in lists.items()})
            settings: tuple[Any, ...] = (
                str(rng.choice(["nonprojective", "projective"])),
                str(rng.choice(["single", "multi"])),
                int(rng.integers(1, 5)),
                float(rng.choice([0.0, 0.3])),
                str(rng.choice(["serial", "parallel"])),
                str(rng.choice(["pairs", "automata"])),
            )
            try:
                LoopyTrees(parts, *settings)
            except NoTreeError:
                continue
            return cls(parts, settings, scores.scale)

    def error(self) -> float:
        """The largest difference between the beliefs of arcs or parts and the reference."""
        fast, slow = LoopyTrees(self.parts, *self.settings), SlowLoopy(self.parts, *self.settings)
        errors = [float(np.abs(fast.marginals - slow.marginals).max())]
        for kind, beliefs in slow.part_marginals.items():
            errors.append(float(np.abs(fast.part_marginals[kind] - beliefs).max(initial=0.0)))
        return max(errors)


class RandomFactorGraph(NamedTuple):
    """Variables and factors of every kind, with hard constraints, and settings."""

    scores: FloatArray
    factors: list[Factor]
    iterations: int
    damping: float
    parallel: bool
    scale: float

    @classmethod
    def draw(cls, rng: np.random.Generator, n_variables: int = 9) -> RandomFactorGraph:
        scores = _Scores(rng)
        factors = [random_factor(rng, n_variables, scores) for _ in range(rng.integers(1, 6))]
        return cls(
            scores.draw(n_variables), factors, int(rng.integers(1, 5)),
            float(rng.choice([0.0, 0.3])), bool(rng.random() < 0.5), scores.scale,
        )  # fmt: skip

    def groups(self) -> list[list[int]]:
        numbers = list(range(len(self.factors)))
        return [numbers] if self.parallel else [[i] for i in numbers]

    def error(self) -> float:
        """The largest difference between beliefs; infinite if only one finds a contradiction."""
        found: list[Any] = []
        for kind in (FactorGraph, SlowGraph):
            try:
                graph = kind(
                    self.scores, self.factors, self.iterations, self.damping, self.groups()
                )
                found.append(graph.beliefs)
            except ConstraintError:
                found.append(None)
        if found[0] is None or found[1] is None:
            return 0.0 if found[0] is found[1] else np.inf
        return float(np.abs(found[0] - found[1]).max())


def random_factor(
    rng: np.random.Generator, n_variables: int, scores: _Scores | None = None
) -> Factor:
    """A random factor over some of the variables."""
    drawn = scores or _Scores(rng)
    while True:
        try:
            return _draw_factor(rng, n_variables, drawn)
        except (NoTreeError, ScoreError):  # it forbids everything
            continue


def _draw_factor(rng: np.random.Generator, n_variables: int, scores: _Scores) -> Factor:
    places = rng.permutation(n_variables)
    kind, k = int(rng.integers(7)), int(rng.integers(1, 4))
    if kind == 0:
        return Pair(int(places[0]), int(places[1]), float(scores.with_forbidden(1)[0]))
    if kind == 1:
        return Table(places[:k], scores.with_forbidden((2,) * k))
    if kind == 2:
        return ExactlyOne(places[:k])
    if kind == 3:
        return AtMostOne(places[:k])
    if kind == 4:
        return Chain(places[: k + 1], scores.with_forbidden((k + 2) * (k + 3) // 2))
    if kind == 5:
        left, links = int(rng.integers(3)), int(rng.integers(3))
        pairs = sum((side + 1) * (side + 2) // 2 for side in (left, k))
        steps = scores.with_forbidden(max(links, 1) * pairs)
        return Head(
            places[:left], places[left : left + k], steps, places[left + k : left + k + links]
        )
    return _draw_tree(rng, places)


def _draw_tree(rng: np.random.Generator, places: NDArray[np.int64]) -> TreeFactor:
    n_words = int(rng.integers(1, 4))
    arcs = [
        (h, m) for m in range(1, n_words + 1) for h in range(n_words + 1)
        if h != m and rng.random() < 0.8
    ]  # fmt: skip
    if not any(m == n_words for _, m in arcs):
        arcs.append((0, n_words))
    trees, root = rng.choice(["nonprojective", "projective"]), rng.choice(["single", "multi"])
    return TreeFactor(places[: len(arcs)], arcs, str(trees), str(root))  # type: ignore[arg-type]  # names
