"""`arbora count`: how often a pattern occurs in a corpus, with an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from arbora.cli.cluster_options import Cluster, RayAddress, WorkerMemory
from arbora.cli.files import check_one_input, check_writable, report_skipped
from arbora.cli.output import report_console, table, write_json
from arbora.cli.progress import step_progress
from arbora.cli.shared import AsJson, FormatOption, ModelFile, Quiet, SkipBad, Threads
from arbora.cli.terminal import plain
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.corpus import Counts
    from arbora.parsers import Parser

__all__ = ["EXAMPLES", "Annotated_", "Corpus", "DrawsOption", "GoldFile", "SeedOption", "count"]

EXAMPLES = """[bold]Examples[/bold]

arbora count news.conllu '\\[upos=VERB] -obj-> \\[lemma=book]'

arbora count texts/ '\\[upos=VERB] -obj-> \\[]' --by lemma --gold sample.conllu --output verbs.csv

arbora count train.conllu 'v:\\[upos=VERB] -nsubj:*-> \\[], v -obj-> o:\\[], o << v' --annotated"""

_SHOWN = 30  # groups on the terminal

Corpus = Annotated[
    list[str],
    typer.Argument(metavar="CORPUS... PATTERN", help="Files and folders, then the pattern."),
]
GoldFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Annotated sentences of the same kind, not used in training, by which the parser's "
        "bias is estimated and corrected.",
    ),
]
DrawsOption = Annotated[
    int,
    typer.Option(
        min=2, max=10_000, metavar="K", help="Trees drawn of each sentence, an even number.",
        show_default=True,
    ),
]  # fmt: skip
SeedOption = Annotated[int, typer.Option(min=0, metavar="N", help="Random seed of the draws.")]
Annotated_ = Annotated[
    bool,
    typer.Option(
        "--annotated", help="Use the trees that the corpus has; no model, no probabilities."
    ),
]


def count(
    arguments: Corpus,
    model: ModelFile = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="[WORD.]COLUMN",
            help="Count by a column of the pattern's first word, or of another: lemma, o.lemma, "
            "2.feats.Number.",
        ),
    ] = None,
    level: Annotated[
        float,
        typer.Option(metavar="X", help="Probability that an interval holds the gold count."),
    ] = 0.9,
    gold: GoldFile = None,
    annotated: Annotated_ = False,
    draws: DrawsOption = 16,
    seed: SeedOption = 0,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the table: .csv, .json or .parquet."
        ),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the counts and intervals: .png, .svg or .pdf."),
    ] = None,
    threads: Threads = None,
    ray: RayAddress = None,
    worker_memory: WorkerMemory = None,
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Count a pattern of words and arcs in a corpus, under the parser's distribution of trees.

    A count is a sum of probabilities; the interval holds the count that an annotator would find,
    with probability --level, if --gold gives annotated sentences. Without --gold it covers the
    parser's doubt only, not its bias, and may be too narrow. The count in the best trees is beside
    it.
    """
    from arbora.corpus import count as count_pattern
    from arbora.corpus.tables import PLOTS, TABLES, check_ending, plot_bytes, table_bytes
    from arbora.data import open_output

    endings = {}
    for path, kinds, what in ((output, TABLES, "table"), (plot, PLOTS, "plot")):
        if path is not None:
            endings[path] = check_ending(path, kinds, what)
            check_writable(path)
    cluster = Cluster(ray, worker_memory, threads)
    asked = Asked.read(arguments, model, cluster.own_threads, annotated, gold)
    if ray is not None and "-" in asked.corpus:
        raise ArgumentError("--ray takes files and folders, not standard input.")
    with (
        cluster.spread() as spread,
        step_progress("counting", None, "sentences", quiet=quiet) as bar,
    ):
        found = count_pattern(
            asked.parser, [cluster.place(path) for path in asked.corpus], asked.pattern, by=by,
            level=level, gold=gold, draws=draws + draws % 2, seed=seed, on_block=bar.advance,
            spread=spread, format=format, skip_bad=skip_bad, on_error=report_skipped,
        )  # fmt: skip
    if output is not None:
        with open_output(output) as write:
            write(table_bytes(found, endings[output]))
    if plot is not None:
        with open_output(plot) as write:
            write(plot_bytes(found, endings[plot]))
    if as_json:
        write_json(found.to_dict())
    else:
        _report(found, annotated)


class Asked:
    """The corpus, the pattern and the parser of a command."""

    def __init__(self, parser: Parser | None, corpus: list[str], pattern: Any) -> None:
        self.parser, self.corpus, self.pattern = parser, corpus, pattern

    @classmethod
    def read(
        cls, arguments: list[str], model: str | None, threads: int | None, annotated: bool,
        gold: str | None = None,
    ) -> Asked:  # fmt: skip
        """The last argument is the pattern; it is read before the model is loaded."""
        from arbora.cli.parse import load_model
        from arbora.corpus import corpus_files, read_pattern

        if len(arguments) < 2:
            raise ArgumentError("a corpus and a pattern are needed: arbora count FILE PATTERN.")
        *corpus, text = arguments
        check_one_input(*corpus, *filter(None, [gold]))
        pattern = read_pattern(text)
        corpus_files([path for path in corpus if path != "-"])
        if annotated and gold is not None:
            raise ArgumentError("--gold corrects a parser, so it cannot go with --annotated.")
        return cls(None if annotated else load_model(model, threads), corpus, pattern)


def _report(found: Counts, annotated: bool) -> None:
    console = report_console()
    console.print(f"{found.words:,} words in {found.sentences:,} sentences")
    rows = [*found.groups[:_SHOWN], found.total]
    left = len(found.groups) - _SHOWN
    if annotated:
        cells = [[plain(row.group) or "all", f"{row.best:,}"] for row in rows]
        console.print(table([plain(found.by or ""), "count"], cells))
    else:
        cells = [
            [plain(row.group) or "all", f"{row.count:,.1f}", f"{row.low:,} to {row.high:,}",
             f"{row.expected:,.1f}", f"{row.best:,}"]
            for row in rows
        ]  # fmt: skip
        headings = [plain(found.by or ""), "count", f"{found.level:.0%} interval", "expected"]
        console.print(table([*headings, "best trees"], cells))
    if left > 0:
        console.print(f"{left:,} groups more: --output FILE.csv has them all.")
    if found.bias is not None:
        console.print(
            f"gold sample: {found.bias.gold:,.0f} matches, {found.bias.expected:,.1f} expected; "
            f"counts are multiplied by {found.bias.ratio:.3f}"
        )
    elif not annotated:
        console.print(
            "The intervals cover the parser's doubt only, not its bias, and may be too narrow: "
            "--gold FILE corrects that."
        )
    if found.effective is not None:
        console.print(f"effective draws per sentence: {found.effective:.1f}")
