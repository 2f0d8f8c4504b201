"""Second-order decoding as a linear program over arcs and parts (Koo et al. 2010, section 7.2).

A variable z for every allowed arc, 1 if the tree has it. Flows ensure that z is a tree (Martins et
al. 2009): the root symbol sends one unit to every word along the arcs of the tree, either all units
in one flow (`tree_flow="single"`, the paper's LP(S)), or every word's unit in a
flow of its own (`"multi"`, LP(M), whose relaxation is integral for arc scores alone).

Flows score a head's modifiers, too: the modifiers of a head on a side are a path START -> ... ->
END through its possible modifiers, and consecutive siblings are its steps. With grandparents, there
is such a path for every possible head of the head. Each of these is the convex hull of the
sequences that a head automaton accepts, so that the relaxation with `"multi"` has the value that
dual decomposition converges to. Any other pair of arcs has a product variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arbora.errors import ArgumentError
from arbora.inference.arguments import check_choice
from arbora.inference.linear_program import Columns, LinearProgram, Status
from arbora.inference.packed import Packed, read_only
from arbora.inference.packing import pack
from arbora.scores import PartKind, Parts, Scores, kind_number
from arbora.types import FloatArray, IntArray, Root, TreeClass

__all__ = ["GrandparentVariables", "ProgramAnswer", "TreeFlow", "solve_program"]

TreeFlow = Literal["single", "multi"]
GrandparentVariables = Literal["automata", "products"]

_WHOLE = 1e-6  # HiGHS's tolerance: a number this near to an integer counts as one


@dataclass(frozen=True)
class ProgramAnswer:
    """A tree from a linear program.

    `score` is the tree's, from the parts themselves; `value` is the program's, an upper bound of
    every tree's score; `arcs` are the variables z[h, m], and `integral` is True if they are a tree,
    which is the best tree if `status` is "optimal". `seconds` is the solver's time.
    """

    heads: IntArray
    score: float
    value: float
    integral: bool
    arcs: FloatArray
    seconds: float
    status: Status

    @property
    def certified(self) -> bool:
        """Whether this is known to be the best tree."""
        return self.integral and self.status == "optimal"


def solve_program(
    parts: Parts,
    trees: TreeClass = "nonprojective",
    root: Root = "single",
    *,
    tree_flow: TreeFlow = "single",
    grandparents: GrandparentVariables = "automata",
    relaxed: bool = False,
    time_limit: float | None = None,
) -> ProgramAnswer:
    """The best tree, by HiGHS; `relaxed`, an upper bound and a tree near the fractional solution.

    `grandparents="products"` gives every grandparent part a product variable instead of its place
    in the flows of the automata: fewer variables if few parts are listed, and a weaker relaxation.
    A fractional solution becomes the tree whose arcs have most of z (Martins et al. 2009). After
    `time_limit` seconds, the answer is the best tree so far with status "time limit"; if there is
    none, or the program is relaxed, it raises a `SolverError`.
    """
    check_choice(trees, ("nonprojective", "projective"), "trees")
    check_choice(root, ("single", "multi"), "root")
    check_choice(tree_flow, ("single", "multi"), "tree_flow")
    check_choice(grandparents, ("automata", "products"), "grandparents")
    if time_limit is not None and not time_limit > 0.0:
        raise ArgumentError(f"time_limit must be seconds above 0, or None, not {time_limit!r}.")
    packed, impossible = pack([parts.arcs], trees, root, 1)
    if impossible:
        raise impossible[0]
    program = LinearProgram()
    arcs = _Arcs.of(parts, program)
    _add_tree(program, arcs, root, tree_flow)
    if trees == "projective":
        _forbid_crossings(program, arcs)
    _add_parts(program, arcs, parts, grandparents)
    solution = program.solve(time_limit, relaxed)
    z = np.clip(solution.variables[arcs.variables], 0.0, 1.0)
    heads = _nearest_tree(packed, arcs, z)
    score = parts.score(heads)
    return ProgramAnswer(
        heads=heads,
        score=score,
        value=max(solution.value + arcs.left_out, score),  # equal values may be rounded differently
        integral=bool((np.minimum(z, 1.0 - z) <= _WHOLE).all()),
        arcs=read_only(arcs.as_table(z, 0.0)),
        seconds=solution.seconds,
        status=solution.status,
    )


@dataclass(frozen=True)
class _Arcs:
    """The allowed arcs of a sentence and their variables z."""

    n_words: int
    heads: NDArray[np.int64]
    modifiers: NDArray[np.int64]
    variables: Columns
    number: NDArray[np.int64]  # of the arc [head, modifier]
    left_out: float  # of every tree's score

    @classmethod
    def of(cls, parts: Parts, program: LinearProgram) -> _Arcs:
        """Subtracts the score of each word's best arc, as in `cpp/src/inference/level_arcs.cpp`.

        This lowers all trees by the same amount and makes HiGHS's tolerances tighter.
        """
        heads, modifiers = np.nonzero(parts.arcs > -np.inf)
        levels = parts.arcs.max(axis=0)
        scores = parts.arcs[heads, modifiers] - levels[modifiers]
        variables = program.add_variables(scores, upper=1.0, whole=True)
        number = np.full(parts.arcs.shape, -1)
        number[heads, modifiers] = np.arange(len(heads))
        left_out = float(levels[1:].sum())
        return cls(parts.n_words, heads, modifiers, variables, number, left_out)

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def places(self) -> NDArray[np.int64]:
        return np.arange(len(self))

    def as_table(self, values: FloatArray, elsewhere: float) -> FloatArray:
        table = np.full(self.number.shape, elsewhere)
        table[self.heads, self.modifiers] = values
        return table


def _add_tree(program: LinearProgram, arcs: _Arcs, root: Root, tree_flow: TreeFlow) -> None:
    """z is a tree: every word has one head, and a flow reaches it from the root symbol."""
    n = arcs.n_words
    one = np.ones(n)
    program.add_rows(one, one, (arcs.modifiers - 1, arcs.variables, 1.0))
    if root == "single":
        of_root = arcs.variables[arcs.heads == 0]
        program.add_rows(one[:1], one[:1], (np.zeros_like(of_root), of_root, 1.0))
    if tree_flow == "single":  # n units leave the root symbol, every word keeps one
        _add_flows(program, arcs, np.array([[-n] + [1] * n]), float(n))
    else:  # one unit leaves the root symbol for each word
        arrives = np.eye(n + 1)[1:]
        arrives[:, 0] = -1
        _add_flows(program, arcs, arrives, 1.0)


def _add_flows(
    program: LinearProgram, arcs: _Arcs, arrives: NDArray[np.generic], capacity: float
) -> None:
    """Flows along the arcs of z; `arrives[f, v]` of flow f stays at node v."""
    n_flows, side = arrives.shape
    flow = program.add_variables(np.zeros(n_flows * len(arcs)))
    first = np.repeat(np.arange(n_flows) * side, len(arcs))
    into, out_of = (first + np.tile(end, n_flows) for end in (arcs.modifiers, arcs.heads))
    stays = arrives.reshape(-1).astype(np.float64)
    program.add_rows(stays, stays, (into, flow, 1.0), (out_of, flow, -1.0))
    each = np.arange(len(flow))
    of_arc = np.tile(arcs.variables, n_flows)
    program.add_rows(*_at_most(0.0, len(flow)), (each, flow, 1.0), (each, of_arc, -capacity))


def _forbid_crossings(program: LinearProgram, arcs: _Arcs) -> None:
    """Of two spans that cross, a projective tree has an arc over one at most.

    A span has two arcs, one in each direction, of which a tree has at most one. One row
    for all four arcs is tighter than a row for each pair.
    """
    side = arcs.n_words + 1
    low, high = np.minimum(arcs.heads, arcs.modifiers), np.maximum(arcs.heads, arcs.modifiers)
    a, b = np.divmod(np.unique(low * side + high), side)
    crossing = np.nonzero((a[:, None] < a) & (a < b[:, None]) & (b[:, None] < b))
    each = np.arange(len(crossing[0]))
    terms = []
    for span in crossing:
        for number in (arcs.number[a[span], b[span]], arcs.number[b[span], a[span]]):
            there = number >= 0
            terms.append((each[there], arcs.variables[number[there]], 1.0))
    program.add_rows(*_at_most(1.0, len(each)), *terms)


def _add_parts(
    program: LinearProgram, arcs: _Arcs, parts: Parts, grandparents: GrandparentVariables
) -> None:
    packed = Scores.from_parts(parts)
    kinds = set(parts.kinds)
    if "siblings" in kinds:
        rows, scores = _scored(parts, "siblings")
        one, other = arcs.number[rows[:, 0], rows[:, 1]], arcs.number[rows[:, 0], rows[:, 2]]
        _add_products(program, arcs, one, other, scores)
    if "grandparents" in kinds and grandparents == "products":
        rows, scores = _scored(parts, "grandparents")
        link = np.where(rows[:, 0] < 0, -1, arcs.number[rows[:, 0], rows[:, 1]])
        _add_products(program, arcs, link, arcs.number[rows[:, 1], rows[:, 2]], scores)
        kinds.remove("grandparents")
    if "grandsiblings" in kinds or {"grandparents", "consecutive_siblings"} <= kinds:
        _add_paths(program, arcs, *_grand_paths(packed, kinds))
    elif "consecutive_siblings" in kinds:
        rows, scores = _all_parts(packed, "consecutive_siblings")
        _add_paths(program, arcs, np.column_stack([np.full(len(rows), -1), rows]), scores)
    elif "grandparents" in kinds:
        _add_links(program, arcs, *_all_parts(packed, "grandparents"))
    if "head_bigrams" in kinds:
        _add_bigrams(program, arcs, *_all_parts(packed, "head_bigrams"))


def _scored(parts: Parts, kind: PartKind) -> tuple[NDArray[np.int64], FloatArray]:
    """The rows of a kind's list whose score is not 0, and the scores."""
    rows, scores = getattr(parts, kind)
    return rows[scores != 0.0], scores[scores != 0.0]


