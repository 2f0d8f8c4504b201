"""Word senses in the states of head automata (Koo et al. 2010, section 8; Eisner 2000).

A bank lends money, or is the side of a river. The senses prefer different modifiers, so the best
sense depends on the tree, and the best tree on the sense. Each side of an ambiguous head has an
automaton with one state per sense: the sense is chosen first, and every modifier is then scored
with it. The two sides must choose the same sense. As in the paper's grandparent models, Lagrange
multipliers on the senses make them agree, and agreement is a certificate.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora import Automaton, HeadAutomata, Parts
from arbora.drawing import TreeDrawing, make_printable

Floats = NDArray[np.float64]


class Senses:
    """The senses of a word: a score for each, and its affinity to every modifier, (S, n+1)."""

    def __init__(self, prior: ArrayLike, affinity: ArrayLike) -> None:
        self.prior, self.affinity = np.asarray(prior, float), np.asarray(affinity, float)

    def automaton(self, tilt: Floats) -> Automaton:
        """One side of the word: no transition changes the sense, and half of the prior counts."""
        states = len(self.prior)
        transitions = np.full((self.affinity.shape[1], states, states), -np.inf)
        transitions[:, np.arange(states), np.arange(states)] = self.affinity.T
        return Automaton(self.prior / 2 + tilt, transitions, np.zeros(states))

    def best(self, modifiers: NDArray[np.intp], share: float, tilt: Floats | float = 0.0) -> int:
        """The best sense for given modifiers, with a share of the prior."""
        scores = share * self.prior + tilt + self.affinity[:, modifiers].sum(axis=1)
        return int(scores.argmax())


class Answer(NamedTuple):
    """A tree with the senses of its ambiguous words; no other pair scores more than `bound`."""

    heads: NDArray[np.int32]
    senses: dict[int, int]
    score: float
    bound: float
    rounds: int

    @property
    def certified(self) -> bool:
        return self.score >= self.bound - 1e-9


def joint_score(
    arcs: Floats, words: dict[int, Senses], heads: NDArray[np.int32], senses: dict[int, int]
) -> float:
    """The score of a tree together with senses."""
    total = arcs[heads, np.arange(1, len(heads) + 1)].sum()
    for word, s in senses.items():
        modifiers = np.flatnonzero(heads == word) + 1
        total += words[word].prior[s] + words[word].affinity[s, modifiers].sum()
    return float(total)


def decode(arcs: Floats, words: dict[int, Senses], iterations: int = 100) -> Answer:
    """The best tree and senses; `words` are the ambiguous words by position."""
    tilts = {word: np.zeros(len(senses.prior)) for word, senses in words.items()}
    found, bound = None, np.inf
    for rounds in range(1, iterations + 1):
        automata = {
            (word, side): senses.automaton(tilts[word] if side == 0 else -tilts[word])
            for word, senses in words.items()
            for side in (0, 1)
        }
        # Both sides choose on their own: no tree with common senses scores more than this one.
        relaxed = HeadAutomata(Parts(arcs), automata=automata).exact_argmax()
        bound = min(bound, relaxed.bound)
        taken = {word: np.flatnonzero(relaxed.heads == word) + 1 for word in words}
        common = {word: senses.best(taken[word], 1.0) for word, senses in words.items()}
        score = joint_score(arcs, words, relaxed.heads, common)
        if found is None or score > found.score:
            found = Answer(relaxed.heads, common, score, bound, rounds)
        found = found._replace(bound=bound, rounds=rounds)
        if found.certified:
            break
        for word, senses in words.items():
            tilt, modifiers = tilts[word], taken[word]
            left = senses.best(modifiers[modifiers < word], 0.5, tilt)
            right = senses.best(modifiers[modifiers > word], 0.5, -tilt)
            step = 1.0 / rounds
            tilt[left] -= step
            tilt[right] += step  # the same sense twice: no change
    assert found is not None
    return found


SENSES = ("where money is", "beside a river")
BANK = 5


def photographed(what: str) -> tuple[list[str], Floats, dict[int, Senses]]:
    """A sentence, its arc scores, and the senses of its bank."""
    words = ["She", "photographed", "the", what, "bank", "with", "cameras"]
    arcs = np.full((8, 8), -2.0)
    for arc in [(0, 2), (2, 1), (2, 5), (5, 3), (5, 4), (7, 6)]:
        arcs[arc] = 3.0
    arcs[2, 7], arcs[5, 7] = 1.0, 0.6  # did she have the cameras, or did the bank?
    affinity = np.zeros((2, 8))
    affinity[:, 7] = 1.0, -1.0  # cameras watch money, not rivers
    if what in ("central", "steep"):
        affinity[:, 4] = (2.0, -2.0) if what == "central" else (-2.0, 2.0)
    return words, arcs, {BANK: Senses([0.2, 0.0], affinity)}


def main() -> None:
    make_printable(sys.stdout)
    for what in ("central", "steep"):
        words, arcs, senses = photographed(what)
        answer = decode(arcs, senses)
        print(TreeDrawing(words, answer.heads))
        state = "certified" if answer.certified else f"not certified, bound {answer.bound:.2f}"
        print(f"\n  a {what} bank is {SENSES[answer.senses[BANK]]}")
        owner = words[answer.heads[6] - 1]
        print(f"  cameras <- {owner}; score {answer.score:.2f}, {state} in round {answer.rounds}\n")


if __name__ == "__main__":
    main()
