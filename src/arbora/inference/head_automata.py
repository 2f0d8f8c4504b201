"""Decoding of second-order scores by dual decomposition, with a certificate where there is one.

Koo, Rush, Collins, Jaakkola & Sontag (2010): a search for trees and automata for the
modifiers of each head are made to agree by Lagrange multipliers on the arcs. The loop is in
`cpp/src/inference/dual_decomposition.cpp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._core.inference import LARGEST_SCORE
from arbora.arrays import as_array, as_count, as_heads, as_real
from arbora.errors import ArgumentError, NoTreeError, ScoreError, ShapeError, SolverError
from arbora.inference.arguments import check_choice
from arbora.inference.dual import (
    NO_AUTOMATA,
    DualHistory,
    PackedAutomata,
    Solver,
    check_kinds,
    decode_dual,
    dual_history,
)
from arbora.inference.integer_program import solve_program
from arbora.inference.packed import check_room
from arbora.inference.packing import pack
from arbora.scores import Parts, Scores, chained_kinds
from arbora.types import Decoded, FloatArray, Root, TreeClass

__all__ = ["Automaton", "HeadAutomata"]


class Automaton:
    """Scores of the modifiers on one side of a head, by states (Koo et al. 2010, example 2).

    The automaton walks outwards from the head. `initial[s]` is the score of starting in state s,
    `transitions[m, s, t]` that of taking word m as the next modifier and going from state s to t,
    shape (n+1, S, S) or, if all words are alike, (S, S); `final[s]` is the score of taking no more.
    -inf forbids. A set of modifiers scores its best sequence of states.
    """

    def __init__(self, initial: ArrayLike, transitions: ArrayLike, final: ArrayLike) -> None:
        self.initial = _scores(initial, "initial")
        self.transitions = _scores(transitions, "transitions")
        self.final = _scores(final, "final")
        states, shape = self.initial.shape, self.transitions.shape
        if len(states) != 1 or states[0] < 1:
            raise ShapeError(f"initial must be one score per state, not of shape {states}.")
        if self.final.shape != states:
            raise ShapeError(f"final must have shape {states} as initial, not {self.final.shape}.")
        if len(shape) not in (2, 3) or shape[-2:] != (states[0], states[0]):
            raise ShapeError(
                f"transitions must have shape (S, S) or (n+1, S, S) with S = {states[0]} states, "
                f"not {shape}."
            )

    @classmethod
    def at_most(cls, modifiers: int) -> Self:
        """An automaton that allows at most `modifiers` modifiers: one state per count."""
        states = as_count(modifiers, "modifiers", least=0) + 1
        check_room(states * states)
        initial, transitions = np.full(states, -np.inf), np.full((states, states), -np.inf)
        initial[0] = 0.0
        transitions[np.arange(modifiers), np.arange(1, states)] = 0.0
        return cls(initial, transitions, np.zeros(states))

    @property
    def n_states(self) -> int:
        """Number of states, S."""
        return len(self.initial)

    def score(self, modifiers: ArrayLike) -> float:
        """The score of modifiers, given from the nearest to the farthest."""
        value = self.initial
        for m in self._words(modifiers):
            value = (value[:, None] + self._taking(m)).max(axis=0)
        return float((value + self.final).max())

    def _words(self, modifiers: ArrayLike) -> list[int]:
        array = as_array(modifiers, "modifiers")
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise ShapeError(f"modifiers must be a list of words, not {modifiers!r}.")
        words: list[int] = array.tolist()
        if self.transitions.ndim == 3 and not all(0 < m < len(self.transitions) for m in words):
            raise ArgumentError(f"modifiers must be words, 1 to {len(self.transitions) - 1}.")
        return words

    def _taking(self, modifier: int) -> FloatArray:
        taken = self.transitions if self.transitions.ndim == 2 else self.transitions[modifier]
        return np.asarray(taken)

    def numbers(self, modifiers: NDArray[np.int64]) -> FloatArray:
        """All scores in the order of the kernels, for the possible modifiers outwards."""
        taken = [self._taking(int(m)).reshape(-1) for m in modifiers]
        return np.concatenate([self.initial, *taken, self.final])


class HeadAutomata:
    """The best tree under scores of second order, by dual decomposition.

    `parts` scores arcs, consecutive siblings, grandparents and grandsiblings; `automata` may map
    (head, side) to an `Automaton` that scores the modifiers of a head on a side (0 left, 1 right)
    as well. `trees` and `root` define which trees are allowed.

    The problem is NP-hard (`exact` is False): `argmax` gives a tree, a bound, and very often a
    certificate that the tree is the best one; `exact_argmax` has no limit on its time.
    """

    exact: ClassVar[bool] = False

    def __init__(
        self,
        parts: Parts,
        trees: TreeClass = "nonprojective",
        root: Root = "single",
        automata: Mapping[tuple[int, int], Automaton] | None = None,
    ) -> None:
        if not isinstance(parts, Parts):
            raise ArgumentError(f"parts must be Parts, not {type(parts).__name__}.")
        check_choice(trees, ("nonprojective", "projective"), "trees")
        check_choice(root, ("single", "multi"), "root")
        check_kinds(parts.kinds)
        _, impossible = pack([parts.arcs], trees, root, threads=1)
        for error in impossible.values():
            raise error
        self.parts = parts
        self.trees: TreeClass = trees
        self.root: Root = root
        if automata is not None and not isinstance(automata, Mapping):
            raise ArgumentError(
                f"automata must map (head, side) to an Automaton, not be {type(automata).__name__}."
            )
        self.automata = dict(automata or {})
        self._automata = _packed_automata(parts, self.automata)

    @property
    def n_words(self) -> int:
        """Number of words, n."""
        return self.parts.n_words

    def argmax(
        self,
        max_iterations: int | None = None,
        solver: Literal["subgradient", "ad3", "branch"] = "subgradient",
        time_limit: float | None = None,
        tree_share: float = 0.001,
    ) -> Decoded:
        """The best tree found, its bound, and whether it is certified to be the best of all.

        "subgradient" is Koo et al. (2010); "ad3" (Martins et al. 2015) needs fewer iterations,
        each of which takes longer; "branch" is `exact_argmax` with a limit, usually the quickest
        way to a certificate, and never worse than "subgradient": at the limit, "subgradient" runs
        for as many iterations, too.

        `max_iterations` is 5,000 by default, and 500 with "ad3". `time_limit`, in seconds, is
        checked after every iteration. At either limit the answer is the best tree so far.
        `tree_share` of the arc scores is given to the tree and the rest to the automata (Koo et
        al. 2010, appendix A.2); "ad3" does not use it.
        """
        check_choice(solver, ("subgradient", "ad3", "branch"), "solver")
        return self._decode(max_iterations, solver, time_limit, tree_share)

    def exact_argmax(
        self, method: Literal["branch", "ilp"] = "branch", time_limit: float | None = None
    ) -> Decoded:
        """The best tree, certified, however long it takes.

        "branch" divides the trees by the least certain arc and bounds either half by dual
        decomposition, until no bound exceeds the best tree found; "ilp" asks an integer-program
        solver, to its tolerance of 1e-6. Head bigrams always take the integer program. After
        `time_limit` seconds the answer is the best tree so far: `certified` is False then, and
        `gap` bounds how much better another tree may be. Without any tree so far it raises a
        `SolverError`.
        """
        check_choice(method, ("branch", "ilp"), "method")
        if method == "branch" and not chained_kinds(self.parts.kinds):
            return self._decode(None, "exact", time_limit)
        return self._by_program(time_limit)

    def score(self, heads: ArrayLike) -> float:
        """The score of a tree: arcs, parts, and automata; -inf if one of them forbids it."""
        total = self.parts.score(heads)
        array = as_heads(heads, self.n_words)
        for (head, side), automaton in self.automata.items():
            taken = np.flatnonzero(array == head) + 1
            total += automaton.score(_outwards(taken, head, side))
        return total

    def history(self, max_iterations: int = 5000) -> DualHistory:
        """The subgradient method's bound and trees, iteration by iteration."""
        if self.automata:
            raise ArgumentError("history does not support automata: leave them out.")
        return dual_history(Scores.from_parts(self.parts), 0, self.trees, self.root, max_iterations)

    def _by_program(self, time_limit: float | None) -> Decoded:
        if self.automata:
            raise ArgumentError(
                'the integer program does not support automata: use method="branch".'
            )
        found = solve_program(self.parts, self.trees, self.root, time_limit=time_limit)
        bound = found.score if found.certified else max(found.value, found.score)
        return Decoded(found.heads, found.score, bound, found.certified, iterations=1)

    def __repr__(self) -> str:
        return f"HeadAutomata({self.parts!r}, trees={self.trees!r}, root={self.root!r})"

    def _decode(
        self,
        max_iterations: int | None,
        solver: Solver,
        time_limit: float | None,
        tree_share: float = 0.001,
    ) -> Decoded:
        answers = decode_dual(
            Scores.from_parts(self.parts), self.trees, self.root, max_iterations, solver,
            automata=self._automata, time_limit=time_limit, tree_share=tree_share,
        )  # fmt: skip
        score, bound = float(answers.scores[0]), float(answers.bounds[0])
        certified, iterations = bool(answers.certified[0]), int(answers.iterations[0])
        if time_limit is not None and score == -np.inf < bound:
            raise SolverError(
                f"no tree that the automata allow was found within {time_limit} seconds: give it a "
                "longer time_limit."
            )
        if bound == -np.inf or (solver == "exact" and score == -np.inf):
            raise NoTreeError("there is no tree: the automata forbid every one.")
        return Decoded(answers.heads, score, bound, certified, iterations)


