"""Engines: inference settings with the methods `infer`, `decode` or both.

`infer(scores)` returns marginals of arcs and parts with a gradient; `decode(scores)` returns best
trees with their certificates. Dual decomposition only decodes, belief propagation only infers.
Engines hold settings and nothing else, so one engine serves any number of sentences and threads.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.inference.dual import decode_dual
from arbora.inference.hill_climbing import hill_climb
from arbora.inference.marginals import ArcSums, Marginals
from arbora.inference.packed import Packed
from arbora.inference.packed_loopy import PackedLoopy
from arbora.inference.packed_second_order import PackedSecondOrder
from arbora.options import (
    BeliefPropagationOptions,
    Component,
    DualDecompositionOptions,
    ExactOptions,
    HillClimbingOptions,
    InferenceOptions,
)
from arbora.scores import Layout, Scores, chained_kinds
from arbora.types import Decoded, FloatArray, IntArray, Root, TreeClass

__all__ = [
    "BeliefPropagation",
    "DecodedTrees",
    "DecodingEngine",
    "DualDecomposition",
    "Eisner",
    "Engine",
    "ExactEngine",
    "FirstOrderEngine",
    "HillClimbing",
    "MatrixTree",
    "SecondOrder",
    "SummingEngine",
    "TreeLists",
    "first_order_engine",
    "higher_order_engine",
]


class DecodedTrees(NamedTuple):
    """Best trees of many sentences; `tree(i)` is the i-th as a `Decoded`.

    `heads` (and `labels`, if the scores have labels) are flat, one sentence after the other:
    (words,). All other arrays have shape (sentences,). No tree of a sentence scores more than its
    bound.
    """

    n_words: NDArray[np.int64]
    heads: IntArray
    labels: IntArray | None
    scores: FloatArray
    bounds: FloatArray
    certified: NDArray[np.bool_]
    iterations: NDArray[np.int64]

    def tree(self, i: int) -> Decoded:
        """The tree of sentence i."""
        first = int(self.n_words[:i].sum())
        heads = self.heads[first : first + int(self.n_words[i])]
        return Decoded(
            heads, float(self.scores[i]), float(self.bounds[i]), bool(self.certified[i]),
            int(self.iterations[i]),
        )  # fmt: skip

    @property
    def gaps(self) -> FloatArray:
        """An upper bound on how much better the best tree is."""
        return np.maximum(self.bounds - self.scores, 0.0)


class TreeLists(NamedTuple):
    """Several trees of every sentence.

    `counts`, (sentences,), is their number; `heads` and `labels` are flat, tree after tree.
    """

    heads: IntArray
    labels: IntArray | None
    counts: NDArray[np.int64]


class SummingEngine(Protocol):
    """Engines that give marginals."""

    @property
    def trees(self) -> TreeClass:
        """The class of trees."""
        ...

    @property
    def root(self) -> Root:
        """Whether one word or several may depend on the root symbol."""
        ...

    @property
    def threads(self) -> int:
        """How many threads to use; answers do not depend on it."""
        ...

    def infer(self, scores: Scores, *, gradient: bool = False) -> Marginals:
        """Marginals; `gradient` tells the engine that `vjp` will be called."""
        ...


class DecodingEngine(Protocol):
    """Engines that give best trees."""

    @property
    def trees(self) -> TreeClass:
        """The class of trees."""
        ...

    @property
    def root(self) -> Root:
        """Whether one word or several may depend on the root symbol."""
        ...

    @property
    def threads(self) -> int:
        """How many threads to use; answers do not depend on it."""
        ...

    def decode(self, scores: Scores) -> DecodedTrees:
        """The best tree of every sentence, with a bound and a certificate."""
        ...


Engine = SummingEngine | DecodingEngine


@dataclass(frozen=True)
class FirstOrderEngine:
    """Exact inference with arc scores, with or without labels."""

    trees: ClassVar[TreeClass]
    root: Root = "single"
    threads: int = 1

    def infer(self, scores: Scores, *, gradient: bool = False) -> Marginals:
        """Exact marginals and log Z of every sentence."""
        kernel = ArcSums(scores, self.packed(scores))
        return Marginals(scores, kernel, exact=True, gradient=gradient)

    def decode(self, scores: Scores) -> DecodedTrees:
        """The best tree of every sentence."""
        heads, labels, values = self.packed(scores).best()
        return _certain(scores, heads, labels, values)

    def kbest(self, scores: Scores, k: int) -> TreeLists:
        """The k best trees of every sentence, best first."""
        found = self.packed(scores).kbest(k)
        trees = [tree for one in found for tree in one]
        heads = np.concatenate([tree.heads for tree in trees])
        labels = [tree.labels for tree in trees if tree.labels is not None]
        counts = np.array([len(one) for one in found], dtype=np.int64)
        return TreeLists(heads, np.concatenate(labels) if labels else None, counts)

    def sample(
        self, scores: Scores, count: int, seed: int, keys: NDArray[np.int64] | None = None
    ) -> TreeLists:
        """Exact draws; `keys` are the numbers that sentences' draws depend on."""
        drawn = self.packed(scores, keys).sample(count, seed)
        labels = [rows.reshape(-1) for _, rows in drawn if rows is not None]
        return TreeLists(
            np.concatenate([rows.reshape(-1) for rows, _ in drawn]),
            np.concatenate(labels) if labels else None,
            np.full(len(scores), count, dtype=np.int64),
        )

    def tree_scores(self, scores: Scores, trees: TreeLists) -> FloatArray:
        """The score of every tree of the lists."""
        layout = Layout(scores.n_words, trees.counts)
        cells = layout.arcs(trees.heads)
        if scores.n_labels is not None:
            assert trees.labels is not None
            cells = cells * scores.n_labels + trees.labels
        return layout.per_sentence(scores.arcs[cells])

    def packed(self, scores: Scores, keys: NDArray[np.int64] | None = None) -> Packed:
        """The scores as the kernels take them."""
        if scores.tables:
            raise ArgumentError(
                f"{type(self).__name__} is a first-order engine and cannot score "
                f"{', '.join(scores.kinds)}: use SecondOrder, BeliefPropagation or "
                "DualDecomposition."
            )
        return Packed(
            scores.arcs, scores.n_words, scores.n_labels, self.trees, self.root, self.threads, keys
        )


