"""`arbora compare`: significance of the difference between two parses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from arbora.cli.evaluate import RuleName
from arbora.cli.files import check_one_input
from arbora.cli.output import figure, p_value, report_console, table, write_json
from arbora.cli.shared import AsJson, FormatOption
from arbora.cli.terminal import tell

if TYPE_CHECKING:
    from arbora.evaluation import Comparison, Difference

EXAMPLES = """[bold]Examples[/bold]

arbora compare gold.conllu baseline.conllu better.conllu

arbora compare gold.conllu a.conllu b.conllu --permutations 100000 --json"""


def compare(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The annotated file.")],
    a: Annotated[str, typer.Argument(metavar="A", help="The same words, parsed by one system.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The same words, parsed by another.")],
    rule: Annotated[
        RuleName | None,
        typer.Option(
            metavar="RULE",
            help="Evaluation rule: conllx, conll2018, conll2009 or ptb; see arbora evaluate.",
        ),
    ] = None,
    permutations: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Number of permutations and of bootstrap samples."),
    ] = 10_000,
    seed: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Random seed; the same seed gives the same result."),
    ] = 0,
    format: FormatOption = None,  # noqa: A002  # the option's name
    as_json: AsJson = False,
) -> None:
    """Test whether the difference between two parses of the same sentences is significant.

    Reports a paired permutation test, a sign test and a bootstrap interval, all by sentence.
    """
    from arbora.evaluation import compare as judge

    check_one_input(gold, a, b)
    answer = judge(gold, a, b, rule, permutations=permutations, seed=seed, format=format)
    for note in answer.notes:
        tell(f"warning: {note}")
    if as_json:
        write_json(answer.to_dict())
        return
    console = report_console()
    console.print()
    console.print(f"{answer.tokens:,} words in {answer.sentences:,} sentences", style="bold")
    console.print(f"rule {answer.rule}: {answer.rule_description}{answer.left_out()}", style="dim")
    headings = ["", "A", "B", "B - A", "95 % interval", "p, permutation", "p, sign test"]
    rows = [_row("UAS", answer.uas), _row("LAS", answer.las)]
    console.print()
    console.print(table(headings, rows))
    console.print()
    for line in _in_words(answer):
        console.print(line)


def _row(name: str, d: Difference) -> tuple[str, ...]:
    low, high = d.interval
    return (
        f"[bold]{name}[/bold]",
        figure(d.a),
        figure(d.b),
        f"[bold]{d.difference:+.2f}[/bold]",
        f"{low:+.2f} to {high:+.2f}",
        p_value(d.permutation_p),
        p_value(d.sign_p),
    )


def _in_words(answer: Comparison) -> list[str]:
    lines = []
    for name, d in (("UAS", answer.uas), ("LAS", answer.las)):
        lines.append(
            f"[dim]{name}: B is better in {d.b_better:,} sentences, A in {d.a_better:,}, "
            f"equal in {d.ties:,}.[/dim]"
        )
    return lines
