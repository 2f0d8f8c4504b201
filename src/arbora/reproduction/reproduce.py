"""`reproduce`: runs what a paper's tables need and writes the report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from arbora.errors import ArgumentError
from arbora.reproduction.jobs import Progress, Workshop
from arbora.reproduction.measurements import measured_table
from arbora.reproduction.recipe import Recipe, read_recipe
from arbora.reproduction.report import Report, Runs, write_report
from arbora.reproduction.results import Results, jobs_of
from arbora.reproduction.tables import Table, accuracy_table
from arbora.reproduction.treebanks import Treebanks
from arbora.spread import Spread

__all__ = ["reproduce"]


def reproduce(
    paper: str,
    treebanks: str | os.PathLike[str],
    *,
    tables: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    quick: bool = False,
    processes: int = 1,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = lambda *_: None,
    command: str = "",
    report_only: bool = False,
    spread: Spread | None = None,
) -> Report:
    """Reproduces tables of a paper on the treebanks of a folder.

    `tables` and `languages` are names of the recipe (default: all). Results are kept in `out`
    (default: reproduction/PAPER), where a later call finds them. `quick` uses a part of the data.
    `progress` is called after each of the runs. They use `processes` processes, or are spread
    elsewhere by `spread`, where the same folders must be. `report_only` runs nothing, and reports
    on the results that are there.
    """
    recipe = read_recipe(paper)
    chosen = [recipe.table(name) for name in tables] if tables else list(recipe.tables)
    banks = Treebanks(Path(treebanks) if spread is None else Path(treebanks).resolve())
    limits = recipe.quick if quick else None
    corpora = banks.corpora(recipe, _languages(recipe, languages, quick))
    if processes < 1:
        raise ArgumentError(f"jobs must be at least 1, not {processes}.")
    folder = Path("reproduction") / paper if out is None else Path(out)
    folder = folder if spread is None else folder.resolve()
    workshop = Workshop(banks, folder, processes, spread)
    jobs = jobs_of(recipe, chosen, corpora, limits)
    if not report_only:
        workshop.run(jobs, progress)
    runs = Runs(*workshop.missing(jobs), workshop.processor_seconds(jobs))
    results = Results(recipe, workshop, corpora, limits)
    made: dict[str, Table] = {}
    for spec in chosen:
        build = accuracy_table if spec.kind == "accuracy" else measured_table
        made[spec.name] = build(results, spec)
    return write_report(results, made, command, folder, runs)


def _languages(recipe: Recipe, languages: Sequence[str] | None, quick: bool) -> list[str]:
    known = [corpus.language for corpus in recipe.corpora]
    if not languages:
        return list(recipe.quick.languages) if quick else known
    for language in languages:
        if language not in known:
            raise ArgumentError(
                f"{recipe.paper} has no language {language!r}: choose {', '.join(known)}."
            )
    return list(languages)
