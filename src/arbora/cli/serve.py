"""`arbora serve`: the page and the service."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, Literal

import typer

from arbora.cli.shared import Threads
from arbora.cli.terminal import tell
from arbora.errors import DataWarning

EXAMPLES = """[bold]Examples[/bold]

arbora serve

arbora serve danish.arbora english=en-accurate --port 9000

arbora serve --project treebank.conllu

ARBORA_TOKEN=secret arbora serve --host 0.0.0.0 --allow-host parser.example.org --log json"""

_LIMITS = "Limits"
_ACCESS = "Access"


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="Files, names of installed models, or NAME=FILE; the first is the default "
            "(default: en).",
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A CoNLL-U or CoNLL-X file to correct in the page. Changes are kept in "
            "FILE.journal until they are saved.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address.", show_default=True)] = (
        "127.0.0.1"
    ),
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="N", help="Port; 0 is any.", show_default=True),
    ] = 8000,
    browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    workers: Annotated[
        int,
        typer.Option(
            min=1, max=256, metavar="N", help="Requests worked on at a time.", show_default=True
        ),
    ] = 2,
    threads: Threads = None,
    log: Annotated[
        Literal["off", "text", "json"] | None,
        typer.Option(
            metavar="STYLE",
            help="Log of requests on standard error: off, text or json (default: off on a "
            "terminal, else json).",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", envvar="ARBORA_TOKEN", rich_help_panel=_ACCESS,
            help="Answer only requests with the header Authorization: Bearer TEXT.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", rich_help_panel=_ACCESS,
            help="A name of this server, besides localhost and addresses; may be repeated.",
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN", rich_help_panel=_ACCESS,
            help="Pages that may use the server (CORS), like https://example.org; may be repeated.",
        ),
    ] = None,
    max_body: Annotated[
        int,
        typer.Option(
            min=1000, metavar="BYTES", rich_help_panel=_LIMITS, show_default=True,
            help="Size of a request.",
        ),
    ] = 4_000_000,
    max_words: Annotated[
        int,
        typer.Option(
            min=1, max=100_000, metavar="N", rich_help_panel=_LIMITS, show_default=True,
            help="Length of a sentence.",
        ),
    ] = 1000,
    max_queue: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", rich_help_panel=_LIMITS, show_default=True,
            help="Requests that wait.",
        ),
    ] = 256,
    time_limit: Annotated[
        float,
        typer.Option(
            min=0.1, metavar="SECONDS", rich_help_panel=_LIMITS, show_default=True,
            help="Time to receive a request, and time to answer it.",
        ),
    ] = 30.0,
) -> None:  # fmt: skip
    """Serve a page to look at trees and correct them, a JSON API and UDPipe's REST interface.

    The address is printed when the server answers. It ends at Ctrl+C or SIGTERM, after the requests
    that it has. The API is described in /openapi.json.
    """
    from arbora.server import Limits, Settings, run

    warnings.simplefilter("ignore", DataWarning)  # about requests; a log has no texts
    settings = Settings(
        host=host, port=port, hosts=tuple(name.lower() for name in allow_host or ()),
        origins=tuple(allow_origin or ()), token=token or None, workers=workers, threads=threads,
        log=log or ("off" if sys.stderr.isatty() else "json"), file=project,
        limits=Limits(body=max_body, words=max_words, queue=max_queue, seconds=time_limit),
    )  # fmt: skip
    if host not in ("127.0.0.1", "::1", "localhost") and token is None:
        tell("anybody who reaches this address can use the server: consider --token.")
    run(models or [os.environ.get("ARBORA_MODEL", "")], settings, open_browser=browser)
