"""`arbora tune`: searches for the options that are best on dev."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from arbora.cli.cluster_options import Cluster, RayAddress, WorkerMemory
from arbora.cli.files import (
    check_not_an_input,
    check_one_input,
    check_writable,
    report_skipped,
    size_text,
)
from arbora.cli.options import HelpAll, read_value, take_options, with_current_names
from arbora.cli.output import figure, report_console, table, write_json
from arbora.cli.progress import Bar, step_progress
from arbora.cli.shared import AsJson, DevFile, FormatOption, Quiet, SkipBad, Threads, TrainFile
from arbora.cli.terminal import plain
from arbora.cli.training_progress import TrainingProgress
from arbora.errors import ArgumentError
from arbora.options import ParserOptions, public_options, spelled

if TYPE_CHECKING:
    from arbora.parsers import Trial, Tuning

EXAMPLES = """[bold]Examples[/bold]

arbora tune train.conllu --dev dev.conllu --model best.arbora

arbora tune train.conllu --dev dev.conllu --grid regularization=0.1,1,10 --grid rate=0.05,0.1"""


@take_options(ParserOptions)
def tune(
    train: TrainFile,
    dev: DevFile = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V1,V2,...",
            help="Values of an option to try; may be repeated for all combinations (default: the "
            "learner's most important options).",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="FILE", help="File to write the best model to.")
    ] = None,
    word_clusters: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Word clusters: tab-separated lines of cluster, form, count."
        ),
    ] = None,
    threads: Threads = None,
    ray: RayAddress = None,
    worker_memory: WorkerMemory = None,
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    help_all: HelpAll = False,  # noqa: ARG001  # shows help before anything runs
    *,
    options: dict[str, Any],
) -> None:
    """Grid search: train with every combination of values and compare them on dev.

    Other options apply to all trials. Early stopping decides the number of passes.
    """
    check_one_input(train, dev or "")
    if model is not None:
        check_writable(model)
        check_not_an_input(model, train, dev, word_clusters)
    values = None if grid is None else _read_grid(grid)
    from arbora.parsers import tune as search

    cluster = Cluster(ray, worker_memory, threads)
    with (
        cluster.spread() as spread,
        step_progress("tuning", None, unit="sentences", quiet=quiet) as bar,
    ):
        progress = _TuningProgress(bar, quiet)
        answer = search(
            train, dev, values, threads=threads,
            on_trial=progress.begin_trial, on_result=progress.end_trial, observer=progress,
            word_clusters=word_clusters, spread=spread,
            format=format, skip_bad=skip_bad, on_error=report_skipped, **options,
        )  # fmt: skip
    if model is not None:
        answer.parser.save(model)
    if as_json:
        write_json(_as_dict(answer, model))
    elif not quiet:
        _report(answer, model)


class _TuningProgress(TrainingProgress):
    """Prints one line per trial, not per pass."""

    _trial = ""
    _ended = 0

    def __init__(self, bar: Bar, quiet: bool) -> None:
        super().__init__(bar, lines=False)
        self._quiet = quiet

    def begin_trial(self, number: int, count: int) -> None:
        self._trial = f"{number}/{count}"
        self.done = 0
        self._bar.restart()
        self._bar.show(trial=self._trial)

    def end_trial(self, trial: Trial) -> None:
        self._ended += 1
        if not self._quiet:
            las = "" if trial.las is None else f"  LAS {figure(trial.las)}"
            self._bar.write(
                f"trial {self._trial or self._ended}  {_point_text(trial.options)}  "
                f"UAS {figure(trial.uas)}{las}  {trial.seconds:.1f} s"
            )


def _read_grid(items: list[str]) -> dict[str, list[Any]]:
    """`regularization=0.1,1` becomes a list of numbers."""
    known = public_options(ParserOptions)
    texts: dict[str, str] = {}
    for item in items:
        name, equals, values = item.partition("=")
        name = name.strip().removeprefix("--").replace("-", "_")
        if not equals or not values:
            raise ArgumentError(f"--grid must be NAME=V1,V2,..., not {item!r}.")
        if name in texts:
            raise ArgumentError(f"--grid has {name} twice: give all its values at once.")
        texts[name] = values
    grid: dict[str, list[Any]] = {}
    for name, values in with_current_names(texts).items():
        if name not in known:
            raise ArgumentError(f"--grid: there is no option {spelled(name)}.")
        grid[name] = [read_value(name, text.strip()) for text in values.split(",")]
    return grid


def _point_text(options: dict[str, Any]) -> str:
    return "  ".join(f"{name.replace('_', '-')} {value}" for name, value in options.items())


def _as_dict(answer: Tuning, path: str | None) -> dict[str, Any]:
    trials = [
        {
            "options": trial.options,
            "uas": trial.uas,
            "las": trial.las,
            "best_pass": trial.best_pass,
            "passes": trial.passes,
            "seconds": trial.seconds,
        }
        for trial in answer.trials
    ]
    return {"rule": answer.rule, "best": trials[0]["options"], "trials": trials, "model": path}


def _report(answer: Tuning, path: str | None) -> None:
    console = report_console()
    names = list(answer.trials[0].options)
    console.print()
    console.print(f"{len(answer.trials)} trials, best first", style="bold")
    console.print(f"scores on dev, rule {answer.rule}", style="dim")
    console.print()
    headings = [*(name.replace("_", "-") for name in names), "UAS", "LAS", "pass", "seconds"]
    console.print(table(headings, [_row(trial) for trial in answer.trials]))
    console.print()
    best = " ".join(
        f"--{name.replace('_', '-')} {value}" for name, value in answer.trials[0].options.items()
    )
    console.print(f"Best options: {best}")
    if path is not None:
        from pathlib import Path

        console.print(f"Best model: {plain(path)} ({size_text(Path(path).stat().st_size)})")


def _row(trial: Trial) -> list[str]:
    return [
        *(str(value) for value in trial.options.values()),
        figure(trial.uas),
        figure(trial.las),
        f"{trial.best_pass} of {trial.passes}",
        figure(trial.seconds, 1),
    ]
