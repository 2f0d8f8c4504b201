"""`arbora explain`: the features behind an arc."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from arbora.cli.output import report_console, table, write_json
from arbora.cli.parse import load_model
from arbora.cli.shared import AsJson, FormatOption, ModelFile
from arbora.cli.terminal import plain
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.data import Sentence
    from arbora.parsers import Explanation

EXAMPLES = """[bold]Examples[/bold]

arbora explain --model english.arbora test.conllu --sentence 3 --word 5

arbora explain --model english.arbora test.conllu --word 5 --head 2 --against 4 --top 30"""


def explain(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="Sentences (default: standard input).")
    ] = "-",
    model: ModelFile = None,
    sentence: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of the sentence in the file, from 1.")
    ] = 1,
    word: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="W", help="Number of the word whose head is explained, from 1."
        ),
    ] = None,
    head: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="H", help="Its head, 0 for the root (default: the parser's choice)."
        ),
    ] = None,
    against: Annotated[
        int | None,
        typer.Option(min=0, metavar="H", help="A rival head (default: the next best)."),
    ] = None,
    top: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Number of features to show, largest contributions first."
        ),
    ] = 15,
    format: FormatOption = None,  # noqa: A002  # the option's name
    as_json: AsJson = False,
) -> None:
    """Explain an arc: each feature's contribution to a head's score, minus a rival's.

    Template names: h head, m modifier, b between; w form, l lemma, p fine tag, c coarse tag, f all
    FEATS, a one feature; -1 and +1 are the neighbours. In higher orders: s is the previous modifier
    (or any other, with factor pairs) and g the head's head; START and END mark the ends of a head's
    modifiers on one side, NONE a side without modifiers.
    """
    if word is None:
        raise ArgumentError("--word is required: the number of the word whose head is explained.")
    parser = load_model(model, 1)
    chosen = _find(file, sentence, format)
    answer = parser.explain(chosen, word, head, against)
    if as_json:
        forms = {"form": chosen.forms[word - 1], "forms": list(chosen.forms)}
        write_json(answer.to_dict() | forms)
        return
    _report(answer, chosen, top)


def _find(path: str, number: int, format: str | None) -> Sentence:  # noqa: A002  # as above
    from arbora.data import read_conllu

    sentences = read_conllu(path, format)
    found = list(islice(sentences, number - 1, number)) if number <= sys.maxsize else []
    if not found:
        raise ArgumentError(f"{path} has no sentence {number}.")
    return found[0]


def _report(answer: Explanation, sentence: Sentence, top: int) -> None:
    def name(word: int) -> str:
        return "the root" if word == 0 else plain(f"“{sentence.forms[word - 1]}” ({word})")

    console = report_console()
    console.print()
    console.print(f"[bold]{name(answer.word)}[/bold] under [bold]{name(answer.head)}[/bold]")
    ours, theirs = (
        f" as {plain(outcome)}" if outcome else ""
        for outcome in (answer.outcome, answer.against_outcome)
    )
    console.print(
        f"[dim]{answer.explains}: {answer.score:.4f}{ours}; under {name(answer.against)} "
        f"{answer.against_score:.4f}{theirs}; the features of one minus those of the other make "
        f"{answer.difference:+.4f}[/dim]"
    )
    console.print()
    shown = answer.contributions[:top]
    rows: list[tuple[str, ...]] = [
        (
            f"{one.value:+.4f}",
            one.template,
            plain(" | ".join(one.atoms)),
            one.variant,
            plain(one.outcome),
        )
        for one in shown
    ]
    rest = answer.contributions[top:]
    if rest:
        others = sum(one.value for one in rest)
        rows.append((f"{others:+.4f}", f"{len(rest):,} more", "", "", ""))
    rows.append((f"{answer.difference:+.4f}", "together", "", "", ""))
    headings = ["adds", "template", "its parts", "direction,\ndistance", "speaks\nfor"]
    if not answer.outcome:
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    made = table(headings, rows)
    made.columns[0].justify, made.columns[0].vertical = "right", "top"
    for column in made.columns[1:]:
        column.justify, column.overflow, column.vertical = "left", "fold", "top"
    console.print(made)
