"""What a job can measure, by kind: to add a kind, add a file and a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arbora.reproduction.jobs import Job
from arbora.reproduction.measurements import (
    iterations,
    programs,
    solvers,
    statistics,
    tightness,
)
from arbora.reproduction.recipe import Corpus, Quick, Recipe, TableSpec
from arbora.reproduction.results import Results, corpora_of
from arbora.reproduction.tables import Table
from arbora.reproduction.training import Outcome, train_and_test
from arbora.reproduction.treebanks import Splits

__all__ = ["MEASUREMENTS", "measured_table", "measurement_jobs"]


def _fit(splits: Splits, job: Job, _: Path) -> Outcome:
    return train_and_test(splits, job.settings, job.rule)


MEASUREMENTS: dict[str, Callable[[Splits, Job, Path], Outcome]] = {
    "fit": _fit,
    "statistics": statistics.measure,
    "programs": programs.measure,
    "recomputed": iterations.measure_recomputed,
    "limits": iterations.measure_limits,
    "walks": iterations.measure_walks,
    "tightness": tightness.measure,
    "solvers": solvers.measure,
}

Found = Sequence[tuple[Job, Mapping[str, Any], Mapping[str, float]]]  # jobs, results, timings

_TABLES: dict[str, Callable[[TableSpec, Found], Table]] = {
    "statistics": statistics.table,
    "programs": programs.table,
    "recomputed": iterations.table,
    "limits": iterations.table,
    "walks": iterations.table,
    "tightness": tightness.table,
    "solvers": solvers.table,
}


def measurement_jobs(
    recipe: Recipe, table: TableSpec, corpora: list[Corpus], quick: Quick | None
) -> list[Job]:
    """The jobs of a table of measurements: one per treebank and variant of its settings."""
    common = {name: value for name, value in table.settings.items() if name != "variants"}
    if quick is not None:
        common |= quick.settings
    jobs = []
    for corpus in corpora_of(recipe, table, corpora):
        for variant in table.settings.get("variants", [{}]):
            title = f"{table.name} {' '.join(map(str, variant.values()))}".strip()
            settings, cost = {**common, **variant}, float(common.get("cost", 1.0))
            jobs.append(Job(title, table.kind, corpus, settings, recipe.rule, quick, cost))
    return jobs


def measured_table(results: Results, spec: TableSpec) -> Table:
    """The table of what was measured."""
    found = []
    for job in measurement_jobs(results.recipe, spec, results.corpora, results.quick):
        result = results.workshop.result(job)
        if result is not None:
            found.append((job, result, results.workshop.timing(job)))
    return _TABLES[spec.kind](spec, found)
