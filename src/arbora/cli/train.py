"""`arbora train`: trains a parser on a treebank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arbora.cli.failures import INTERRUPTED
from arbora.cli.files import (
    check_not_an_input,
    check_one_input,
    check_writable,
    report_skipped,
    size_text,
)
from arbora.cli.options import HelpAll, take_options
from arbora.cli.output import (
    describe_pruning,
    describe_reranking,
    figure,
    report_console,
    write_json,
)
from arbora.cli.progress import step_progress
from arbora.cli.shared import AsJson, DevFile, FormatOption, Quiet, SkipBad, Threads, TrainFile
from arbora.cli.terminal import plain, tell
from arbora.cli.training_progress import TrainingProgress
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.parsers import Parser

EXAMPLES = """[bold]Examples[/bold]

arbora train train.conllu --dev dev.conllu --model english.arbora

arbora train train.conllu --learner mira --passes 10 --plot training.png

arbora train new.conllu --from english.arbora --model better.arbora"""

MODEL_ENDING = ".arbora"


@take_options
def train(
    train: TrainFile,
    dev: DevFile = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Model file to write (default: the name of TRAIN with the ending .arbora).",
        ),
    ] = None,
    word_clusters: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Word clusters: tab-separated lines of cluster, form, count."
        ),
    ] = None,
    edge_clusters: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="A model with hidden clusters; the posteriors of its clusters become features.",
        ),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Licence of the data, for the model card."),
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="MODEL", help="Continue training this model.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue an interrupted run from its last complete pass."),
    ] = False,
    threads: Threads = None,
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Plot loss and dev scores by pass (.png, .svg, .pdf)."),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    help_all: HelpAll = False,  # noqa: ARG001  # shows help before anything runs
    *,
    options: dict[str, Any],
) -> None:
    """Train a parser on a treebank; the best pass on dev is kept.

    Only TRAIN is required. Defaults depend on the learner and the order.
    """
    check_one_input(train, dev or "", start or "")
    path = model or model_path(train)
    check_writable(path)
    check_not_an_input(path, train, dev, word_clusters, edge_clusters)
    if plot is not None:
        check_plot(plot)
    from arbora.parsers import Parser
    from arbora.pipeline import load

    first = None if start is None else load(start, threads)
    parser = Parser(threads=threads, **options)
    try:
        with step_progress("training", None, unit="sentences", quiet=quiet) as bar:
            parser.fit(
                train, dev, start=first, word_clusters=word_clusters, edge_clusters=edge_clusters,
                licence=licence, checkpoint=path, resume=resume, observer=TrainingProgress(
                    bar, lines=not quiet, later=lambda: later_runs(parser)
                ), format=format, skip_bad=skip_bad, on_error=report_skipped,
            )  # fmt: skip
    except KeyboardInterrupt:  # after the bar has been removed
        _tell_how_to_resume(path)
        raise typer.Exit(INTERRUPTED) from None
    parser.save(path)
    if plot is not None:
        save_plot(parser, plot)
    if as_json:
        write_json({"model": path, "bytes": Path(path).stat().st_size, **parser.model.card})
    elif not quiet:
        _summarise(parser, dev, path)


def later_runs(parser: Parser) -> list[str]:
    """What training does after the best pass was found."""
    reranks = getattr(parser.options.order, "rerank", 0) > 0
    lists = ["making the reranker's lists by cross-validation", "training the reranker"]
    return [*(lists if reranks else []), "retraining on all sentences"]


def model_path(train: str) -> str:
    """The name of TRAIN with the ending `.arbora`."""
    if train == "-":
        raise ArgumentError("--model is required with standard input.")
    from arbora.data.compression import without_ending

    name = without_ending(Path(train).name)
    stem = Path(name).stem if name.endswith((".conllu", ".conll", ".conllx", ".txt")) else name
    return str(Path(train).with_name(stem + MODEL_ENDING))


def check_plot(path: str) -> None:
    """Checks before training whether the plot can be drawn and written."""
    from arbora.drawing.history import check_drawing

    check_drawing(path)
    check_writable(path)


def save_plot(parser: Parser, path: str) -> None:
    from arbora.drawing import draw_history

    assert parser.history is not None
    draw_history(parser.history, path=path)


def _tell_how_to_resume(path: str) -> None:
    checkpoint = Path(f"{path}.checkpoint")
    if checkpoint.exists():
        tell(
            f"interrupted; {checkpoint} has the last complete pass: repeat the command with "
            "--resume to continue."
        )
    else:
        tell("interrupted during the first pass.")


def _summarise(parser: Parser, dev: str | None, path: str) -> None:
    console = report_console()
    model = parser.model
    card = model.card
    console.print()
    data, share = card["trained_on"], card["multi_root_sentences"]
    console.print(f"{data['words']:,} words in {data['sentences']:,} sentences", style="bold")
    columns = model.encoder.settings.columns
    why = f"{100 * share:.1f} % of the sentences have several roots"
    chosen = "chosen automatically" if parser.options.root == "auto" else "as given"
    lines = [
        ("learner", describe_learner(parser)),
        ("root", f"{model.root} ({chosen}; {why})"),
        ("columns", ", ".join(["form", *columns])),
    ]
    if "projective_oracle_uas" in card:
        kept = 100 * card["projective_oracle_uas"]
        lines.append(("projective", f"projective gold trees keep {kept:.2f} % of the heads"))
    if card["dev"] is None:
        lines.append(("dev", f"none; too few sentences to hold out; pass {card['passes']}"))
    else:
        scores = card["dev"]
        held_out = "" if dev else ", on the held-out last tenth"
        if card.get("refitted"):
            held_out += ", then retrained on all sentences"
        las = "" if scores["las"] is None else f", LAS {figure(scores['las'])}"
        lines.append(("dev", f"UAS {figure(scores['uas'])}{las} (rule {scores['rule']}{held_out})"))
        lines.append(("best pass", f"{card['best_pass']} of {card['passes']}"))
    if (pruning := describe_pruning(card)) is not None:
        lines.append(("pruning", pruning))
    if (reranking := describe_reranking(card)) is not None:
        lines.append(("reranking", reranking))
    lines.append(("model", f"{plain(path)} ({size_text(Path(path).stat().st_size)})"))
    for name, text in lines:
        console.print(f"[dim]{name:<10}[/dim] {text}")
    console.print()
    console.print(f"Parse with it: arbora parse --model {plain(path)} FILE", style="dim")


def describe_learner(parser: Parser) -> str:
    """A short description of learner, optimiser and tree class."""
    own = parser.model.options.keywords()
    learner = own["learner"]
    if "optimizer" in own and learner != "maxmargin":
        learner += f" by {own['optimizer']}"
    elif learner == "mira":
        learner += f", {own['mira']}"
    order = "" if own["order"] == "first" else f"{own['order']} order, "
    if own.get("training_inference") == "bp":
        order += f"{own['bp_iterations']} BP iterations, "
    order += f"{own['rerank']} trees reranked, " if own.get("rerank") else ""
    return (
        f"{learner}, {order}{own['trees']} trees, {own['features']} features, "
        f"{own['labels']} labels"
    )
