"""`arbora compare`: significance of a difference, and agreement of two annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from arbora.cli.evaluate import RuleName
from arbora.cli.files import check_one_input
from arbora.cli.output import figure, p_value, report_console, table, write_json
from arbora.cli.shared import AsJson, FormatOption
from arbora.cli.terminal import plain, tell
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from rich.table import Table

    from arbora.evaluation import Agreement, Comparison, Difference, Disagreement

EXAMPLES = """[bold]Examples[/bold]

arbora compare gold.conllu baseline.conllu better.conllu

arbora compare gold.conllu a.conllu b.conllu --permutations 100000 --json

arbora compare anna.conllu ben.conllu --disagreements 20"""


def compare(
    gold: Annotated[
        str,
        typer.Argument(metavar="GOLD", help="The annotated file; or A, of two annotators."),
    ],
    a: Annotated[
        str,
        typer.Argument(metavar="A", help="The same words, parsed by one system; or B, the other."),
    ],
    b: Annotated[
        str | None,
        typer.Argument(metavar="[B]", help="The same words, parsed by another system."),
    ] = None,
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
    disagreements: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="With two files: list the first N words that differ.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Random seed; the same seed gives the same result."),
    ] = 0,
    format: FormatOption = None,  # noqa: A002  # the option's name
    as_json: AsJson = False,
) -> None:
    """Test whether the difference between two parses of the same sentences is significant.

    Reports a paired permutation test, a sign test and a bootstrap interval, all by sentence.

    With two files instead of three, reports how far two annotators agree: heads, labels and tags,
    with Cohen's kappa. By chance, a label or tag is drawn from the annotator's frequencies, and a
    head from the annotator's distances between head and word, as far as the sentence has them.
    """
    from arbora.evaluation import compare as judge

    if b is None:
        check_one_input(gold, a)
        _agreement(gold, a, rule, permutations, seed, format, disagreements, as_json=as_json)
        return
    if disagreements is not None:
        raise ArgumentError("--disagreements is for the agreement of two files: leave out GOLD.")
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


def _agreement(
    a: str, b: str, rule: str | None, samples: int, seed: int, file_format: str | None,
    listed: int | None, *, as_json: bool,
) -> None:  # fmt: skip
    from arbora.evaluation import agreement

    found = agreement(a, b, rule, samples=samples, seed=seed, format=file_format)
    if as_json:
        write_json(found.to_dict(listed or 0))
        return
    console = report_console()
    console.print()
    console.print(f"{found.tokens:,} words in {found.sentences:,} sentences", style="bold")
    missing = f"; {found.unannotated:,} words lack a head in A or B" if found.unannotated else ""
    console.print(f"rule {found.rule}: {found.rule_description}{missing}", style="dim")
    console.print()
    console.print(_agreeing(found))
    console.print()
    differing = len(found.disagreements)
    console.print(f"[dim]{differing:,} words differ in head, label or tag.[/dim]")
    if listed is not None and differing:
        console.print()
        console.print(_differing(found.disagreements[:listed]))


def _agreeing(found: Agreement) -> Table:
    rows = []
    for name, share in (("UAS", found.uas), ("LAS", found.las)):
        low, high = share.interval
        rows.append((
            f"[bold]{name}[/bold]", f"{found.tokens:,}", figure(share.value), "",
            f"[bold]{figure(share.value)}[/bold]", f"{low:.2f} to {high:.2f}",
        ))  # fmt: skip
    for name, one in found.kappas.items():
        between = "" if one.interval is None else "{:.3f} to {:.3f}".format(*one.interval)
        rows.append((
            f"kappa, {name}", f"{one.words:,}", figure(one.observed), figure(one.expected),
            f"[bold]{figure(one.kappa, 3)}[/bold]", between,
        ))  # fmt: skip
    return table(["", "words", "equal, %", "by chance, %", "value", "95 % interval"], rows)


def _differing(words: Sequence[Disagreement]) -> Table:
    rows = []
    for one in words:
        a, b = (
            " ".join(str(side[kind]) for kind in one.kinds if kind in side)
            for side in (one.a, one.b)
        )
        rows.append((
            plain(one.sent_id or str(one.sentence)), plain(f"{one.word} {one.form}"),
            ", ".join(one.kinds), plain(a), plain(b),
        ))  # fmt: skip
    made = table(["sentence", "word", "differs in", "A", "B"], rows)
    for column in made.columns[1:]:
        column.justify = "left"
    return made
