"""Reference belief propagation on a `FactorGraph`: every factor enumerates its configurations.

Like `SlowLoopy`, it uses logarithms and extended precision. Messages that a variable must be on or
off are infinite.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.errors import ConstraintError
from arbora.inference.factors import (
    AtMostOne,
    ExactlyOne,
    Factor,
    Head,
    Pair,
    Table,
    TreeFactor,
)
from arbora.testing.enumeration import enumerate_trees
from arbora.testing.slow_loopy import Precise, log_sum

__all__ = ["EnumeratedFactor", "SlowGraph"]


class EnumeratedFactor(NamedTuple):
    """A factor as a list of the configurations that it allows.

    `on[c, i]` is the state of variable i in configuration c. `uses[c, s]` is the number of times
    that configuration c uses score s of the factor.
    """

    variables: NDArray[np.int64]
    on: NDArray[np.bool_]
    uses: NDArray[np.int64]
    scores: Precise

    @classmethod
    def of(cls, factor: Factor) -> EnumeratedFactor:
        """Any factor of `arbora.inference.factors`."""
        states, rows, scores = [], [], []
        for on in map(np.array, itertools.product([False, True], repeat=len(factor.variables))):
            used = _used(factor, on)
            if used is None or (factor.scores[used] == -np.inf).any():
                continue
            states.append(on)
            rows.append(np.bincount(used, minlength=len(factor.scores)))
            scores.append(factor.scores[used].astype(np.longdouble).sum())
        return cls(
            np.asarray(factor.variables), np.array(states), np.array(rows),
            np.array(scores, dtype=np.longdouble),
        )  # fmt: skip

    def weights(self, incoming: Precise) -> Precise:
        """The log-weights of the configurations; variables that must be on contribute 0."""
        must = np.isinf(incoming)
        weights = self.scores + np.where(self.on & ~must, incoming, 0.0).sum(axis=1)
        right = (self.on == (incoming > 0)) | ~must
        return np.asarray(np.where(right.all(axis=1), weights, -np.inf))

    def messages(self, incoming: Precise) -> Precise:
        """Log-odds to every variable, infinite if one of the two sums is empty."""
        answer = np.zeros(len(incoming), np.longdouble)
        for i in range(len(incoming)):
            others = incoming.copy()
            others[i] = 0.0
            weights = self.weights(others)
            on, off = log_sum(weights[self.on[:, i]]), log_sum(weights[~self.on[:, i]])
            answer[i] = 0.0 if on == off == -np.inf else on - off
        return answer

    def pullback(self, incoming: Precise, d_messages: ArrayLike) -> tuple[Precise, Precise]:
        """Gradients with respect to `incoming` and the factor's scores; constants have none."""
        d_weights = np.zeros(len(self.scores), np.longdouble)
        d_incoming = np.zeros(len(incoming), np.longdouble)
        for i, d_message in enumerate(np.asarray(d_messages)):
            others = incoming.copy()
            others[i] = 0.0
            weights = self.weights(others)
            states = [np.where(self.on[:, i] == state, weights, -np.inf) for state in (True, False)]
            if (np.array([state.max() for state in states]) == -np.inf).any():
                continue
            on, off = (np.exp(state - log_sum(state)) for state in states)
            d_weights += d_message * (on - off)
            others_on = self.on.copy()
            others_on[:, i] = False
            d_incoming += d_message * (on - off) @ others_on
        return np.where(np.isinf(incoming), 0.0, d_incoming), d_weights @ self.uses


class SlowGraph:
    """A reference implementation of `FactorGraph`."""

    def __init__(
        self,
        scores: ArrayLike,
        factors: Sequence[Factor],
        iterations: int = 4,
        damping: float = 0.0,
        groups: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.scores = np.asarray(scores, dtype=np.longdouble)
        self.factors = [EnumeratedFactor.of(factor) for factor in factors]
        self.messages = [np.zeros(len(f.variables), np.longdouble) for f in self.factors]
        for iteration in range(iterations):
            share = damping if iteration else 0.0
            for group in groups or [[i] for i in range(len(factors))]:
                said = {i: self.factors[i].messages(self.incoming(i)) for i in group}
                for i, fresh in said.items():
                    old = self.messages[i]
                    self.messages[i] = fresh if share == 0 else (1 - share) * fresh + share * old
        self.totals = self._heard(except_by=-1)

    def _heard(self, except_by: int) -> Precise:
        finite, must = self.scores.copy(), np.zeros(len(self.scores))
        for i, (factor, said) in enumerate(zip(self.factors, self.messages, strict=True)):
            if i == except_by:
                continue
            for variable, message in zip(factor.variables, said, strict=True):
                if np.isfinite(message):
                    finite[variable] += message
                elif must[variable] == -message:
                    raise ConstraintError(f"variable {variable} would have to be on and off.")
                else:
                    must[variable] = message
        return np.asarray(np.where(must == 0, finite, must))

    def incoming(self, i: int) -> Precise:
        """The messages from the variables of factor i."""
        told = self._heard(except_by=i)[self.factors[i].variables]
        if (self.factors[i].weights(told) == -np.inf).all():
            raise ConstraintError(f"nothing is left for factor {i}.")
        return told

    @property
    def beliefs(self) -> Precise:
        return np.asarray(np.exp(-np.logaddexp(0, -self.totals)))


def _used(factor: Factor, on: NDArray[np.bool_]) -> list[int] | None:
    """The scores that a configuration uses; None if it is forbidden."""
    if isinstance(factor, Pair):
        return [0] if on.all() else []
    if isinstance(factor, Table):
        return [int(np.sum(on << np.arange(len(on))))]
    if isinstance(factor, ExactlyOne):
        return [] if on.sum() == 1 else None
    if isinstance(factor, AtMostOne):
        return [] if on.sum() <= 1 else None
    if isinstance(factor, Head):
        left, right, links = factor.sizes
        return _steps(left, right, links, on)
    assert isinstance(factor, TreeFactor)
    n_words, heads, modifiers, projective, multi = factor.sizes
    return [] if _is_tree(n_words, heads, modifiers, projective, multi, on) else None


def _steps(left: int, right: int, links: int, on: NDArray[np.bool_]) -> list[int] | None:
    choice = np.flatnonzero(on[left + right :])
    if links and len(choice) != 1:
        return None
    pairs = [(k + 1) * (k + 2) // 2 for k in (left, right)]
    first = (int(choice[0]) if links else 0) * sum(pairs)
    steps = []
    for k, begin, taken in (
        (left, first, on[:left]),
        (right, first + pairs[0], on[left : left + right]),
    ):
        path = [0, *(np.flatnonzero(taken) + 1).tolist(), k + 1]
        for previous, following in itertools.pairwise(path):
            steps.append(begin + (following - 1) * following // 2 + previous)
    return steps


def _is_tree(
    n_words: int,
    heads: NDArray[np.int32],
    modifiers: NDArray[np.int32],
    projective: bool,
    multi: bool,
    on: NDArray[np.bool_],
) -> bool:
    if sorted(modifiers[on].tolist()) != list(range(1, n_words + 1)):
        return False
    tree = heads[on][np.argsort(modifiers[on])]
    trees = enumerate_trees(
        n_words, "projective" if projective else "nonprojective", "multi" if multi else "single"
    )
    return bool((trees == tree).all(axis=1).any())
