"""`arbora models`: the models that are found by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbora.cli.files import size_text
from arbora.cli.output import figure, report_console, write_json
from arbora.cli.shared import AsJson
from arbora.cli.terminal import plain
from arbora.errors import ArboraError, ModelError

if TYPE_CHECKING:
    from arbora.models.model import Model

EXAMPLES = """[bold]Examples[/bold]

arbora models

arbora parse --model en "She saw the man with a telescope."

ARBORA_MODELS=~/models arbora models --json"""


def models(as_json: AsJson = False) -> None:
    """List the installed models: those of the package and of the folders in ARBORA_MODELS.

    Other commands take their names in place of a file. arbora inspect NAME shows a whole card.
    Files that cannot be read are reported after the others, with exit status 2.
    """
    from arbora.models.model_file import read_model
    from arbora.pipeline.installed import installed_models

    found, unreadable = [], []
    for name, path in sorted(installed_models().items()):
        try:
            found.append(_as_dict(name, path, read_model(path)))
        except ArboraError as error:
            unreadable.append(str(error).removesuffix("."))
    if as_json:
        write_json({"models": found})
    elif found:
        _list(found)
    elif not unreadable:
        report_console().print("No models are installed.")
    if unreadable:
        raise ModelError(f"{'; '.join(unreadable)}.")


def _list(found: list[dict[str, Any]]) -> None:
    """Three lines for each model."""
    console = report_console()
    width = max(len(one["name"]) for one in found)
    for one in found:
        scores = f"UAS {figure(one['uas'])}, LAS {figure(one['las'])} on dev"
        if one["uas"] is None:
            scores = "no dev scores"
        source = ", ".join(filter(None, (one["data"], one["licence"]))) or "unknown data"
        lines = [
            f"{size_text(one['bytes'])}, {one['order']} order, {scores}",
            ", ".join(one["stages"]),
            plain(source),
        ]
        for name, line in zip((plain(one["name"]), "", ""), lines, strict=True):
            console.print(f"[bold]{name:<{width}}[/bold]  {line}", highlight=False)


def _as_dict(name: str, path: Path, model: Model) -> dict[str, Any]:
    from arbora.pipeline.pipeline import STAGES

    card = model.card
    dev = card.get("dev") or {}
    return {
        "name": name,
        "file": str(path),
        "bytes": path.stat().st_size,
        "stages": [*(name for name in STAGES if name in model.stages), "parser"],
        "order": model.options.keywords()["order"],
        "uas": dev.get("uas"),
        "las": dev.get("las"),
        "data": card.get("data") or (card.get("files") or {}).get("train"),
        "licence": card.get("licence"),
        "date": card.get("date"),
    }
