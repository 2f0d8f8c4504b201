"""`arbora calibrate`: calibrates the head sets of a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arbora.cli.files import check_not_an_input, check_one_input, check_writable, report_skipped
from arbora.cli.output import report_console, table, write_json
from arbora.cli.shared import AsJson, FormatOption, SkipBad, Threads
from arbora.cli.terminal import tell
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.models.head_sets import HeadSets

EXAMPLES = """[bold]Examples[/bold]

arbora calibrate danish.arbora unseen.conllu

arbora calibrate en unseen.conllu --output en-calibrated.arbora"""

_SHOWN = (0.8, 0.9, 0.95, 0.99)


def calibrate(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model file, or an installed model.")
    ],
    treebank: Annotated[
        list[str],
        typer.Argument(
            metavar="TREEBANK...",
            help="Annotated sentences that the model was neither trained nor chosen on.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Model file to write (default: MODEL itself)."
        ),
    ] = None,
    retag: Annotated[
        bool | None,
        typer.Option(
            "--retag/--keep-tags",
            help="Calibrate for the model's own tags, or for those of the input (default: its own, "
            "if it has a tagger).",
            show_default=False,
        ),
    ] = None,
    threads: Threads = None,
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
) -> None:
    """Calibrate a model's head sets, which arbora parse --head-sets writes.

    The sentences must be of the kind that will be parsed, and the model must not know them: it
    would be too sure of their heads. The rest of the model stays the same.
    """
    from arbora.pipeline import load
    from arbora.pipeline.installed import find_model

    check_one_input(*treebank)
    path = output or str(find_model(model))
    if output is None and not Path(model).is_file():
        raise ArgumentError(f"{model} is an installed model: give --output, the file to write.")
    check_writable(path)
    check_not_an_input(path, *treebank)
    parser = load(model, threads)
    source: Any = treebank[0] if len(treebank) == 1 else treebank
    reading = {"format": format, "skip_bad": skip_bad, "on_error": report_skipped}
    parser.calibrate(source, retag=retag, **reading)
    parser.save(path)
    found = parser.model.head_sets
    assert found is not None
    if as_json:
        write_json({"model": path, **_figures(found)})
        return
    _report(found)
    tell(f"{path} is calibrated: arbora parse --model {path} --head-sets 0.95.")


def _figures(found: HeadSets) -> dict[str, Any]:
    """The size of the calibration, and thresholds at some levels."""
    return {
        "words": found.words, "sentences": found.sentences, "own_tags": found.own_tags,
        "thresholds": {f"{level:g}": found.at(level).other for level in _SHOWN},
    }  # fmt: skip


def _report(found: HeadSets) -> None:
    console = report_console()
    tags = "the model's own tags" if found.own_tags else "the tags of the input"
    console.print()
    console.print(f"{found.words:,} words in {found.sentences:,} sentences", style="bold")
    console.print(f"with {tags}", style="dim")
    console.print()
    rows = [(f"{level:g}", f"{found.at(level).other:.4g}") for level in _SHOWN]
    console.print(table(["level", "least probability of a head in the set"], rows))
