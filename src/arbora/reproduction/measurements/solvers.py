"""Solvers of dual decomposition: iterations and time to a certificate, and the optimum of HiGHS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arbora.errors import SolverError
from arbora.inference.dual import Solver
from arbora.inference.integer_program import ProgramAnswer, solve_program
from arbora.reproduction.jobs import Job
from arbora.reproduction.measurements.scored import (
    Scored,
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
from arbora.types import Root

__all__ = ["measure", "table"]

_SOLVERS: tuple[Solver, ...] = ("subgradient", "ad3", "branch")
_COLUMNS = ("% certified", "mean iterations", "median", "99 %", "other optimum than HiGHS")
_PATIENCE = 60.0  # seconds for the integer program of a sentence


def measure(splits: Splits, job: Job, folder: Path) -> Outcome:
    """Every solver on all validation sentences, and on some of them the integer program."""
    parser = trained_parser(splits, job, folder, job.settings["options"])
    data = scored(validation_sentences(splits, job.settings.get("sentences")), parser, job.rule)
    few = scored(validation_sentences(splits, job.settings["programs"]), parser, job.rule)
    best = [_by_highs(parts, few.root) for parts in few.parts]
    found, took = {}, {"HiGHS": float(np.mean([one.seconds for one in best if one is not None]))}
    for solver in _SOLVERS:
        rows = []
        for parts in data.parts:
            answer, seconds = timed_decode(parts, data.root, 5000, solver)
            rows.append((float(answer.certified[0]), float(answer.iterations[0]), seconds))
        certified, iterations, seconds_of = np.array(rows).T
        values = [
            100 * certified.mean(), iterations.mean(), np.median(iterations),
            np.percentile(iterations, 99), _exceptions(few, best, solver),
        ]  # fmt: skip
        found[solver] = {name: float(value) for name, value in zip(_COLUMNS, values, strict=True)}
        took[solver] = float(seconds_of.mean())
    solved = sum(one is not None for one in best)
    return {"solvers": found, "sentences": len(data), "programs": solved}, took


def _by_highs(parts: Scores, root: Root) -> ProgramAnswer | None:
    """The optimum of the integer program; None after the time limit."""
    try:
        answer = solve_program(parts.sentence(0), root=root, time_limit=_PATIENCE)
    except SolverError:
        return None
    return answer if answer.certified else None


def _exceptions(data: Scored, best: list[ProgramAnswer | None], solver: Solver) -> int:
    """Certified trees whose score is not the optimum, and bounds below it."""
    wrong = 0
    for parts, program in zip(data.parts, best, strict=True):
        if program is None:
            continue
        slack = 1e-6 * max(1.0, abs(program.score))  # HiGHS's own tolerance
        answer, _ = timed_decode(parts, data.root, 5000, solver)
        if answer.certified[0]:
            wrong += abs(float(answer.scores[0]) - program.score) > slack
        else:
            wrong += bool(answer.bounds[0] < program.score - slack)
    return wrong


def table(
    spec: TableSpec, found: Sequence[tuple[Job, Mapping[str, Any], Mapping[str, float]]]
) -> Table:
    """A row per order and solver."""
    columns = [*_COLUMNS, "ms per sentence", "HiGHS ms"]
    made = Table(spec.name, spec.title, ["order", "solver", *columns], [])
    for job, result, took in found:
        order = job.settings["options"]["order"]
        for solver, cells in result["solvers"].items():
            values = [*(cells[name] for name in _COLUMNS), 1000 * took[solver]]
            values.append(1000 * took["HiGHS"])
            made.rows.append([order, solver, *(f"{value:.2f}" for value in values)])
            for column, value in zip(columns, values, strict=True):
                into = made.values if column in _COLUMNS else made.times
                into.append({"order": order, "solver": solver, "column": column, "value": value})
        made.notes.append(
            f"{order}: {result['sentences']} validation sentences, {result['programs']} of them "
            "with the integer program."
        )
    return made
