"""`arbora select`: what to annotate next."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from arbora.cli.files import check_not_an_input, check_one_input, check_writable, report_skipped
from arbora.cli.output import figure, report_console, table, write_json
from arbora.cli.parse import load_model
from arbora.cli.shared import AsJson, FormatOption, ModelFile, SkipBad, Threads
from arbora.cli.terminal import plain, tell
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.annotation import Selection

EXAMPLES = """[bold]Examples[/bold]

arbora select pool.conllu --model danish.arbora --budget 500 --output next.conllu

arbora select pool.conllu --model danish.arbora --budget 200 --arcs --diversity 0.5

arbora train done.conllu next.conllu --from danish.arbora --model better.arbora"""

_TEXT = 60  # characters of a sentence in the report
_SHOWN = 20  # sentences in the report


def select(
    pool: Annotated[
        str, typer.Argument(metavar="POOL", help="Sentences to choose from; heads are kept.")
    ],
    budget: Annotated[
        int, typer.Option(min=1, metavar="N", help="The number of words that can be annotated.")
    ],
    by: Annotated[
        Literal["errors", "margin", "entropy", "disagreement", "random"],
        typer.Option(
            metavar="NAME",
            help="What is expected to help most: the expected number of wrong arcs (errors), "
            "words with two heads of nearly the same probability (margin), the entropy of trees "
            "or heads (entropy), the number of words that the best-scoring tree and the safest "
            "tree attach differently (disagreement), or random.",
        ),
    ] = "errors",
    arcs: Annotated[
        bool,
        typer.Option("--arcs/--sentences", help="Select single words instead of whole sentences."),
    ] = False,
    diversity: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="X",
            help="How much less a further word of the same tag, or sentence of the same length, "
            "counts: from 0, not at all, to 1.",
        ),
    ] = 0.0,
    model: ModelFile = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File of the selected sentences, with HEAD and DEPREL to fill in; - is standard "
            "output (default: a report only).",
        ),
    ] = None,
    ignore_heads: Annotated[
        bool,
        typer.Option(
            "--ignore-heads",
            help="Select as if POOL had no heads, and write those of the selected words: simulates "
            "annotation with an annotated treebank.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Random seed of --by random.")] = 0,
    threads: Threads = None,
    format: FormatOption = None,  # noqa: A002  # the option's name
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
) -> None:
    """Select what to annotate next: the sentences or words that help the parser most.

    The output is a file for the annotator. Words to annotate are marked by Ask in MISC, with the
    parser's Guess; all other words without a head stay without one. Fill in HEAD and DEPREL of the
    marked words and train on the file: words without a head are summed over.
    """  # fmt: skip
    from arbora.annotation import select as find

    check_one_input(pool)
    if as_json and output == "-":
        raise ArgumentError("--json cannot be combined with --output -: both are standard output.")
    if output not in (None, "-"):
        assert output is not None
        check_writable(output)
        check_not_an_input(output, pool, model)
    if pool == "-" and sys.stdin.isatty():
        raise ArgumentError("there is no pool: name a file, or pipe in sentences.")
    parser = load_model(model, threads)
    found = find(
        parser, pool, budget, by=by, unit="arcs" if arcs else "sentences", diversity=diversity,
        seed=seed, ignore_heads=ignore_heads, format=format, skip_bad=skip_bad,
        on_error=report_skipped,
    )  # fmt: skip
    if not found.requests:
        tell("nothing is selected: every sentence needs more words than the budget has.")
    if output is not None:
        found.write(output)
    if as_json:
        write_json(found.to_dict())
    elif output != "-":
        _report(found)


def _report(found: Selection) -> None:
    console = report_console()
    console.print()
    console.print(
        f"{found.n_words:,} words to annotate in {len(found.requests):,} sentences", style="bold"
    )
    console.print(
        f"of {found.pool_words:,} words without a head in {found.pool_sentences:,} sentences, by "
        f"{found.by}",
        style="dim",
    )
    console.print()
    rows = []
    for request in found.requests[:_SHOWN]:
        text = request.sentence.text
        shown = text if len(text) <= _TEXT else text[: _TEXT - 3] + "..."
        forms = request.sentence.forms
        words = ", ".join(f"{word} {forms[word - 1]}" for word in request.words[:3])
        asked = words if found.unit == "arcs" else f"{len(request.words):,}"
        more = ", ..." if found.unit == "arcs" and len(request.words) > 3 else ""
        name = request.sentence.sent_id or str(request.number + 1)
        rows.append((plain(name), figure(request.gain), plain(asked + more), plain(shown)))
    made = table(["sentence", "gain", "words", "text"], rows)
    for column in made.columns[2:]:
        column.justify = "left"
    console.print(made)
    if len(found.requests) > _SHOWN:
        console.print(f"... and {len(found.requests) - _SHOWN:,} more", style="dim")
