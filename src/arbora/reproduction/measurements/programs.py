"""Dual decomposition against linear and integer programs (Koo et al. 2010, table 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arbora.inference.dual import Solver
from arbora.inference.integer_program import solve_program
from arbora.options import ParserOptions
from arbora.reproduction.jobs import Job
from arbora.reproduction.measurements.scored import (
    scored,
    timed_decode,
    trained_parser,
    validation_sentences,
)
from arbora.reproduction.recipe import TableSpec
from arbora.reproduction.tables import Table
from arbora.reproduction.training import Outcome
from arbora.reproduction.treebanks import Splits
from arbora.scores import Scores
from arbora.types import IntArray, Root

__all__ = ["LP_MULTI", "measure", "table"]

Found = tuple[IntArray, bool, float]  # heads, integral or certified, seconds
Method = Callable[[Scores, Root], Found]


def _program(**options: Any) -> Method:
    """A linear or integer program; only the solver's time is measured."""

    def run(parts: Scores, root: Root) -> Found:
        answer = solve_program(parts.sentence(0), root=root, **options)
        return answer.heads, answer.certified, answer.seconds

    return run


def _dual(solver: Solver, limit: int) -> Method:
    def run(parts: Scores, root: Root) -> Found:
        answer, took = timed_decode(parts, root, limit, solver)
        return answer.heads, bool(answer.certified[0]), took

    return run


LP_MULTI = _program(tree_flow="multi", relaxed=True)
METHODS: dict[str, Method] = {
    "LP(S)": _program(tree_flow="single", relaxed=True),
    "LP(M)": LP_MULTI,
    "ILP": _program(tree_flow="single"),
    "DD-5000": _dual("subgradient", 5000),
    "DD-250": _dual("subgradient", 250),
    "branch and bound": _dual("branch", 5000),
}


def measure(splits: Splits, job: Job, folder: Path) -> Outcome:
    """Every method on the same parts: accuracy, integral solutions, time; and random problems."""
    settings = job.settings
    parser = trained_parser(splits, job, folder, settings["options"])
    sentences = validation_sentences(splits, settings["sentences"], settings["longest"])
    data = scored(sentences, parser, job.rule)
    found: dict[str, Any] = {"sentences": len(data), "methods": {}}
    took: dict[str, float] = {}
    rng = np.random.default_rng(0)
    order = settings["options"]["order"]
    random = [_random_parts(order, 10, rng) for _ in range(settings["random"])]
    for name, method in METHODS.items():
        answers = [method(parts, data.root) for parts in data.parts]
        whole = [method(parts, "multi")[1] for parts in random] if name != "ILP" else [True]
        found["methods"][name] = {
            "uas": data.uas([heads for heads, _, _ in answers]),
            "integral": 100 * float(np.mean([exact for _, exact, _ in answers])),
            "random": 100 * float(np.mean(whole)),
        }
        took[name] = float(np.mean([seconds for _, _, seconds in answers]))
    return found, took


def _random_parts(order: str, n_words: int, rng: np.random.Generator) -> Scores:
    """Normal scores on the transitions of an order's automata, none on arcs (section 7.2)."""
    kind = "consecutive_siblings" if order == "sibling" else "grandsiblings"
    assert kind in ParserOptions.from_keywords({"order": order}).order.parts
    side = n_words + 1
    arcs = np.zeros((side, side))
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    parts = Scores.over(arcs.reshape(-1), np.array([n_words]), [kind])
    parts.tables[kind][:] = rng.normal(size=len(parts.tables[kind]))
    return parts


def table(
    spec: TableSpec, found: Sequence[tuple[Job, Mapping[str, Any], Mapping[str, float]]]
) -> Table:
    """A row per order and method, beside the published one."""
    columns = ["UAS", "% integral", "s per sentence", "% integral, random"]
    published = [f"published: {name}" for name in columns]
    made = Table(spec.name, spec.title, ["order", "method", *columns, *published], [])
    for job, result, took in found:
        order = job.settings["options"]["order"]
        for method, cells in result["methods"].items():
            values = [cells["uas"], cells["integral"], took.get(method, 0.0), cells["random"]]
            theirs = spec.settings["published"].get(order, {}).get(method, [])
            row = [f"{value:.4f}" if i == 2 else f"{value:.2f}" for i, value in enumerate(values)]
            made.rows.append([order, method, *row, *(map(str, theirs or [""] * len(columns)))])
            for column, value in zip(columns, values, strict=True):
                into = made.times if column == "s per sentence" else made.values
                into.append({"order": order, "method": method, "column": column, "value": value})
        made.notes.append(
            f"{job.corpus.language} ({job.corpus.kind}), {order}: {result['sentences']} validation "
            f"sentences of at most {job.settings['longest']} words."
        )
    return made
