"""The commands of `arbora`."""

from __future__ import annotations

import gc
import os
import re
import sys
from inspect import cleandoc
from typing import Annotated

import typer

from arbora.cli import (
    calibrate,
    cluster,
    compare,
    convert,
    count,
    draw,
    evaluate,
    explain,
    grep,
    inspect,
    models,
    parse,
    reproduce,
    review,
    select,
    serve,
    stats,
    train,
    tune,
)
from arbora.cli.failures import FAILED, INTERRUPTED, CommandGroup, tidy_up_when_terminated
from arbora.options import speak_command_line

__all__ = ["app", "main"]

app = typer.Typer(
    name="arbora",
    cls=CommandGroup,
    help="Probabilistic dependency parsing.",
    epilog="Help on a command: [bold]arbora COMMAND --help[/bold]. "
    "A file named [bold]-[/bold] is standard input or output.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

WORK = "Train and parse"
ANNOTATE = "Annotate"
EVALUATE = "Evaluate"
CORPUS = "Ask a corpus"
DATA = "Inspect data and models"

app.command("train", rich_help_panel=WORK, epilog=train.EXAMPLES)(train.train)
app.command("parse", rich_help_panel=WORK, epilog=parse.EXAMPLES)(parse.parse)
app.command("serve", rich_help_panel=WORK, epilog=serve.EXAMPLES)(serve.serve)
app.command("tune", rich_help_panel=WORK, epilog=tune.EXAMPLES)(tune.tune)
app.command("cluster", rich_help_panel=WORK, epilog=cluster.EXAMPLES)(cluster.cluster)
app.command("calibrate", rich_help_panel=WORK, epilog=calibrate.EXAMPLES)(calibrate.calibrate)
app.command("review", rich_help_panel=ANNOTATE, epilog=review.EXAMPLES)(review.review)
app.command("select", rich_help_panel=ANNOTATE, epilog=select.EXAMPLES)(select.select)
app.command("evaluate", rich_help_panel=EVALUATE, epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command("compare", rich_help_panel=EVALUATE, epilog=compare.EXAMPLES)(compare.compare)
app.command("reproduce", rich_help_panel=EVALUATE, epilog=reproduce.EXAMPLES)(reproduce.reproduce)
app.command("count", rich_help_panel=CORPUS, epilog=count.EXAMPLES)(count.count)
app.command("grep", rich_help_panel=CORPUS, epilog=grep.EXAMPLES)(grep.grep)
app.command("stats", rich_help_panel=DATA, epilog=stats.EXAMPLES)(stats.stats)
app.command("convert", rich_help_panel=DATA, epilog=convert.EXAMPLES)(convert.convert)
app.command("draw", rich_help_panel=DATA, epilog=draw.EXAMPLES)(draw.draw)
app.command("inspect", rich_help_panel=DATA, epilog=inspect.EXAMPLES)(inspect.inspect)
app.command("models", rich_help_panel=DATA, epilog=models.EXAMPLES)(models.models)
app.command("explain", rich_help_panel=DATA, epilog=explain.EXAMPLES)(explain.explain)


for _command in app.registered_commands:  # the terminal breaks the lines of a paragraph
    if _command.callback is not None:
        _command.help = re.sub(r"(?<=\S)\n(?=\S)", " ", cleandoc(_command.callback.__doc__ or ""))


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"arbora {version('arbora')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line; characters that the terminal cannot show are escaped."""
    if sys.stdout is None:  # standard output is closed
        sys.exit(FAILED)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")
    # Arbora has its own threads; those of BLAS would only cost time when NumPy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(100_000)  # imports make many objects and no garbage
    speak_command_line()
    tidy_up_when_terminated()
    try:
        app(prog_name="arbora")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
