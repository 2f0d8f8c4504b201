"""The commands of `arbora`. The file of a command is imported when the command runs."""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated

import typer

from arbora.cli.failures import FAILED, INTERRUPTED, tidy_up_when_terminated
from arbora.cli.later import CommandGroup, LateCommand

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

# The first paragraph of each command's help is repeated here, so that `arbora --help` needs no
# command's imports.
_COMMANDS = {
    "train": (
        WORK,
        "Train a model on a treebank, so that it parses raw text; the best pass on dev is kept.",
    ),
    "parse": (WORK, "Parse files or text; in files, HEAD and DEPREL are replaced."),
    "tune": (
        WORK,
        "Grid search: train with every combination of values and compare them on dev.",
    ),
    "cluster": (WORK, "Cluster words by their vectors, for --word-clusters of train."),
    "calibrate": (WORK, "Calibrate a model's head sets, which arbora parse --head-sets writes."),
    "serve": (
        WORK,
        "Serve a page to look at trees and correct them, a JSON API and UDPipe's REST interface.",
    ),
    "review": (
        ANNOTATE,
        "Review a file in the browser, sentences or arcs with the greatest expected gain first.",
    ),
    "select": (
        ANNOTATE,
        "Select what to annotate next: the sentences or words that help the parser most.",
    ),
    "evaluate": (
        EVALUATE,
        "Score a parse against gold: UAS, LAS, complete sentences, roots, non-projective arcs.",
    ),
    "compare": (
        EVALUATE,
        "Test whether the difference between two parses of the same sentences is significant.",
    ),
    "reproduce": (EVALUATE, "Reproduce the tables of a paper by its own recipe."),
    "count": (
        CORPUS,
        "Count a pattern of words and arcs in a corpus, under the parser's distribution of trees.",
    ),
    "grep": (
        CORPUS,
        "List the sentences that most probably have a pattern, the most probable first.",
    ),
    "stats": (
        DATA,
        "Describe treebanks: sizes, non-projective and crossing arcs, roots, lengths, labels.",
    ),
    "convert": (
        DATA,
        "Convert a treebank: all that the other format can hold, and a list of what it cannot.",
    ),
    "draw": (
        DATA,
        "Draw the trees of a file or text: as text, or as pictures by the output's ending.",
    ),
    "inspect": (
        DATA,
        "Describe a model: training data, dev scores, options, columns, labels and sizes.",
    ),
    "models": (
        DATA,
        "List the installed models: those of the package and of the folders in ARBORA_MODELS.",
    ),
    "explain": (
        DATA,
        "Explain an arc: each feature's contribution to a head's score, minus a rival's.",
    ),
}

for _name, (_panel, _help) in _COMMANDS.items():
    app.command(_name, cls=LateCommand, rich_help_panel=_panel, help=_help)(lambda: None)


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


def _speak_command_line() -> None:
    """Messages spell options as on the command line."""
    from arbora.options import speak_command_line

    speak_command_line()


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
    tidy_up_when_terminated()
    try:
        app(prog_name="arbora", obj=_speak_command_line)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
