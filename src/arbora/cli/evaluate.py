"""`arbora evaluate`: attachment scores of a parse."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arbora.cli.files import check_one_input
from arbora.cli.output import figure, report_console, table, write_json
from arbora.cli.shared import AsJson, FormatOption
from arbora.cli.terminal import plain, tell
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from arbora.evaluation import (
        AttachmentScores,
        Calibration,
        Confusion,
        ErrorAnalysis,
        Match,
        TextScores,
    )

EXAMPLES = """[bold]Examples[/bold]

arbora evaluate gold.conllu parsed.conllu

arbora evaluate gold.conllu parsed.conllu --by label --by length

arbora evaluate gold.conllu parsed.conllu --confusion label --worst 10

arbora evaluate gold.conllu from_text.conllu --text

arbora parse test.conllu | arbora evaluate test.conllu - --json"""


class RuleName(StrEnum):
    """The rules of `arbora.evaluation`, repeated so that `--help` does not import them."""

    conllx = "conllx"
    conll2018 = "conll2018"
    conll2009 = "conll2009"
    ptb = "ptb"


class Part(StrEnum):
    label = "label"
    distance = "distance"
    length = "length"


class Confused(StrEnum):
    label = "label"
    head = "head"


_SHOWN = 20  # rows of a confusion table; JSON has all
_TEXT = 60  # letters of a sentence in a table


def evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The annotated file.")],
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="The same words, parsed.")],
    rule: Annotated[
        RuleName | None,
        typer.Option(
            metavar="RULE",
            help="Evaluation rule: conllx excludes words that consist of punctuation, conll2018 "
            "counts all words and ignores label subtypes, conll2009 counts all words with full "
            "labels, ptb excludes the Penn Treebank's punctuation tags (default: depends on the "
            "format of GOLD).",
        ),
    ] = None,
    by: Annotated[
        list[Part] | None,
        typer.Option(
            metavar="PART", help="Break down scores by label, distance or length; may be repeated."
        ),
    ] = None,
    confusion: Annotated[
        list[Confused] | None,
        typer.Option(
            metavar="WHAT",
            help="Show what is taken for what: label, or head (the tags of wrong heads and of the "
            "right ones); may be repeated.",
        ),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="List the N sentences with most wrong arcs."),
    ] = None,
    text: Annotated[
        bool,
        typer.Option(
            "--text",
            help="Score a parse of raw text, whose words may differ from gold's, with "
            "all metrics of the CoNLL 2018 shared task.",
        ),
    ] = False,
    format: FormatOption = None,  # noqa: A002  # the option's name
    as_json: AsJson = False,
) -> None:
    """Score a parse against gold: UAS, LAS, complete sentences, roots, non-projective arcs.

    With --text, the words of both are aligned by their characters, and segmentation, tags and
    lemmas are scored, too. If SYSTEM has ArcProb in MISC, the probabilities of arcs are compared
    with the share of right heads.
    """
    from arbora.evaluation import AttachmentScores, analyse, analyse_text

    check_one_input(gold, system)
    if text and (rule is not None or by or format is not None):
        raise ArgumentError("--text cannot be combined with --rule, --by or --format.")
    found = analyse_text(gold, system) if text else analyse(gold, system, rule, format=format)
    scores, tables = found.scores, list(dict.fromkeys(confusion or []))
    if isinstance(scores, AttachmentScores):
        for note in scores.notes:
            tell(f"warning: {note}")
    if as_json:
        write_json(_to_dict(found, tables, worst))
        return
    console = report_console()
    console.print()
    if isinstance(scores, AttachmentScores):
        _report(console, scores, list(dict.fromkeys(by or [])))
    else:
        _report_text(console, scores)
    if found.calibration is not None:
        console.print()
        console.print(_reliability(found.calibration))
        error = 100 * found.calibration.ece
        console.print(f"[dim]expected calibration error[/dim] {error:.2f} %")
    for what in tables:
        console.print()
        console.print(_confusions(_confusion(found, what)))
    if worst is not None:
        console.print()
        console.print(_worst(found, worst))


def _to_dict(found: ErrorAnalysis, tables: list[Confused], worst: int | None) -> dict[str, Any]:
    answer = found.scores.to_dict()
    if tables:
        answer["confusion"] = {str(what): _confusion(found, what).to_dict() for what in tables}
    if worst is not None:
        answer["worst"] = [sentence.to_dict() for sentence in found.worst(worst)]
    if found.calibration is not None:
        answer["calibration"] = found.calibration.to_dict()
    return answer


def _report(console: Console, scores: AttachmentScores, parts: list[Part]) -> None:
    console.print(f"{scores.tokens:,} words in {scores.sentences:,} sentences", style="bold")
    console.print(f"rule {scores.rule}: {scores.rule_description}{scores.left_out()}", style="dim")
    console.print()
    console.print(_summary(scores))
    for part in parts:
        console.print()
        console.print(_breakdown(scores, part))


def _report_text(console: Console, scores: TextScores) -> None:
    rows = [
        (name, *map(figure, (match.precision, match.recall, match.f1)))
        for name, match in scores.matches.items()
    ]
    console.print(f"{scores.aligned:,} words are aligned", style="bold")
    console.print("rules of the CoNLL 2018 shared task", style="dim")
    console.print()
    console.print(table(["", "precision", "recall", "F1"], rows))


def _summary(scores: AttachmentScores) -> Table:
    rows = [
        ("[bold]UAS[/bold]", f"[bold]{figure(scores.uas)}[/bold]", "right heads"),
        ("[bold]LAS[/bold]", f"[bold]{figure(scores.las)}[/bold]", "right heads and labels"),
    ]
    if scores.las_exact != scores.las:
        rows.append(("LAS, full labels", figure(scores.las_exact), "including subtypes"))
    rows += [
        ("Complete", figure(scores.complete), "sentences with all heads right"),
        ("Complete, labelled", figure(scores.complete_labelled), "and all labels"),
        ("Root", figure(scores.root), "sentences with the right root"),
    ]
    arcs = scores.nonprojective
    if arcs.gold or arcs.system:
        rows += [
            ("Non-projective precision", figure(arcs.precision), f"of {arcs.system:,} arcs"),
            ("Non-projective recall", figure(arcs.recall), f"of {arcs.gold:,} arcs"),
        ]
    for name, other in scores.other_counts().items():
        rows += [
            (f"{name}: UAS", figure(other.uas), f"of {other.tokens:,} words"),
            (f"{name}: LAS", figure(other.las), ""),
        ]
    made = table(["", "%", ""], rows)
    made.columns[2].justify = "left"
    made.columns[2].style = "dim"
    return made


def _breakdown(scores: AttachmentScores, part: Part) -> Table:
    if part is Part.label:
        return _matches("By label: right head and label", "label", scores.by_label)
    if part is Part.distance:
        return _matches("By distance: right head", "words apart", scores.by_distance)
    rows = [
        (name, f"{b.sentences:,}", f"{b.tokens:,}", figure(b.uas), figure(b.las))
        for name, b in scores.by_length.items()
        if b.tokens
    ]
    return table(["words", "sentences", "counted", "UAS", "LAS"], rows, "By sentence length")


def _matches(title: str, kind: str, matches: dict[str, Match]) -> Table:
    rows = [
        (plain(name), f"{m.gold:,}", f"{m.system:,}", *map(figure, (m.precision, m.recall, m.f1)))
        for name, m in matches.items()
    ]
    return table([kind, "gold", "system", "precision", "recall", "F1"], rows, title)


def _reliability(found: Calibration) -> Table:
    rows = [
        (
            f"{100 * b.low:.1f} to {100 * b.high:.1f} %", f"{b.count:,}",
            figure(100 * b.confidence), figure(100 * b.accuracy),
        )
        for b in found.bins
    ]  # fmt: skip
    headings = ["probability", "words", "mean", "right heads"]
    return table(headings, rows, "Probabilities of arcs")


def _confusion(found: ErrorAnalysis, what: Confused) -> Confusion:
    return found.labels if what is Confused.label else found.heads


def _confusions(found: Confusion) -> Table:
    rows = [
        (plain(gold), plain(system), f"{count:,}", figure(share))
        for gold, system, count, share in found.rows(_SHOWN)
    ]
    title = "Labels taken for others" if found.what == "label" else "Tags of wrong heads"
    made = table(found.headings, rows, title)
    made.columns[1].justify = "left"
    return made


def _worst(found: ErrorAnalysis, count: int) -> Table:
    from arbora.evaluation.confusion import shortened

    rows = [
        (
            plain(one.name or f"sentence {one.number}"), f"{one.words:,}", f"{one.wrong_heads:,}",
            f"{one.wrong:,}", plain(shortened(one.text, _TEXT)),
        )
        for one in found.worst(count)
    ]  # fmt: skip
    made = table(["", "words", "wrong heads", "with labels", "text"], rows, "Worst sentences")
    made.columns[4].justify = "left"
    return made
