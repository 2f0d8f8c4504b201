"""`arbora parse`: parses a stream of sentences."""

from __future__ import annotations

import io
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arbora.cli.cluster_options import Cluster, RayAddress, WorkerMemory
from arbora.cli.files import (
    check_not_an_input,
    check_one_input,
    check_writable,
    report_skipped,
)
from arbora.cli.parse_folder import (
    CompressionOption,
    LogFile,
    OutputFolder,
    Shard,
    Verbose,
    logging_to,
    needs_a_folder,
    parse_folder,
)
from arbora.cli.progress import byte_progress
from arbora.cli.shared import MODEL_VARIABLE, FormatOption, Quiet, SkipBad, Threads
from arbora.cli.terminal import tell
from arbora.cli.uncertain import list_least_certain, tell_where_from
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbora.data import Chunk
    from arbora.options import ParseOptions
    from arbora.parsers import Parser
    from arbora.pipeline import Pipeline

EXAMPLES = """[bold]Examples[/bold]

arbora parse --model english.arbora test.conllu --output parsed.conllu

arbora parse --model english.arbora test.conllu | arbora evaluate test.conllu -

arbora parse --model english.arbora test.conllu --probabilities --kbest 5

arbora parse --model english.arbora "The gulls sleep on the wall." --probabilities"""

_LARGEST_COUNT = 1_000_000_000
_LONGEST_SENTENCE = 2000  # as in `ParseOptions`


