"""Where perceptron and MIRA look for the rivals of gold trees, by training inference."""

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
from arbora.scores import Scores
from arbora.types import FloatArray, Root, TreeClass

__all__ = ["RIVALS", "RivalSettings", "choice_rival", "dual_rival", "exact_rival", "walk_rival"]

# Iterations of dual decomposition for a rival: enough to settle nearly every sentence.
_ITERATIONS = 1500


def walk_rival(threads: int = 1) -> Rival:
    """The best walks of all heads, which need not form a tree (Koo et al. 2010, section 6)."""
    return lambda scores: Rivals(*best_walks(scores, threads), np.zeros(len(scores)))


def choice_rival(threads: int = 1) -> Rival:
    """The best walks of all heads and the heads that words choose for themselves."""
    return lambda scores: Rivals(*best_choices(scores, threads), np.ones(len(scores)))


def dual_rival(engine: DualDecomposition) -> Rival:
    """The best tree where dual decomposition is sure of it, elsewhere walks and choices.

    A tree that is only the best so far would not do: often it scores less than gold, so nothing is
    learnt from it, and training drifts to scores under which trees are ever harder to find. Walks
    and choices score at least as much as any tree whose arcs count twice, and so counteract that.
    """
    limited = replace(engine, max_iterations=min(engine.max_iterations, _ITERATIONS))
    otherwise = choice_rival(engine.threads)

    def rival(scores: Scores) -> Rivals:
        found = limited.decode(scores)
        best = Rivals(
            *tree_parts(scores, found.heads, threads=engine.threads), np.zeros(len(scores))
        )
        if found.certified.all():
            return best
        return _mixed(best, found.certified.astype(np.float64), otherwise(scores))

    return rival


def _mixed(one: Rivals, share: FloatArray, other: Rivals) -> Rivals:
    """A share of one rival in every sentence, and the rest of the other."""
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
    """What a rival is looked for with; `competing`: heads compete for words."""

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
            options.max_iterations, options.solver, settings.trees, settings.root, settings.threads
        )
    )


def _by_exact_search(settings: RivalSettings) -> Rival:
    return exact_rival(SecondOrder(settings.root, settings.threads))


RIVALS: dict[type[Component], Callable[[RivalSettings], Rival]] = {
    AutomataOptions: _by_automata,
    DualDecompositionOptions: _by_dual_decomposition,
    ExactOptions: _by_exact_search,
}
