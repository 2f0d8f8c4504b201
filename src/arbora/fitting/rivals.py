"""Rivals of gold trees for perceptron and MIRA, by training inference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from arbora.inference.automata import best_choices, best_walks
from arbora.inference.engines import DualDecomposition, SecondOrder
from arbora.inference.tree_parts import tree_parts
from arbora.losses import Rival, Rivals
from arbora.options import (
    AutomataOptions,
    Component,
    DualDecompositionOptions,
    ExactOptions,
)
from arbora.scores import Scores, chained_kinds
from arbora.types import FloatArray, Root, TreeClass

__all__ = ["RIVALS", "RivalSettings", "choice_rival", "dual_rival", "exact_rival", "walk_rival"]

# Maximum number of dual decomposition iterations; nearly every sentence needs fewer.
_ITERATIONS = 1500


def walk_rival(threads: int = 1) -> Rival:
    """The best automaton path of each head; they need not form a tree (Koo et al. 2010, sec. 6)."""
    return lambda scores: Rivals(*best_walks(scores, threads), np.zeros(len(scores)))


def choice_rival(threads: int = 1) -> Rival:
    """The best automaton path of each head, plus the best head of each word."""
    return lambda scores: Rivals(*best_choices(scores, threads), np.ones(len(scores)))


def dual_rival(engine: DualDecomposition) -> Rival:
    """The certified best tree, or `choice_rival` where dual decomposition finds none.

    An uncertified tree is a poor rival: it often scores less than gold, so that nothing is learnt
    and training drifts to scores for which trees are harder to find. The rivals of `choice_rival`
    score at least as much as any tree with its arcs counted twice, which counteracts the drift.
    """
    limit = _ITERATIONS if engine.max_iterations is None else engine.max_iterations
    limited = replace(engine, max_iterations=min(limit, _ITERATIONS))
    otherwise = choice_rival(engine.threads)

    def rival(scores: Scores) -> Rivals:
        found = limited.decode(scores)
        best = Rivals(
            *tree_parts(scores, found.heads, threads=engine.threads), np.zeros(len(scores))
        )
        if found.certified.all() or chained_kinds(scores.kinds):  # which no walk has
            return best
        return _mixed(best, found.certified.astype(np.float64), otherwise(scores))

    return rival


def _mixed(one: Rivals, share: FloatArray, other: Rivals) -> Rivals:
    """A weighted average of two rivals in every sentence."""
    rest = 1.0 - share
    return Rivals(
        one.parts.scaled(share) + other.parts.scaled(rest),
        share * one.scores + rest * other.scores,
        share * one.own_heads + rest * other.own_heads,
    )


def exact_rival(engine: SecondOrder) -> Rival:
    """The best projective tree."""

    def rival(scores: Scores) -> Rivals:
        best = tree_parts(scores, engine.decode(scores).heads, threads=engine.threads)
        return Rivals(*best, np.zeros(len(scores)))

    return rival


class RivalSettings(NamedTuple):
    """Settings of the search for rivals; `competing`: heads compete for words."""

    options: Component
    trees: TreeClass
    root: Root
    threads: int
    competing: bool


def _by_automata(settings: RivalSettings) -> Rival:
    return choice_rival(settings.threads) if settings.competing else walk_rival(settings.threads)


def _by_dual_decomposition(settings: RivalSettings) -> Rival:
    options = settings.options
    assert isinstance(options, DualDecompositionOptions)
    return dual_rival(
        DualDecomposition(
            options.max_iterations,
            options.solver,
            settings.trees,
            settings.root,
            settings.threads,
            tree_share=options.tree_share,
        )
    )


def _by_exact_search(settings: RivalSettings) -> Rival:
    return exact_rival(SecondOrder(settings.root, settings.threads))


RIVALS: dict[type[Component], Callable[[RivalSettings], Rival]] = {
    AutomataOptions: _by_automata,
    DualDecompositionOptions: _by_dual_decomposition,
    ExactOptions: _by_exact_search,
}