def parse(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE|TEXT]...",
            help="Files to parse (default: standard input), or text: an argument with spaces that "
            "names no file.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="The model to parse with: a file, or the name of an installed one (default: "
            f"{MODEL_VARIABLE}, or en). Several make an ensemble: their scores are averaged.",
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output file; - is standard output, .parquet a table of sentences.",
        ),
    ] = "-",
    output_dir: OutputFolder = None,
    shard: Shard = None,
    compression: CompressionOption = None,
    ray: RayAddress = None,
    worker_memory: WorkerMemory = None,
    decode: Annotated[
        Literal["map", "mbr", "greedy", "greedy-posterior", "max-z"] | None,
        typer.Option(
            metavar="NAME",
            help="Decoding: the best-scoring tree (map), the tree with most expected correct arcs "
            "(mbr), each word's best head by score (greedy) or probability (greedy-posterior), "
            "which need not form a tree, or the best tree with its hidden clusters (max-z) "
            "(default: the model's).",
        ),
    ] = None,
    trees: Annotated[
        Literal["nonprojective", "projective"] | None,
        typer.Option(
            metavar="CLASS",
            help="Class of trees to decode: nonprojective or projective (default: the model's).",
        ),
    ] = None,
    kbest: Annotated[
        int | None,
        typer.Option(
            min=1, max=_LARGEST_COUNT, metavar="K", help="Write the K best trees of each sentence."
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_LARGEST_COUNT,
            metavar="K",
            help="Write K trees drawn from the distribution.",
        ),
    ] = None,
    tag_samples: Annotated[
        int,
        typer.Option(
            min=0,
            max=1000,
            metavar="K",
            help="Average the distribution over K drawings of the tags from the model's tagger, so "
            "that doubt about tags is in the probabilities.",
        ),
    ] = 0,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed of --samples and --tag-samples.")
    ] = 0,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Write ArcProb and LabelProb to MISC, and the log-probability of the tree.",
        ),
    ] = False,
    certificates: Annotated[
        bool,
        typer.Option(
            "--certificates",
            help="State in comments whether each tree is provably the best (higher orders).",
        ),
    ] = False,
    head_sets: Annotated[
        float | None,
        typer.Option(
            min=0.5,
            max=0.999,
            metavar="P",
            help="Write HeadSet to MISC: heads of which one is right with this probability, on "
            "average over words; the model must be calibrated (arbora calibrate).",
        ),
    ] = None,
    head_sets_by: Annotated[
        Literal["all", "label", "distance"],
        typer.Option(
            metavar="NAME",
            help="The words that --head-sets is an average over: all, or those of the same label "
            "or distance in the tree.",
        ),
    ] = "all",
    keep_heads: Annotated[
        bool,
        typer.Option(
            "--keep-heads",
            help="Keep the heads and labels that the input has, and parse the rest around them.",
        ),
    ] = False,
    least_certain: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_LARGEST_COUNT,
            metavar="N",
            help="Instead of trees, list the N least certain arcs of all files, with the next "
            "likeliest head and both probabilities.",
        ),
    ] = None,
    allow_missing: Annotated[
        bool,
        typer.Option(
            "--allow-missing",
            help="Parse sentences without columns that the model uses; expect many errors.",
        ),
    ] = False,
    retag: Annotated[
        bool,
        typer.Option(
            "--retag", help="Replace the tags and lemmas of the input by the model's own."
        ),
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The training file that the sentences are most like, if the model was trained on "
            "several; arbora inspect lists their names.",
        ),
    ] = None,
    max_words: Annotated[
        int,
        typer.Option(
            min=1,
            max=_LARGEST_COUNT,
            metavar="N",
            help="Maximum sentence length; longer sentences are refused.",
            show_default=True,
        ),
    ] = _LONGEST_SENTENCE,
    solver: Annotated[
        Literal["subgradient", "ad3", "branch"] | None,
        typer.Option(
            metavar="NAME", help="Solver of models with dual decomposition (default: the model's)."
        ),
    ] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_LARGEST_COUNT,
            metavar="N",
            help="Iterations per sentence of models with dual decomposition.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="S",
            help="Seconds per sentence of models with dual decomposition; then the best tree so "
            "far is kept, and a comment says so.",
        ),
    ] = None,
    first_order_from: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_LARGEST_COUNT,
            metavar="N",
            help="Sentences of at least N words get first-order trees from a higher-order model, "
            "and a comment says so.",
        ),
    ] = None,
    threads: Threads = None,
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    log_file: LogFile = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON object; with --least-certain or --output-dir."),
    ] = False,
) -> None:
    """Parse files or text; in files, HEAD and DEPREL are replaced.

    Everything else stays, except enhanced dependencies: DEPS becomes _ and empty nodes are removed,
    since they belong to another tree. With --keep-heads, sentences whose tree stays keep them.

    A model with a segmenter takes raw text, and one with a tagger fills in missing tags and lemmas.

    Existing heads and labels are ignored unless --keep-heads is given, but must be valid.
    """
    if as_json and least_certain is None and output_dir is None:
        raise ArgumentError(
            "--json requires --least-certain or --output-dir: trees are written as CoNLL."
        )
    cluster = Cluster(ray, worker_memory, threads)
    if output_dir is None:
        needs_a_folder(ray, shard or compression or log_file or verbose)
    elif output != "-" or least_certain is not None or not files:
        raise ArgumentError(
            "--output-dir takes files and folders, and cannot be combined with --output or "
            "--least-certain."
        )
    if ray is not None and len(model or ()) > 1:
        raise ArgumentError("--ray takes one model: an ensemble has no file that could be sent.")
    check_one_input(*(files or ["-"]))
    *others, last = files or ["-"]
    # UD wants a space between two documents, so that all texts but the last end their line.
    paths = [*(as_source(argument, "\n") for argument in others), as_source(last)]
    for path in paths:
        if isinstance(path, str) and Path(path).is_dir() and output_dir is None:
            raise ArgumentError(f"{path} is a folder: parse all of its files with --output-dir.")
    if output != "-":
        check_writable(output)
        check_not_an_input(output, *(model or ()))
    parser = load_models(model or [], cluster.own_threads)
    if not files and sys.stdin.isatty():
        raise ArgumentError("there is nothing to parse: name files, or pipe in sentences.")

    from arbora.data import TextJoiner, format_named, open_output
    from arbora.options import ParseOptions

    options = ParseOptions(
        decode=decode, trees=trees, probabilities=probabilities or least_certain is not None,
        kbest=kbest, samples=samples, tag_samples=tag_samples, seed=seed, certificates=certificates,
        head_sets=head_sets, head_sets_by=head_sets_by, keep_heads=keep_heads,
        allow_missing=allow_missing, retag=retag, source=source, max_words=max_words,
        solver=solver, max_iterations=max_iterations, time_limit=time_limit,
        first_order_from=first_order_from,
    )  # fmt: skip
    if output_dir is not None:
        with logging_to(log_file, verbose):
            parse_folder(
                parser, files or [], output_dir, options, models=model or [], shard=shard,
                compression=compression, format=format, skip_bad=skip_bad, cluster=cluster,
                quiet=quiet, as_json=as_json,
            )  # fmt: skip
        return
    stage = parser.stage(options)  # raises errors before anything is written
    seen = parser.unfamiliar()
    chunks = _chunks(parser, paths, options, format=format, skip_bad=skip_bad)
    if options.probabilities:
        tell_where_from(parser)
    if least_certain is not None:
        watched = (seen.watched(chunk.block) for _, chunk in chunks)
        list_least_certain(parser, watched, options, least_certain, output, as_json=as_json)
        seen.warn()
        return
    if output.lower().endswith(".parquet"):
        from arbora.data.parquet import write_parquet

        parsed = (stage(seen.watched(chunk.block)) for _, chunk in chunks)
        write_parquet(output, parsed)
        seen.warn()
        return
    join = TextJoiner()
    hidden = quiet or (output == "-" and sys.stdout.isatty())  # the output itself shows it
    n_words, started = 0, time.perf_counter()
    with open_output(output) as write, byte_progress("parsing", _size(paths), quiet=hidden) as bar:
        for before, chunk in chunks:
            text = format_named(chunk.format).writer.write(stage(seen.watched(chunk.block)))
            write(join(text, chunk.format))
            n_words += int(chunk.block.n_words.sum())
            bar.reached(before + chunk.bytes_read)
    seen.warn()
    if n_words and not quiet and any(isinstance(path, str) for path in paths):
        _report_speed(n_words, time.perf_counter() - started)


