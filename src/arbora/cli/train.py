"""`arbora train`: trains a parser and the stages before it on a treebank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arbora.cli.failures import INTERRUPTED
from arbora.cli.files import (
    check_not_an_input,
    check_one_input,
    check_writable,
    report_skipped,
)
from arbora.cli.options import HelpAll, take_options
from arbora.cli.output import shown_card, write_json
from arbora.cli.progress import step_progress
from arbora.cli.shared import (
    AsJson,
    DevFiles,
    FormatOption,
    Quiet,
    SkipBad,
    Threads,
    TrainFiles,
)
from arbora.cli.terminal import tell
from arbora.cli.training_plan import TrainingPlan, parser_work, stage_work
from arbora.cli.training_progress import TrainingProgress
from arbora.cli.training_summary import summarise
from arbora.errors import ArgumentError
from arbora.options import ParserOptions, StageOptions, public_options

if TYPE_CHECKING:
    from arbora.parsers import Parser

EXAMPLES = """[bold]Examples[/bold]

arbora train train.conllu --dev dev.conllu --model english.arbora

arbora train UD_Danish-DDT --only parser

arbora train news.conllu web.conllu --dev dev.conllu --learner mira --passes 10

arbora train new.conllu --from english.arbora --model better.arbora"""

MODEL_ENDING = ".arbora"


@take_options(ParserOptions, StageOptions)
def train(
    train: TrainFiles,
    dev: DevFiles = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Model file to write (default: the name of TRAIN with the ending .arbora).",
        ),
    ] = None,
    only: Annotated[
        Literal["parser"] | None,
        typer.Option(
            metavar="parser",
            help="Train the parser alone, on the tags of TRAIN: the model takes tagged sentences, "
            "not text.",
        ),
    ] = None,
    sources: Annotated[
        bool,
        typer.Option(
            "--sources/--no-sources",
            help="With several files: the file of a sentence is a feature of the parser.",
        ),
    ] = True,
    word_clusters: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Word clusters: tab-separated lines of cluster, form, count."
        ),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Word vectors for a neural scorer, in the text format of GloVe, word2vec or "
            "fastText.",
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="A pretrained encoder for a neural scorer: a folder that save_pretrained of "
            "Hugging Face's transformers wrote.",
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
    calibration_share: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=0.9,
            metavar="X",
            help="Share of dev that chooses nothing, but calibrates head sets (arbora parse "
            "--head-sets) at the end.",
        ),
    ] = 0.0,
    start: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="MODEL", help="Continue training this model's parser; keep the rest."
        ),
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
    """Train a model on a treebank, so that it parses raw text; the best pass on dev is kept.

    A segmenter, a tagger and a lemmatiser are trained first, as far as the treebank has the
    annotation. Only TRAIN is required. Defaults depend on the learner and the order.
    """
    check_one_input(*train, *(dev or ()), start or "")
    path = model or model_path(train[0])
    check_writable(path)
    train_files, dev_files = training_files(train, dev)
    check_not_an_input(path, *train_files, *dev_files, word_clusters, vectors, edge_clusters)
    if plot is not None:
        check_plot(plot)
    if calibration_share and not dev_files:
        raise ArgumentError("--calibration-share requires --dev, of which it sets a part aside.")
    stages = _stage_options(options, only)
    from arbora.parsers import Parser
    from arbora.pipeline import Pipeline, load

    first = None if start is None else load(start, threads)
    whole = only is None or first is not None  # the stages of a model are kept
    parser = Pipeline(threads=threads, **options) if whole else Parser(threads=threads, **options)

    def plan() -> TrainingPlan:
        before = stage_work(stages.folds) if whole and first is None else {}
        return TrainingPlan(before | parser_work(parser.options, has_dev=bool(dev_files)))

    try:
        with step_progress("training", None, unit="sentences", quiet=quiet) as bar:
            progress = TrainingProgress(bar, lines=not quiet, plan=plan)
            parser.fit(
                one_or_several(train_files), one_or_several(dev_files) if dev_files else None,
                start=first, word_clusters=word_clusters, vectors=vectors,
                encoder=encoder, edge_clusters=edge_clusters, licence=licence, checkpoint=path,
                resume=resume, observer=progress, format=format, skip_bad=skip_bad,
                on_error=report_skipped, sources=sources, calibration_share=calibration_share,
                **({"stages": stages, "on_stage": progress.on_stage} if whole else {}),
            )  # fmt: skip
    except KeyboardInterrupt:  # after the bar has been removed
        _tell_how_to_resume(path)
        raise typer.Exit(INTERRUPTED) from None
    parser.save(path)
    if plot is not None:
        save_plot(parser, plot)
    if as_json:
        card = parser.model.card | shown_card(parser.model.card)
        write_json({"model": path, "bytes": Path(path).stat().st_size, **card})
    elif not quiet:
        summarise(parser, bool(dev_files), path)


def _stage_options(options: dict[str, Any], only: str | None) -> StageOptions:
    """Takes the options of the stages out of all options."""
    names = public_options(StageOptions)
    given = {name: options.pop(name) for name in names if name in options}
    if only is not None and given:
        name = next(iter(given)).replace("_", "-")
        raise ArgumentError(f"--{name} has no effect with --only parser, which trains no tagger.")
    return StageOptions(**given)


def training_files(train: list[str], dev: list[str] | None) -> tuple[list[str], list[str]]:
    """The files to train on, and those for early stopping; folders are searched for both."""
    from arbora.data.folders import find_splits, split_of

    train_files, dev_files = [], list(dev or ())
    for path in train:
        if path == "-" or not Path(path).is_dir():
            train_files.append(path)
            continue
        found = find_splits(Path(path))
        if "train" not in found:
            raise ArgumentError(f"{path} has no train file: name the files.")
        train_files.append(str(found["train"]))
        if dev is None and "dev" in found:
            dev_files.append(str(found["dev"]))
    for path in train_files[1:]:
        if not dev_files and (split_of(path) == "dev" or "dev" in Path(path).name):
            tell(
                f"note: {path} is trained on as well; to choose the best pass on it instead, give "
                f"--dev {path}."
            )
    return train_files, dev_files


def one_or_several(files: list[str]) -> Any:
    """A single file as such, for messages and cards."""
    return files[0] if len(files) == 1 else files


def model_path(train: str) -> str:
    """The name of TRAIN, a file or a folder, with the ending `.arbora`."""
    if train == "-":
        raise ArgumentError("--model is required with standard input.")
    if Path(train).is_dir():
        folder = Path(train) if Path(train).name not in ("", "..") else Path(train).resolve()
        return str(folder.with_name(folder.name + MODEL_ENDING))
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
    from arbora.fitting.checkpoint import path_beside
    from arbora.pipeline.stage_checkpoint import stage_checkpoint_path

    for checkpoint, what in (
        (path_beside(path), "the last complete pass"),
        (stage_checkpoint_path(path), "the segmenter, tagger and lemmatiser"),
    ):
        if checkpoint.exists():
            tell(
                f"interrupted; {checkpoint} has {what}: repeat the command with --resume to "
                "continue."
            )
            return
    tell("interrupted before anything could be saved.")
