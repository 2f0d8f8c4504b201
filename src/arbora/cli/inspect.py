"""`arbora inspect`: what is in a model file?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arbora.cli.files import size_text
from arbora.cli.output import describe_pruning, figure, report_console, table, write_json
from arbora.cli.shared import AsJson
from arbora.cli.terminal import plain, visible
from arbora.cli.watching import number_text

if TYPE_CHECKING:
    from arbora.parsers.model import Model

EXAMPLES = """[bold]Examples[/bold]

arbora inspect english.arbora

arbora inspect english.arbora --json"""


def inspect(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")],
    as_json: AsJson = False,
) -> None:
    """Describe a model: its data, scores on dev, settings, columns, labels and sizes.

    Features are hashed and have no names in the file: arbora explain names those of an arc.
    """
    from arbora.parsers.model_file import read_model

    found = read_model(model)
    size = Path(model).stat().st_size
    if as_json:
        write_json(_as_dict(found, model, size))
        return
    _report(found, model, size)


def _as_dict(model: Model, path: str, size: int) -> dict[str, Any]:
    from dataclasses import asdict

    from arbora.parsers.model_file import FORMAT_VERSION

    return {
        "file": path,
        "bytes": size,
        "format_version": FORMAT_VERSION,
        "settings": model.settings.to_dict(),
        "features": asdict(model.features),
        "labels": list(model.labels),
        "root": model.root,
        "decode_trees": model.decode_trees,
        "temperature": model.temperature,
        "weights": _counts(model.weights),
        "label_weights": _counts(model.label_weights),
        "word_clusters": 0 if model.word_clusters is None else len(model.word_clusters),
        "card": model.card,
    }


def _counts(weights: Any) -> dict[str, int]:
    import numpy as np

    return {"all": len(weights), "non_zero": int(np.count_nonzero(weights))}


def _report(model: Model, path: str, size: int) -> None:
    values = _as_dict(model, path, size)
    card, settings = model.card, model.settings
    rows: list[tuple[str, str]] = []
    data, files = card.get("trained_on"), card.get("files") or {}
    if data:
        name = f" ({files['train']})" if files.get("train") else ""
        rows.append(("data", f"{data['words']:,} words in {data['sentences']:,} sentences{name}"))
    if card.get("licence"):
        rows.append(("licence", card["licence"]))
    dev = card.get("dev")
    if dev:
        where = files.get("dev") or "held-out or given sentences"
        las = "" if dev["las"] is None else f", LAS {figure(dev['las'])}"
        rows.append(("dev", f"UAS {figure(dev['uas'])}{las} ({where}, rule {dev['rule']})"))
    if "best_pass" in card:
        rows.append(("passes", f"{card['passes']}, the best was pass {card['best_pass']}"))
    if "date" in card:
        rows.append(("trained", card["date"]))
    columns = [name for name in ("lemma", "upos", "xpos", "feats") if getattr(model.features, name)]
    share = card.get("multi_root_sentences")
    several = "" if share is None else f" ({100 * share:.1f} % of the sentences have several)"
    rows += [
        ("columns", ", ".join(["form", *columns])),
        ("root", model.root + several),
        ("decoding", f"{settings.decode or 'map'} over {model.decode_trees} trees"),
        ("temperature", number_text(model.temperature)),
        ("weights", _counts_text(values["weights"])),
    ]
    if len(model.label_weights):
        rows.append(("of labels", _counts_text(values["label_weights"])))
    if (pruning := describe_pruning(card)) is not None:
        rows.append(("pruning", pruning))
    if model.word_clusters is not None:
        rows.append(("clusters", f"{len(model.word_clusters):,} words in clusters"))
    rows.append(("labels", f"{len(model.labels)}: {', '.join(model.labels)}"))
    console = report_console()
    console.print()
    version = f"format {values['format_version']}"
    console.print(f"[bold]{plain(Path(path).name)}[/bold] [dim]{size_text(size)}, {version}[/dim]")
    console.print()
    _print_pairs(console, rows)
    console.print()
    console.print(_settings_table(settings.to_dict()))


def _print_pairs(console: Any, rows: list[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, text in rows:
        grid.add_row(Text(name, style="dim"), Text(visible(text)))
    console.print(grid)


def _settings_table(settings: dict[str, Any]) -> Any:
    given = {name: value for name, value in settings.items() if value is not None}
    rows = [(name.replace("_", "-"), plain(str(value))) for name, value in given.items()]
    return table(["setting", "value"], rows)


def _counts_text(counts: dict[str, int]) -> str:
    share = 100 * counts["non_zero"] / max(1, counts["all"])
    return f"{counts['all']:,}, of which {counts['non_zero']:,} are not zero ({share:.1f} %)"
