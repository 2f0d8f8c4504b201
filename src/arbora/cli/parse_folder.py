"""`arbora parse --output-dir`: many files, with a manifest."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arbora.cli.output import write_json
from arbora.cli.progress import step_progress
from arbora.cli.terminal import tell
from arbora.errors import ArgumentError, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbora.cli.cluster_options import Cluster
    from arbora.corpus.folder_run import FileFigures, RunSummary
    from arbora.options import ParseOptions
    from arbora.parsers import Parser

__all__ = [
    "SOME_FAILED",
    "CompressionOption",
    "LogFile",
    "OutputFolder",
    "Shard",
    "Verbose",
    "logging_to",
    "parse_folder",
]

SOME_FAILED = 1  # the exit status if some files could not be parsed

OutputFolder = Annotated[
    str | None,
    typer.Option(
        "--output-dir",
        metavar="FOLDER",
        help="Parse every file of the inputs, files or folders, into this folder. Finished files "
        "are skipped, so that an interrupted run can be repeated.",
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        metavar="I/N", help="With --output-dir: every N-th file from the I-th on, for job arrays."
    ),
]
CompressionOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="With --output-dir: compress outputs as gz, bz2, xz or zst, or none (default: as the "
        "input).",
    ),
]
LogFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="With --output-dir: append a log of files and errors to this file."
    ),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="With --output-dir: report every file on standard error."),
]


@contextmanager
def logging_to(log_file: str | None, verbose: bool) -> Iterator[None]:
    """Sends Arbora's log to a file and, if it is wanted, to standard error."""
    log = logging.getLogger("arbora")
    handlers: list[logging.Handler] = []
    if log_file is not None:
        try:
            handlers.append(logging.FileHandler(log_file, encoding="utf-8"))
        except OSError as error:
            raise unwritable(log_file, error) from error
    if verbose:
        handlers.append(logging.StreamHandler())
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
    before = log.level
    if handlers:
        log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(before)
        for handler in handlers:
            log.removeHandler(handler)
            handler.close()


def needs_a_folder(ray: str | None, others: object) -> None:
    """Refuses options of folder runs, if there is no output folder."""
    if others:
        raise ArgumentError("--shard, --compression, --log-file and -v require --output-dir.")
    if ray is not None:
        raise ArgumentError("--ray requires --output-dir: each file is a task.")


def parse_folder(
    parser: Parser,
    inputs: list[str],
    folder: str,
    options: ParseOptions,
    *,
    models: list[str],
    shard: str | None,
    compression: str | None,
    format: str | None,  # noqa: A002  # the option's name
    skip_bad: bool,
    cluster: Cluster,
    quiet: bool,
    as_json: bool,
) -> None:
    """Parses all files into a folder, and reports; exits with 1 if some files failed."""
    from arbora.corpus.file_parser import FileParser, fingerprint
    from arbora.corpus.files import corpus_files
    from arbora.corpus.folder_run import FolderRun, output_name, sharded

    if "-" in inputs:
        raise ArgumentError("--output-dir takes files and folders, not standard input.")
    parser.decoder(options)  # raises errors before anything is written
    output_name("", compression)
    given = corpus_files([cluster.place(path) for path in inputs])
    _check_apart(inputs, folder)
    files = sharded(given, shard)
    with cluster.spread() as spread:
        run = FolderRun(cluster.place(folder), fingerprint(models, options, format, skip_bad))
        began, seen = time.perf_counter(), parser.unfamiliar()
        with step_progress("parsing", len(files), "files", quiet=quiet) as bar:

            def advance(_: object, figures: FileFigures | None) -> None:
                bar.advance()
                if figures is not None and figures.seen is not None:
                    seen.add_counts(figures.seen)

            parse_file = FileParser(parser, options, format, skip_bad)
            summary = run.parse(files, parse_file, compression, advance, spread)
        seen.warn()
        summary.seconds = round(time.perf_counter() - began, 3)
    if as_json:
        write_json(summary.to_dict())
    elif not quiet:
        _report(summary)
    if summary.failed:
        raise typer.Exit(SOME_FAILED)


def _check_apart(inputs: list[str], folder: str) -> None:
    """The next run must not take this run's output as its input."""
    target = Path(folder).resolve()
    for each in inputs:
        source = Path(each).resolve()
        if source.is_dir() and (source == target or source in target.parents):
            raise ArgumentError(
                f"the output folder {folder} is in the input folder {each}: choose another one."
            )
        if target in source.parents:
            raise ArgumentError(f"{each} is in the output folder: choose another one.")


def _report(summary: RunSummary) -> None:
    """A summary on standard error, with the reasons of what went wrong."""
    for name, reason in summary.failed.items():
        tell(f"failed: {name}: {reason}")
    for what, reasons in (("fallback", summary.fallbacks), ("skipped", summary.skipped)):
        for reason, number in reasons.items():
            tell(f"{what}: {number:,} sentences: {reason}.")
    certified = ""
    if summary.certified < summary.sentences:
        certified = f", {summary.certified:,} trees certified"
    speed = f", {summary.words / summary.seconds:,.0f} words/s" if summary.seconds >= 0.01 else ""
    tell(
        f"{summary.parsed:,} files parsed, {summary.finished_before:,} finished before, "
        f"{len(summary.failed):,} failed: {summary.sentences:,} sentences, {summary.words:,} "
        f"words{certified}{speed}."
    )