def _add_products(
    program: LinearProgram, arcs: _Arcs, one: NDArray[np.int64], other: NDArray[np.int64],
    scores: FloatArray,
) -> None:  # fmt: skip
    """w = z z' for pairs of arcs: w <= z, w <= z', w >= z + z' - 1; arc -1 is always there."""
    count = len(scores)
    product = program.add_variables(scores)
    each = np.arange(count)
    there = one < 0
    z, also_z = arcs.variables[one], arcs.variables[other]
    held = each[~there]
    for variable, rows in ((z, held), (also_z, each)):
        program.add_rows(
            *_at_most(0.0, count), (rows, product[rows], 1.0), (rows, variable[rows], -1.0)
        )
    least = np.where(there, 0.0, 1.0)
    program.add_rows(
        *_at_most(least, count),
        (held, z[held], 1.0),
        (each, also_z, 1.0),
        (each, product, -1.0),
    )


def _all_parts(packed: Scores, kind: PartKind) -> tuple[NDArray[np.int64], FloatArray]:
    """All parts of a kind over the allowed arcs, and their scores, 0 if the kind has none."""
    every = Scores.over(packed.arcs, packed.n_words, [kind])
    return every.columns(kind, 0), (packed if kind in packed.kinds else every).values(kind)


def _grand_paths(packed: Scores, kinds: set[PartKind]) -> tuple[NDArray[np.int64], FloatArray]:
    """All grandsiblings, each with its own score and those of the parts in it."""

    def scores_of(kind: PartKind, rows: NDArray[np.int64]) -> FloatArray:
        columns = np.ascontiguousarray(rows).reshape(-1)
        return packed.values(kind)[packed.index.numbers(kind_number(kind), 0, columns)]

    rows, scores = _all_parts(packed, "grandsiblings")
    if "consecutive_siblings" in kinds:
        scores = scores + scores_of("consecutive_siblings", rows[:, 1:])
    if "grandparents" in kinds:
        following = rows[:, 4] >= 0
        scores = scores.copy()
        scores[following] += scores_of("grandparents", rows[following][:, [0, 1, 4]])
    return rows, scores