def _check_size(what: str, scores: FloatArray) -> None:
    """Raises for scores whose sums could overflow."""
    if not ((np.abs(scores) <= LARGEST_SCORE) | np.isneginf(scores)).all():
        raise ScoreError(
            f"{what} must be numbers up to {LARGEST_SCORE:g} in magnitude, or -inf to forbid."
        )


def _scores(values: ArrayLike, what: str) -> FloatArray:
    array = np.array(as_real(values, what), dtype=np.float64)
    _check_size(what, array)
    array.setflags(write=False)
    return array


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer)


def _outwards(modifiers: NDArray[np.int64], head: int, side: int) -> NDArray[np.int64]:
    """The modifiers of one side, from the nearest to the farthest."""
    return modifiers[modifiers > head] if side == 1 else modifiers[modifiers < head][::-1]


def _packed_automata(parts: Parts, automata: dict[tuple[int, int], Automaton]) -> PackedAutomata:
    if not automata:
        return NO_AUTOMATA
    sides, states, numbers = [], [], []
    for key, automaton in automata.items():
        if not isinstance(key, tuple) or len(key) != 2 or not all(map(_is_whole, key)):
            raise ArgumentError(f"automata are keyed by (head, side), side 0 or 1, not {key!r}.")
        head, side = key
        if side not in (0, 1):
            raise ArgumentError(f"automata are keyed by (head, side), side 0 or 1, not {key!r}.")
        if not isinstance(automaton, Automaton):
            raise ArgumentError(
                f"the automaton of {key} must be an Automaton, not {type(automaton).__name__}."
            )
        if not 0 <= head <= parts.n_words:
            raise ArgumentError(
                f"the head of the automaton of {key} must be from 0 to {parts.n_words}."
            )
        if automaton.transitions.ndim == 3 and len(automaton.transitions) != parts.n_words + 1:
            raise ShapeError(
                f"the transitions of {key} must be for {parts.n_words + 1} words, the root symbol "
                f"included, not {len(automaton.transitions)}."
            )
        possible = np.flatnonzero(parts.arcs[head] > -np.inf)
        sides.append(2 * head + side)
        states.append(automaton.n_states)
        numbers.append(automaton.numbers(_outwards(possible, head, side)))
    return PackedAutomata(
        np.array(sides, dtype=np.int64), np.array(states, dtype=np.int64), np.concatenate(numbers)
    )
