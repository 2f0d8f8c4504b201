"""`arbora reproduce`: the tables of a paper by its own recipe."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated, Any

import typer

from arbora.cli.cluster_options import Cluster, RayAddress, WorkerMemory
from arbora.cli.output import report_console, write_json
from arbora.cli.progress import Bar, step_progress
from arbora.cli.shared import AsJson, Quiet
from arbora.cli.terminal import plain
from arbora.errors import ArgumentError

EXAMPLES = """[bold]Examples[/bold]

arbora reproduce koo2007 --treebanks treebanks --jobs 2

arbora reproduce gormley2015 --table 2 --quick --treebanks examples/treebank"""

_EXAMPLE = "examples/treebank"  # in a checkout of the repository


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help="koo2007, smith2007, koo2010 or gormley2015; 'list' lists tables."
        ),
    ],
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Table to reproduce; may be repeated (default: all)."),
    ] = None,
    treebanks: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            envvar="ARBORA_TREEBANKS",
            help="Folder with a folder per treebank, or a single treebank.",
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Language of the paper; may be repeated (default: all)."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A trial on a part of the data, in some minutes.")
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=1, max=1024, metavar="N", help="Number of processes.")
    ] = 1,
    ray: RayAddress = None,
    worker_memory: WorkerMemory = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Folder for results and report (default: reproduction/PAPER)."
        ),
    ] = None,
    report_only: Annotated[
        bool,
        typer.Option(
            "--report-only", help="Run nothing; report on the results that are there already."
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce the tables of a paper by its own recipe.

    Every cell stands beside the published one. An interrupted run continues where it was. The
    report is written as Markdown, JSON and plots.
    """
    from arbora.reproduction import reproduce as run
    from arbora.reproduction.recipe import PAPERS, read_recipe

    if paper == "list":
        for name in PAPERS:
            recipe = read_recipe(name)
            typer.echo(f"{name}: {', '.join(spec.name for spec in recipe.tables)}")
        return
    recipe = read_recipe(paper)
    if treebanks is None and not quick:
        raise ArgumentError("give a folder of treebanks with --treebanks.")
    command = shlex.join(["arbora", *sys.argv[1:]])
    cluster = Cluster(ray, worker_memory)
    if ray is not None and jobs != 1:
        raise ArgumentError("--jobs is the number of processes here: leave it out with --ray.")
    with (
        cluster.spread() as spread,
        step_progress("reproducing", None, unit="runs", quiet=quiet) as bar,
    ):
        report = run(
            paper, treebanks or _EXAMPLE, tables=table, languages=language, quick=quick,
            processes=jobs, out=out, progress=_Lines(bar, quiet), command=command,
            report_only=report_only, spread=None if ray is None else spread,
        )  # fmt: skip
    if as_json:
        write_json({
            "paper": paper,
            "files": [str(path) for path in report.files],
            "tables": {name: made.values for name, made in report.tables.items()},
        })  # fmt: skip
    elif not quiet:
        console = report_console()
        for path in report.files:
            console.print(f"Written: {plain(str(path))}")


class _Lines:
    """Prints a line per finished run, with an estimate of the time left."""

    def __init__(self, bar: Bar, quiet: bool) -> None:
        self._bar, self._quiet = bar, quiet

    def __call__(self, done: int, total: int, line: str, left: float | None) -> Any:
        self._bar.expect(total)
        self._bar.reached(done)
        if not self._quiet:
            rest = "" if left is None else f"; about {_duration(left)} left"
            self._bar.write(f"{done}/{total}  {line}{rest}")


def _duration(seconds: float) -> str:
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