@dataclass(frozen=True)
class MatrixTree(FirstOrderEngine):
    """All trees: sums by the matrix-tree theorem (Koo et al. 2007), maximum spanning trees."""

    trees: ClassVar[TreeClass] = "nonprojective"


@dataclass(frozen=True)
class Eisner(FirstOrderEngine):
    """Projective trees: Eisner's chart (1996)."""

    trees: ClassVar[TreeClass] = "projective"


def first_order_engine(trees: TreeClass, root: Root, threads: int = 1) -> FirstOrderEngine:
    """The engine for a class of trees."""
    return MatrixTree(root, threads) if trees == "nonprojective" else Eisner(root, threads)


@dataclass(frozen=True)
class SecondOrder(ExactOptions):
    """Exact inference over projective trees with parts of second order."""

    trees: ClassVar[TreeClass] = "projective"
    root: Root = "single"
    threads: int = 1

    def infer(self, scores: Scores, *, gradient: bool = False) -> Marginals:
        """Exact marginals and log Z of every sentence."""
        return Marginals(scores, self.packed(scores), exact=True, gradient=gradient)

    def decode(self, scores: Scores) -> DecodedTrees:
        """The best projective tree of every sentence."""
        heads, values = self.packed(scores).argmax()
        return _certain(scores, heads, None, values)

    def kbest(self, scores: Scores, k: int) -> TreeLists:
        """The k best trees of every sentence, best first."""
        heads, _, counts = self.packed(scores).kbest(k)
        return TreeLists(heads, None, counts)

    def sample(
        self, scores: Scores, count: int, seed: int, keys: NDArray[np.int64] | None = None
    ) -> TreeLists:
        """Exact draws; `keys` are the numbers that sentences' draws depend on."""
        heads = self.packed(scores).sample(count, seed, keys)
        return TreeLists(heads, None, np.full(len(scores), count, dtype=np.int64))

    def tree_scores(self, scores: Scores, trees: TreeLists) -> FloatArray:
        """The score of every tree of the lists."""
        packed, answers, start = self.packed(scores), [], 0
        sizes = zip(scores.n_words.tolist(), trees.counts.tolist(), strict=True)
        for i, (n, count) in enumerate(sizes):
            end = start + count * n
            answers.append(packed.tree_scores(i, trees.heads[start:end].reshape(count, n)))
            start = end
        return np.concatenate(answers)

    def packed(self, scores: Scores) -> PackedSecondOrder:
        """The scores as the kernels take them."""
        return PackedSecondOrder(scores, self.root, self.threads)


