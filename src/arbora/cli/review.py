"""`arbora review`: opens a file in the page, with what is most worth looking at first."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from arbora.cli.files import check_not_an_input, check_writable
from arbora.cli.output import write_json
from arbora.cli.parse import load_model
from arbora.cli.shared import ModelFile, Threads
from arbora.cli.terminal import tell
from arbora.errors import ArgumentError, unreadable

if TYPE_CHECKING:
    from arbora.annotation import Look

EXAMPLES = """[bold]Examples[/bold]

arbora review parsed.conllu --model danish.arbora

arbora review treebank.conllu --model danish.arbora --by disagreement --arcs

arbora review anna.conllu --against ben.conllu --model danish.arbora"""


def review(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A CoNLL-U or CoNLL-X file to correct.")
    ],
    model: ModelFile = None,
    by: Annotated[
        Literal["errors", "margin", "entropy", "disagreement"],
        typer.Option(
            metavar="NAME",
            help="What comes first: the expected number of wrong arcs in the file (errors), heads "
            "that another one comes near to or surpasses (margin), the entropy of the trees "
            "(entropy), or the number of words that the best-scoring tree and the safest tree "
            "attach differently (disagreement).",
        ),
    ] = "errors",
    arcs: Annotated[
        bool, typer.Option("--arcs/--sentences", help="Single arcs instead of whole sentences.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The same words by another annotator: the sentences that differ are opened one by "
            "one, and FILE becomes the adjudicated one.",
        ),
    ] = None,
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Annotated sentences: the page gets a button that trains the model further on "
            "the accepted sentences, with the score on these before and after.",
        ),
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="With --dev: further sentences to train on; may be repeated."
        ),
    ] = None,
    retrained: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --dev: the file of the further trained model (default: FILE.arbora).",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="N", help="Port; 0 is any.", show_default=True),
    ] = 8000,
    browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
    threads: Threads = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the order as JSON, without the page.")
    ] = False,
) -> None:  # fmt: skip
    """Review a file in the browser, sentences or arcs with the greatest expected gain first.

    The parser does not look at the heads of the file, so it also finds annotation that it thinks
    wrong. Changes are kept in FILE.journal until they are saved in the page; arbora serve has more
    settings.
    """
    if against is not None and (arcs or by != "errors"):
        raise ArgumentError("--against has an order of its own: leave out --by and --arcs.")
    if "-" in (file, against):
        raise ArgumentError("a review changes its file: name it instead of standard input.")
    plan = _plan(file, model, dev, train, retrained)
    parser = load_model(model, threads)
    from arbora.annotation import review_differences, review_order

    looks = (
        review_order(parser, file, by, arcs=arcs)
        if against is None
        else review_differences(file, against)
    )
    if as_json:
        write_json(
            {"file": file, "by": by if against is None else "against", "order": _plain(looks)}
        )
        return
    if not looks:
        nothing = "no doubt" if against is None else "no difference"
        tell(f"there is nothing to review: there is {nothing} in {file}.")
        return
    from arbora.server import Settings, Suggestion, TrainingPlan, run

    order = [Suggestion(one.sentence, one.score, one.reason, one.word) for one in looks]
    log: Literal["off", "json"] = "off" if sys.stderr.isatty() else "json"
    settings = Settings(
        port=port, threads=threads, log=log, file=file, order=order,
        retraining=None if plan is None else TrainingPlan(*plan),
    )  # fmt: skip
    run({_name(model): parser}, settings, open_browser=browser)


def _plan(
    file: str, model: str | None, dev: str | None, train: list[str] | None, output: str | None
) -> tuple[str, str, tuple[str, ...]] | None:
    """The arguments of a `TrainingPlan`, if the page can train."""
    if dev is None:
        if train or output is not None:
            raise ArgumentError("--train and --retrained require --dev, which judges the training.")
        return None
    target = output or f"{file}.arbora"
    check_writable(target)
    check_not_an_input(target, file, model, dev, *(train or ()))
    for path in (dev, *(train or ())):
        if not Path(path).is_file():
            raise unreadable(path, FileNotFoundError("no such file"))
    return dev, target, tuple(train or ())


def _plain(looks: list[Look]) -> list[dict[str, object]]:
    return [asdict(one) | {"sentence": one.sentence + 1} for one in looks]


def _name(model: str | None) -> str:
    return Path(model).name.removesuffix(".arbora") if model else "en"
