"""`arbora convert`: a treebank in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arbora.cli.files import check_one_input, check_writable, report_skipped
from arbora.cli.output import write_json
from arbora.cli.progress import byte_progress
from arbora.cli.shared import AsJson, Quiet, SkipBad
from arbora.cli.terminal import tell
from arbora.errors import ArgumentError

if TYPE_CHECKING:
    from arbora.data import Conversion

EXAMPLES = """[bold]Examples[/bold]

arbora convert train.conllu train.conll --to conllx

arbora convert roles.conll09 roles.conllu --to conllu --strict

arbora parse test.conllu | arbora convert - - --to conll2009

arbora convert wsj/22 dev.conll --from ptb --head-rules yamada2003 --to conllx

arbora convert train.conllu train.parquet --to parquet

arbora convert ddt.conll ddt-u.conll --from conllx --to conllx --universal-tags ddt"""


def convert(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="IN", help="Files, or folders of .mrg and .parse files; - is standard input."
        ),
    ],
    target: Annotated[str, typer.Argument(metavar="OUT", help="- is standard output.")],
    to: Annotated[
        str, typer.Option(metavar="NAME", help="conllu, conllx, conll2008, conll2009 or parquet.")
    ],
    format: Annotated[  # noqa: A002  # the option's name
        str | None,
        typer.Option(
            "--format", "--from", metavar="NAME",
            help="Format of IN: conllu, conllx, conll2008, conll2009 or ptb (default: detected).",
        ),
    ] = None,
    head_rules: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="Finds heads in phrases of ptb files (default: yamada2003)."
        ),
    ] = None,
    universal_tags: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Makes universal coarse tags of fine tags: penn, ddt, cast3lb, eus3lb or a file.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse to lose anything: stop at the first sentence.")
    ] = False,
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Convert a treebank: all that the other format can hold, and a list of what it cannot.

    Several files become one. CoNLL-U holds everything: columns that it lacks go into MISC, and come
    out of it again.
    """
    check_one_input(*sources)
    if as_json and target == "-":
        raise ArgumentError("--json and the sentences cannot both go to standard output.")
    if target != "-":
        check_writable(target)

    if to == "parquet":
        _to_parquet(sources, target, format, skip_bad, quiet)
        return

    from arbora.data import convert as do

    with byte_progress("converting", _size(sources), quiet=quiet) as bar:
        answer = do(
            sources, target, to, format=format, skip_bad=skip_bad, on_error=report_skipped,
            strict=strict, on_chunk=lambda chunk: bar.reached(chunk.bytes_read),
            head_rules=head_rules, universal_tags=universal_tags,
        )  # fmt: skip
    if as_json:
        write_json(answer.to_dict())
    elif not quiet:
        tell(_summary(answer))


def _to_parquet(
    sources: list[str],
    target: str,
    format: str | None,  # noqa: A002  # the option's name
    skip_bad: bool,
    quiet: bool,
) -> None:
    """Writes files to a Parquet file, which holds all that CoNLL-U can hold."""
    from arbora.data import read_blocks
    from arbora.data.folders import files_of
    from arbora.data.parquet import write_parquet

    if target == "-":
        raise ArgumentError("Parquet is written to a file, not to standard output.")
    blocks = (
        chunk.block
        for path in files_of(list(sources), format)
        for chunk in read_blocks(path, format, skip_bad, report_skipped)
    )
    count = write_parquet(target, blocks)
    if not quiet:
        tell(f"{count:,} sentences to Parquet; nothing was lost.")


def _summary(answer: Conversion) -> str:
    from arbora.data import FORMATS

    made = f"{answer.sentences:,} sentences, {answer.words:,} words"
    if not answer.source:
        return f"{made}."
    here = " and ".join(FORMATS[name].title for name in answer.source.split(" + "))
    way = f"{here} to {FORMATS[answer.target].title}: {made}"
    if not answer.lost:
        return f"{way}; nothing was lost."
    return f"{way}; lost: {', '.join(f'{name} {count:,}' for name, count in answer.lost.items())}."


def _size(paths: list[str]) -> int | None:
    """Bytes of the files, if all of them are files."""
    try:
        return (
            sum(Path(x).stat().st_size for x in paths)
            if all(Path(x).is_file() for x in paths)
            else None
        )
    except OSError:
        return None
