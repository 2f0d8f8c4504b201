"""`arbora convert`: a treebank in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arbora.cli.files import check_writable, report_skipped
from arbora.cli.output import write_json
from arbora.cli.progress import byte_progress
from arbora.cli.shared import AsJson, FormatOption, Quiet, SkipBad
from arbora.cli.terminal import tell
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.data import Conversion

EXAMPLES = """[bold]Examples[/bold]

arbora convert train.conllu train.conll --to conllx

arbora convert roles.conll09 roles.conllu --to conllu --strict

arbora parse test.conllu | arbora convert - - --to conll2009"""


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="The file; - is standard input.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="- is standard output.")],
    to: Annotated[
        str, typer.Option(metavar="NAME", help="conllu, conllx, conll2008 or conll2009.")
    ],
    format: FormatOption = None,  # noqa: A002  # the option's name
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse to lose anything: stop at the first sentence.")
    ] = False,
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Convert a treebank: all that the other format can hold, and a list of what it cannot.

    CoNLL-U holds everything: columns that it lacks go into MISC, and come out of it again.
    """
    if as_json and target == "-":
        raise ArgumentError("--json and the sentences cannot both go to standard output.")
    if target != "-":
        check_writable(target)

    from arbora.data import convert as do

    with byte_progress("converting", _size(source), quiet=quiet) as bar:
        answer = do(
            source, target, to, format=format, skip_bad=skip_bad, on_error=report_skipped,
            strict=strict, on_chunk=lambda chunk: bar.reached(chunk.bytes_read),
        )  # fmt: skip
    if as_json:
        write_json(answer.to_dict())
    elif not quiet:
        tell(_summary(answer))


def _summary(answer: Conversion) -> str:
    from arbora.data import FORMATS

    made = f"{answer.sentences:,} sentences, {answer.words:,} words"
    if not answer.source:
        return f"{made}."
    way = f"{FORMATS[answer.source].title} to {FORMATS[answer.target].title}: {made}"
    if not answer.lost:
        return f"{way}; nothing was lost."
    return f"{way}; lost: {', '.join(f'{name} {count:,}' for name, count in answer.lost.items())}."


def _size(path: str) -> int | None:
    """Bytes of the file, if it is one."""
    try:
        return Path(path).stat().st_size if Path(path).is_file() else None
    except OSError:
        return None
