"""`arbora grep`: the sentences that probably have a pattern."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from arbora.cli.cluster_options import Cluster, RayAddress, WorkerMemory
from arbora.cli.count import Annotated_, Asked, Corpus, DrawsOption, GoldFile, SeedOption
from arbora.cli.files import report_skipped
from arbora.cli.output import write_json
from arbora.cli.progress import step_progress
from arbora.cli.shared import AsJson, FormatOption, ModelFile, Quiet, SkipBad, Threads
from arbora.cli.terminal import visible
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.corpus import Hit

EXAMPLES = """[bold]Examples[/bold]

arbora grep news.conllu '\\[lemma=see] -obj-> \\[upos=NOUN]' --limit 10

arbora grep texts/ '\\[] -nsubj:pass-> \\[]' --least 0.5 --json

arbora grep train.conllu 'ROOT -> \\[upos=NOUN]' --annotated"""


def grep(
    arguments: Corpus,
    model: ModelFile = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1_000_000, metavar="N", help="Show at most N sentences.")
    ] = 20,
    least: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, metavar="P", help="Leave out less probable sentences."),
    ] = 0.0,
    gold: GoldFile = None,
    annotated: Annotated_ = False,
    draws: DrawsOption = 16,
    seed: SeedOption = 0,
    threads: Threads = None,
    ray: RayAddress = None,
    worker_memory: WorkerMemory = None,
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """List the sentences that most probably have a pattern, the most probable first.

    Each line has the probability of at least one match, a * if the best tree has one, the file, the
    number of the sentence, and the words; those of the likeliest match are in brackets.
    """
    from arbora.corpus import grep as search

    cluster = Cluster(ray, worker_memory, threads)
    asked = Asked.read(arguments, model, cluster.own_threads, annotated, gold)
    if ray is not None and "-" in asked.corpus:
        raise ArgumentError("--ray takes files and folders, not standard input.")
    with (
        cluster.spread() as spread,
        step_progress("searching", None, "sentences", quiet=quiet) as bar,
    ):
        hits = search(
            asked.parser,
            [cluster.place(path) for path in asked.corpus], asked.pattern, most=limit, least=least,
            draws=draws + draws % 2, seed=seed, gold=gold, on_block=bar.advance, spread=spread,
            format=format,
            skip_bad=skip_bad, on_error=report_skipped,
        )  # fmt: skip
    if as_json:
        from dataclasses import asdict

        write_json({"pattern": asked.pattern.text, "sentences": [asdict(hit) for hit in hits]})
        return
    for hit in hits:
        sys.stdout.write(_line(hit) + "\n")


def _line(hit: Hit) -> str:
    words = [f"[{form}]" if place in hit.words else form for place, form in enumerate(hit.forms, 1)]
    mark = "*" if hit.in_best_tree else " "
    where = visible(f"{hit.file}:{hit.sentence}")
    return f"{hit.probability:.3f}{mark} {where}\t{visible(' '.join(words))}"
