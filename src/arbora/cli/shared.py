"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "AsJson",
    "DevFile",
    "DevFiles",
    "FormatOption",
    "ModelFile",
    "Quiet",
    "SkipBad",
    "Threads",
    "TrainFile",
    "TrainFiles",
]

MODEL_VARIABLE = "ARBORA_MODEL"

TrainFile = Annotated[str, typer.Argument(metavar="TRAIN", help="Annotated sentences to train on.")]
TrainFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="TRAIN...",
        help="Annotated sentences to train on: files, or folders that contain train and dev files.",
    ),
]
DevFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--dev",
        metavar="FILE",
        help="Annotated sentences for early stopping; may be repeated (default: the dev files of "
        "the folders, or the last tenth of TRAIN).",
    ),
]
DevFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Annotated sentences for early stopping (default: the last tenth of TRAIN).",
    ),
]
ModelFile = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        envvar=MODEL_VARIABLE,
        help="The model to parse with: a file, or the name of an installed one (default: en).",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1024,
        metavar="N",
        help="Number of threads (default: all cores).",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="File format: conllu, conllx, conll2008, conll2009, ptb, horizontal, vertical or text "
        "(default: detected).",
    ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Skip malformed sentences and report them.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