def _add_paths(
    program: LinearProgram, arcs: _Arcs, rows: NDArray[np.int64], scores: FloatArray
) -> None:
    """The modifiers of every head and side as a path, one for every possible grandparent.

    The step from s to m of head h under g is p[g, h, s, m], and
      sum_m p[g, h, START, m] = z[g, h], or 1 where g is -1: no grandparent, or none scored,
      sum_s p[g, h, s, m] = sum_t p[g, h, m, t],
      sum_g sum_s p[g, h, s, m] = z[h, m].
    Integral z leave a single path, through the modifiers of h. g itself is not one of them.
    """
    kept = (rows[:, 0] < 0) | (rows[:, 3:] != rows[:, :1]).all(axis=1)
    g, h, side, previous, following = rows[kept].T
    step = program.add_variables(scores[kept])
    path = np.where(g >= 0, arcs.number[g, h], len(arcs) + h)  # a number for every pair (g, h)
    starts, goes, comes = previous < 0, previous >= 0, following >= 0

    _, first, place = np.unique(
        2 * path[starts] + side[starts], return_index=True, return_inverse=True
    )
    of_path = g[starts][first], h[starts][first]
    held = np.flatnonzero(of_path[0] >= 0)
    link = arcs.variables[arcs.number[of_path][held]]
    flow = np.where(of_path[0] >= 0, 0.0, 1.0)
    program.add_rows(flow, flow, (place, step[starts], 1.0), (held, link, -1.0))

    into, out_of = arcs.number[h[comes], following[comes]], arcs.number[h[goes], previous[goes]]
    passed = np.concatenate([path[comes] * len(arcs) + into, path[goes] * len(arcs) + out_of])
    _, place = np.unique(passed, return_inverse=True)
    arrival, departure = np.split(place, [len(into)])
    _add_balance(program, (arrival, step[comes]), (departure, step[goes]))
    _add_balance(program, (into, step[comes]), (arcs.places, arcs.variables))


