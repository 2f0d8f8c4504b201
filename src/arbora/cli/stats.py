"""`arbora stats`: what is in a treebank?"""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = """[bold]Examples[/bold]

arbora stats train.conllu

arbora stats UD_Danish UD_Swedish --json"""


def stats(
    treebanks: Annotated[
        list[str], typer.Argument(metavar="TREEBANK...", help="Files or folders.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Describe treebanks."""
    raise NotImplementedError((treebanks, as_json))
