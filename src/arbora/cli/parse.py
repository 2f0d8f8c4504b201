"""`arbora parse`: trees for sentences, in a stream."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from arbora.cli.files import (
    check_not_an_input,
    check_one_input,
    check_writable,
    report_skipped,
)
from arbora.cli.progress import byte_progress
from arbora.cli.shared import MODEL_VARIABLE, FormatOption, ModelFile, SkipBad, Threads
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.parsers import Parser

EXAMPLES = """[bold]Examples[/bold]

arbora parse --model english.arbora test.conllu --output parsed.conllu

arbora parse --model english.arbora test.conllu | arbora evaluate test.conllu -

arbora parse --model english.arbora test.conllu --probabilities --kbest 5"""

_LARGEST_COUNT = 1_000_000_000
_LONGEST_SENTENCE = 2000  # as in parsers/lengths.py, which takes long to import


def parse(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="What to parse; by default standard input."),
    ] = None,
    model: ModelFile = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="- is standard output.")
    ] = "-",
    decode: Annotated[
        Literal["map", "mbr", "greedy", "greedy-posterior", "max-z"] | None,
        typer.Option(
            metavar="NAME",
            help="The likeliest tree (map), the most likely arcs (mbr), each word's head of the "
            "best score (greedy) or probability (greedy-posterior), which need not make a tree, or "
            "max-z for hidden clusters; by default what the model was tuned with.",
        ),
    ] = None,
    trees: Annotated[
        Literal["nonprojective", "projective"] | None,
        typer.Option(metavar="CLASS", help="nonprojective or projective; by default the model's."),
    ] = None,
    kbest: Annotated[
        int | None,
        typer.Option(
            min=1, max=_LARGEST_COUNT, metavar="K", help="The K best trees of each sentence."
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1, max=_LARGEST_COUNT, metavar="K", help="K trees drawn from the distribution."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of --samples.")] = 0,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities", help="ArcProb and LabelProb into MISC, log-probability of the tree."
        ),
    ] = False,
    certificates: Annotated[
        bool,
        typer.Option(
            "--certificates",
            help="Say in comments whether each tree is certainly the best (higher orders).",
        ),
    ] = False,
    max_words: Annotated[
        int,
        typer.Option(
            min=1,
            max=_LARGEST_COUNT,
            metavar="N",
            help="Refuse longer sentences.",
            show_default=True,
        ),
    ] = _LONGEST_SENTENCE,
    threads: Threads = None,
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
) -> None:
    """Parse files, one after the other; HEAD and DEPREL are replaced and nothing else changes.

    Heads and labels that the input already has make no difference, but have to be well-formed.
    """
    paths = files or ["-"]
    check_one_input(*paths)
    if output != "-":
        check_writable(output)
        check_not_an_input(output, model)
    parser = load_model(model, threads)
    if not files and sys.stdin.isatty():
        raise ArgumentError("there is nothing to parse: name files, or pipe sentences in.")

    from arbora.data import TextJoiner, format_named, open_output
    from arbora.options import ParseOptions

    options = ParseOptions(
        decode, trees, probabilities, kbest, samples, seed, certificates, max_words
    )
    stage = parser.stage(options)  # refuses what the model cannot do before it writes anything
    if probabilities:
        _tell_where_from(parser)
    join = TextJoiner()
    quiet = output == "-" and sys.stdout.isatty()  # the trees themselves show how far it is
    with open_output(output) as write, byte_progress("parsing", _size(paths), quiet=quiet) as bar:
        before = 0
        for path in paths:
            chunks = parser.chunks(
                path, options, format=format, skip_bad=skip_bad, on_error=report_skipped
            )
            for chunk in chunks:
                text = format_named(chunk.format).writer.write(stage(chunk.block))
                write(join(text, chunk.format))
                bar.reached(before + chunk.bytes_read)
            before += _size([path]) or 0


def load_model(path: str | None, threads: int | None) -> Parser:
    """The parser of `--model` or of the environment."""
    if not path:
        raise ArgumentError(
            "there is no model: train one with arbora train TRAIN, and give it with --model FILE "
            f"or in the variable {MODEL_VARIABLE}."
        )
    from arbora.parsers import load

    return load(path, threads)


def _tell_where_from(parser: Parser) -> None:
    """Says on standard error where probabilities come from, if not from the model's own sums."""
    model = parser.model
    own = model.options.keywords()
    if own.get("inference") == "bp":
        text = "the probabilities are beliefs, which approximate those of the model"
    elif own.get("inference") in ("dual", "hill-climbing"):
        text = "the probabilities are those of the first-order model inside this one"
    elif own["learner"] in ("loglinear", "l2", "risk", "l2+risk"):
        return
    elif model.card.get("dev") is None:
        text = f"{own['learner']} does not learn probabilities; these are not calibrated"
    else:
        text = (
            f"{own['learner']} does not learn probabilities; these are calibrated on dev "
            f"(temperature {model.temperature:.3g})"
        )
    typer.echo(f"arbora: {text}.", err=True)


def _size(paths: list[str]) -> int | None:
    """Bytes of all files; None if that is not known."""
    try:
        if any(not Path(path).is_file() for path in paths):
            return None
        return sum(Path(path).stat().st_size for path in paths)
    except OSError:
        return None
