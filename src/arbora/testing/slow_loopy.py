"""Reference belief propagation for a few words: every factor enumerates its configurations.

It uses logarithms, and extended precision if the machine has it, so that finite differences are
precise and no score is too large.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora.scores import PartKind, Parts
from arbora.testing.enumeration import enumerate_trees
from arbora.testing.slow_parts import part_rows_of_tree
from arbora.types import Root, TreeClass

__all__ = ["SlowFactor", "SlowLoopy", "log_sum"]

Row = tuple[PartKind, tuple[int, ...]]
Precise = NDArray[np.longdouble]
CERTAIN = 1e7  # log-odds larger than all tested scores


class SlowFactor(NamedTuple):
    """Configurations of arcs, each with its score and parts.

    `on[c, i]` is the state of arc `arcs[i]` in configuration c. Each of `links` is a slice of arcs
    of which exactly one is on.
    """

    arcs: list[int]
    links: list[slice]
    on: NDArray[np.bool_]
    scores: Precise
    rows: list[frozenset[Row]]

    def weights(self, told: Precise) -> Precise:
        """The log-weights: the score of each configuration plus the log-odds of its arcs."""
        return np.asarray(self.scores + np.where(self.on, told, 0.0).sum(axis=1))

    def messages(self, told: Precise) -> Precise:
        """Log-odds to every arc without its own message; `CERTAIN` if infinite."""
        weights = self.weights(told)[:, None]
        on = log_sum(np.where(self.on, weights, -np.inf))
        off = log_sum(np.where(self.on, -np.inf, weights))
        own = told.copy()
        for links in self.links:  # their messages are probabilities
            own[links] -= log_sum(told[links])
            off[links] = log_sum(weights[:, 0])
        return np.asarray(np.clip(on - off - own, -CERTAIN, CERTAIN))


class SlowLoopy:
    """A reference implementation of `LoopyTrees`."""

    def __init__(
        self,
        parts: Parts,
        trees: TreeClass = "nonprojective",
        root: Root = "single",
        iterations: int = 4,
        damping: float = 0.0,
        schedule: str = "serial",
        factors: str = "pairs",
    ) -> None:
        self.parts = parts
        self.arcs = [(int(h), int(m)) for h, m in np.argwhere(parts.arcs > -np.inf)]
        self._number = {arc: i for i, arc in enumerate(self.arcs)}
        self._scores: dict[Row, float] = {}
        for kind in parts.kinds:
            given = getattr(parts, kind)
            for row, score in zip(given.rows.tolist(), given.scores.tolist(), strict=True):
                self._scores[kind, tuple(row)] = score
        self._in_automata = factors == "automata" or "grandsiblings" in parts.kinds
        self.theta = np.array([parts.arcs[arc] for arc in self.arcs], dtype=np.longdouble)
        self.factors = [*self._pairs(trees), *self._automata(), *self._chain()]
        self.tree = self._tree(trees, root)
        self.messages = [np.zeros(len(factor.arcs), np.longdouble) for factor in self.factors]
        self._nothing = np.zeros(len(self.arcs), np.longdouble)
        self.from_tree = self._nothing
        for iteration in range(iterations):
            self._iterate(iteration, damping if iteration else 0.0, schedule)

    # The graph.

    def _pairs(self, trees: TreeClass) -> Iterable[SlowFactor]:
        for (kind, row), score in self._scores.items():
            if kind == "siblings":
                pair = [(row[0], row[1]), (row[0], row[2])]
            elif kind == "grandparents" and not self._in_automata:
                g, h, m = row
                if h == 0:  # the root has no head: the part comes with its arc
                    self.theta[self._number[h, m]] += score
                    continue
                between = min(h, m) < g < max(h, m)
                if g == m or (trees == "projective" and between):
                    continue
                pair = [(g, h), (h, m)]
            else:
                continue
            arcs = [self._number[arc] for arc in pair]
            on = np.array(list(itertools.product([False, True], repeat=2)))
            both = frozenset({(kind, row)})
            yield SlowFactor(
                arcs, [], on, _exactly(np.where(on.all(axis=1), score, 0.0)),
                [both if all(state) else frozenset() for state in on],
            )  # fmt: skip

    def _automata(self) -> Iterable[SlowFactor]:
        grand = self._in_automata and bool(
            {"grandparents", "grandsiblings"} & set(self.parts.kinds)
        )
        if not grand and "consecutive_siblings" not in self.parts.kinds:
            return
        kinds: list[PartKind] = [
            kind for kind in self.parts.kinds
            if kind == "consecutive_siblings"
            or (grand and kind in ("grandparents", "grandsiblings"))
        ]  # fmt: skip
        n = self.parts.n_words
        for h in range(n + 1):
            modifiers = [m for m in range(1, n + 1) if (h, m) in self._number]
            heads = [g for g in range(n + 1) if (g, h) in self._number] if grand else []
            configurations = []
            for taken in itertools.product([False, True], repeat=len(modifiers)):
                has = [m for m, on in zip(modifiers, taken, strict=True) if on]
                for g in heads or [-1]:
                    rows = frozenset(self._rows(h, g, has, kinds)) & self._scores.keys()
                    choice = tuple(g == other for other in heads)
                    configurations.append((taken + choice, frozenset(rows)))
            arcs = [self._number[h, m] for m in modifiers] + [self._number[g, h] for g in heads]
            on = np.array([state for state, _ in configurations], dtype=bool)
            rows_of = [rows for _, rows in configurations]
            scores = _exactly([sum(self._scores[row] for row in rows) for rows in rows_of])
            links = [slice(len(modifiers), len(arcs))] if heads else []
            yield SlowFactor(arcs, links, on, scores, rows_of)

    def _chain(self) -> Iterable[SlowFactor]:
        """Head bigrams: every choice of one head for each word without cycles of neighbours."""
        if "head_bigrams" not in self.parts.kinds:
            return
        n = self.parts.n_words
        heads = [[h for h in range(n + 1) if (h, m) in self._number] for m in range(1, n + 1)]
        arcs = [self._number[h, m] for m, choices in enumerate(heads, 1) for h in choices]
        ends = np.cumsum([0, *map(len, heads)]).tolist()
        links = [slice(*pair) for pair in itertools.pairwise(ends)]
        on, rows = [], []
        for chosen in itertools.product(*heads):
            if any(chosen[m - 2] == m and chosen[m - 1] == m - 1 for m in range(2, n + 1)):
                continue
            on.append([h == g for choices, g in zip(heads, chosen, strict=True) for h in choices])
            found: set[Row] = {("head_bigrams", row)
                               for row in part_rows_of_tree("head_bigrams", chosen)}  # fmt: skip
            rows.append(frozenset(found & self._scores.keys()))
        scores = _exactly([sum(self._scores[row] for row in has) for has in rows])
        yield SlowFactor(arcs, links, np.array(on), scores, rows)

    def _rows(self, h: int, g: int, has: list[int], kinds: list[PartKind]) -> Iterable[Row]:
        """The parts of one head, found with a row of heads like a tree's."""
        heads = [-2] * self.parts.n_words
        if h > 0:
            heads[h - 1] = g
        for m in has:
            heads[m - 1] = h
        for kind in kinds:
            place = 0 if kind == "consecutive_siblings" else 1
            yield from ((kind, row) for row in part_rows_of_tree(kind, heads) if row[place] == h)

    def _tree(self, trees: TreeClass, root: Root) -> SlowFactor:
        every = enumerate_trees(self.parts.n_words, trees, root).tolist()
        on = np.array([[heads[m - 1] == h for h, m in self.arcs] for heads in every])
        on = on[on.sum(axis=1) == self.parts.n_words]  # the others have arcs that are absent
        return SlowFactor(
            list(range(len(self.arcs))),
            [],
            on,
            _exactly(np.zeros(len(on))),
            [frozenset()] * len(on),
        )

    # Messages.

    def _totals(self, from_tree: Precise) -> Precise:
        totals = self.theta + from_tree
        for factor, said in zip(self.factors, self.messages, strict=True):
            for arc, message in zip(factor.arcs, said, strict=True):
                totals[arc] += message
        return totals

    def _heard(self, i: int, totals: Precise, first: bool) -> Precise:
        """The messages from the arcs of factor i."""
        factor = self.factors[i]
        heard = totals[factor.arcs]
        for links in [] if first else factor.links:
            heard[links] = -np.logaddexp(0, -heard[links])
        return np.asarray(heard - self.messages[i])

    def _iterate(self, iteration: int, damping: float, schedule: str) -> None:
        def mixed(said: Precise, old: Precise) -> Precise:
            mix: Precise = (1 - damping) * said + damping * old
            return mix

        totals, before = self._totals(self.from_tree), self._totals(self._nothing)
        self.messages = [
            mixed(factor.messages(self._heard(i, totals, iteration == 0)), self.messages[i])
            for i, factor in enumerate(self.factors)
        ]
        if schedule == "serial":
            before = self._totals(self._nothing)
        self.from_tree = mixed(self.tree.messages(before), self.from_tree)

    # Answers.

    @property
    def marginals(self) -> Precise:
        answer = np.zeros(self.parts.arcs.shape, np.longdouble)
        for arc, total in zip(self.arcs, self._totals(self.from_tree), strict=True):
            answer[arc] = np.exp(-np.logaddexp(0, -total))
        return answer

    @property
    def part_marginals(self) -> dict[PartKind, Precise]:
        totals = self._totals(self.from_tree)
        found: dict[Row, np.longdouble] = {}
        for kind, row in self._scores:
            if kind == "grandparents" and row[0] == -1 and not self._in_automata:
                found[kind, row] = self.marginals[0, row[2]]
        for i, factor in enumerate(self.factors):
            weights = factor.weights(self._heard(i, totals, first=False))
            for rows, p in zip(factor.rows, np.exp(weights - log_sum(weights)), strict=True):
                for part in rows:
                    found[part] = found.get(part, np.longdouble(0)) + p
        return {
            kind: _exactly([found.get((kind, tuple(row)), np.longdouble(0))
                            for row in getattr(self.parts, kind).rows.tolist()])
            for kind in self.parts.kinds
        }  # fmt: skip

    @property
    def bethe_log_partition(self) -> float:
        """Sum of log Z over factors, minus that over edges, plus that over variables."""
        totals = self._totals(self.from_tree)
        below = self._totals(self._nothing)
        answer = log_sum(self.tree.weights(below))
        for i, factor in enumerate(self.factors):
            heard = self._heard(i, totals, first=False)
            answer += log_sum(factor.weights(heard))
            all_heard = heard + self.messages[i]
            plain = np.ones(len(factor.arcs), dtype=bool)
            for links in factor.links:
                plain[links] = False
                answer -= log_sum(all_heard[links])
            answer -= np.logaddexp(0, all_heard[plain]).sum()
        return float(answer)


def log_sum(values: Precise) -> Precise:
    """The log of the sum of exponentials along the first axis; -inf if it is empty."""
    top = values.max(axis=0, initial=-np.inf)
    safe = np.where(np.isinf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(values - safe).sum(axis=0)))


def _exactly(values: ArrayLike) -> Precise:
    return np.asarray(values, dtype=np.longdouble)