ExactEngine = FirstOrderEngine | SecondOrder  # sums and best trees, all of them exact


@dataclass(frozen=True)
class BeliefPropagation(BeliefPropagationOptions):
    """Approximate marginals of any trees and parts (Gormley et al. 2015)."""

    trees: TreeClass = "nonprojective"
    root: Root = "single"
    threads: int = 1

    def infer(self, scores: Scores, *, gradient: bool = False) -> Marginals:
        """Beliefs and Bethe's log Z; with `gradient`, messages are kept for `vjp`."""
        kernel = PackedLoopy(
            scores, self.trees, self.root, self.iterations, self.damping, self.schedule,
            self.factors or "pairs", self.threads,
        )  # fmt: skip
        return Marginals(scores, kernel, exact=False, gradient=gradient)


@dataclass(frozen=True)
class DualDecomposition(DualDecompositionOptions):
    """Best trees with certificates (Koo et al. 2010)."""

    trees: TreeClass = "nonprojective"
    root: Root = "single"
    threads: int = 1

    def decode(self, scores: Scores) -> DecodedTrees:
        """Trees, bounds and certificates of every sentence."""
        solver = self.solver or ("ad3" if chained_kinds(scores.kinds) else "branch")
        found = decode_dual(
            scores, self.trees, self.root, self.max_iterations, solver,
            tree_share=self.tree_share, threads=self.threads,
        )  # fmt: skip
        return DecodedTrees(
            scores.n_words, found.heads, None, found.scores, found.bounds, found.certified,
            found.iterations,
        )  # fmt: skip


@dataclass(frozen=True)
class HillClimbing(HillClimbingOptions):
    """Good trees by changing one head at a time, without a bound."""

    trees: TreeClass = "nonprojective"
    root: Root = "single"
    threads: int = 1

    def decode(self, scores: Scores) -> DecodedTrees:
        """The best trees that were found; bounds are infinite."""
        found = hill_climb(
            scores, self.trees, self.root, restarts=self.restarts, threads=self.threads
        )
        heads = np.concatenate([tree.heads for tree in found]) if found else np.empty(0, np.int32)
        values = np.array([tree.score for tree in found])
        count = len(scores)
        return DecodedTrees(
            scores.n_words, heads, None, values, np.full(count, np.inf),
            np.zeros(count, dtype=np.bool_), np.full(count, self.restarts + 1, dtype=np.int64),
        )  # fmt: skip


def _certain(
    scores: Scores, heads: IntArray, labels: IntArray | None, values: FloatArray
) -> DecodedTrees:
    """Trees that are certainly the best."""
    count = len(scores)
    return DecodedTrees(
        scores.n_words, heads, labels, values, values, np.ones(count, dtype=np.bool_),
        np.ones(count, dtype=np.int64),
    )  # fmt: skip


# The engine of each kind of options.
ENGINES: dict[type[Component], type[Any]] = {
    ExactOptions: SecondOrder,
    BeliefPropagationOptions: BeliefPropagation,
    DualDecompositionOptions: DualDecomposition,
    HillClimbingOptions: HillClimbing,
}


def higher_order_engine(
    options: InferenceOptions, trees: TreeClass, root: Root, threads: int = 1
) -> Any:
    """The engine of the options, over a class of trees."""
    engine = ENGINES[type(options)]
    names = {each.name for each in fields(engine)}
    own = {each.name: getattr(options, each.name) for each in fields(options)}
    if "trees" in names:
        own["trees"] = trees
    return engine(**own, root=root, threads=threads)