def _add_links(
    program: LinearProgram, arcs: _Arcs, rows: NDArray[np.int64], scores: FloatArray
) -> None:
    """Grandparents alone: w[g, h, m] <= z[g, h] and sum_g w[g, h, m] = z[h, m]."""
    kept = rows[:, 0] != rows[:, 2]
    g, h, m = rows[kept].T
    shared = program.add_variables(scores[kept])
    _add_balance(program, (arcs.number[h, m], shared), (arcs.places, arcs.variables))
    held = np.flatnonzero(g >= 0)
    each = np.arange(len(held))
    link = arcs.variables[arcs.number[g[held], h[held]]]
    program.add_rows(*_at_most(0.0, len(held)), (each, shared[held], 1.0), (each, link, -1.0))


def _add_bigrams(
    program: LinearProgram, arcs: _Arcs, rows: NDArray[np.int64], scores: FloatArray
) -> None:
    """A chain over the words: sum_k w[m, k, h] = z[h, m] and sum_h w[m, k, h] = z[k, m - 1].

    Two neighbours are never each other's head.
    """
    kept = (rows[:, 1] != rows[:, 0]) | (rows[:, 2] != rows[:, 0] - 1)
    if not kept.any():
        return
    modifier, before, head = rows[kept].T
    pair = program.add_variables(scores[kept])
    has_pairs = arcs.modifiers >= 2, arcs.modifiers < arcs.n_words
    ends = arcs.number[head, modifier], arcs.number[before, modifier - 1]
    for number, there in zip(ends, has_pairs, strict=True):
        _add_balance(program, (number, pair), (arcs.places[there], arcs.variables[there]))


def _add_balance(
    program: LinearProgram, one: tuple[Columns, Columns], other: tuple[Columns, Columns]
) -> None:
    """Rows in which two sums of variables are equal; each side is (row, variable)."""
    nothing = np.zeros(1 + max(one[0].max(), other[0].max()))
    program.add_rows(nothing, nothing, (*one, 1.0), (*other, -1.0))


def _at_most(high: FloatArray | float, count: int) -> tuple[FloatArray, FloatArray]:
    return np.full(count, -np.inf), np.broadcast_to(np.asarray(high, dtype=np.float64), (count,))


def _nearest_tree(packed: Packed, arcs: _Arcs, z: FloatArray) -> IntArray:
    """The tree of the class with the largest sum of z over its arcs."""
    return packed.with_scores(arcs.as_table(z, -np.inf).reshape(-1)).argmax()[0].heads
