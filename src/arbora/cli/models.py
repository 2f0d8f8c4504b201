"""`arbora models`: the models that are found by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbora.cli.files import size_text
from arbora.cli.output import figure, report_console, table, write_json
from arbora.cli.shared import AsJson
from arbora.cli.terminal import plain

if TYPE_CHECKING:
    from arbora.models.model import Model

EXAMPLES = """[bold]Examples[/bold]

arbora models

arbora parse --model en "She saw the man with a telescope."

ARBORA_MODELS=~/models arbora models --json"""


def models(as_json: AsJson = False) -> None:
    """List the installed models: those of the package and of the folders in ARBORA_MODELS.

    Other commands take their names in place of a file. arbora inspect NAME shows a whole card.
    """
    from arbora.models.model_file import read_model
    from arbora.pipeline.installed import installed_models

    found = [
        _as_dict(name, path, read_model(path)) for name, path in sorted(installed_models().items())
    ]
    if as_json:
        write_json({"models": found})
        return
    console = report_console()
    if not found:
        console.print("No models are installed.")
        return
    headings = ["model", "size", "stages", "order", "dev UAS", "dev LAS", "data", "licence"]
    rows = [
        [
            plain(one["name"]), size_text(one["bytes"]), ", ".join(one["stages"]), one["order"],
            figure(one["uas"]), figure(one["las"]), plain(one["data"] or "-"),
            plain(one["licence"] or "-"),
        ]
        for one in found
    ]  # fmt: skip
    console.print(table(headings, rows))


def _as_dict(name: str, path: Path, model: Model) -> dict[str, Any]:
    card = model.card
    dev = card.get("dev") or {}
    return {
        "name": name,
        "file": str(path),
        "bytes": path.stat().st_size,
        "stages": [*model.stages, "parser"],
        "order": model.options.keywords()["order"],
        "uas": dev.get("uas"),
        "las": dev.get("las"),
        "data": card.get("data") or (card.get("files") or {}).get("train"),
        "licence": card.get("licence"),
        "date": card.get("date"),
    }