def _chunks(
    parser: Parser, paths: list[str | io.BytesIO], options: ParseOptions, **reading: Any
) -> Iterator[tuple[int, Chunk]]:
    """The chunks of all inputs, each with the number of bytes of the inputs before its own."""
    bytes_before = sentences = 0
    for path in paths:
        for chunk in parser.chunks(
            path, options, sentences_before=sentences, on_error=report_skipped, **reading
        ):
            yield bytes_before, chunk
            sentences += len(chunk.block)
        bytes_before += _size([path]) or 0


def _report_speed(n_words: int, seconds: float) -> None:
    """Reports on standard error how fast the files were parsed."""
    speed = f", {n_words / seconds:,.0f} words/s" if seconds >= 0.01 else ""
    tell(f"{n_words:,} words in {seconds:.1f} s{speed}.")


def as_source(argument: str, ending: str = "") -> str | io.BytesIO:
    """A path, or a text with this ending: an argument with white space that names no file."""
    if argument.split() == [argument] or (argument and os.path.exists(argument)):  # noqa: PTH110  # long texts
        return argument
    return _TextArgument(f"{argument}{ending}".encode("utf-8", "surrogateescape"))


class _TextArgument(io.BytesIO):
    """A text of the command line."""

    name = "the argument"  # in messages


def load_model(model: str | None, threads: int | None) -> Pipeline:
    """The parser from `--model` or the environment, else the default of the installed models."""
    from arbora.pipeline import load

    return load(model or None, threads)


def load_models(models: list[str], threads: int | None) -> Parser:
    """The parser of one model, or of several as an ensemble."""
    from arbora.pipeline import load

    if len(models) > 1:
        return load(models, threads)
    return load_model(models[0] if models else os.environ.get(MODEL_VARIABLE), threads)


def _size(paths: list[str | io.BytesIO]) -> int | None:
    """The total size of all files in bytes; None if unknown."""
    try:
        if any(not isinstance(path, str) or not Path(path).is_file() for path in paths):
            return None
        return sum(Path(path).stat().st_size for path in paths if isinstance(path, str))
    except OSError:
        return None
